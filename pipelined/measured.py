"""A stage of torch's whose backward passes, messages and waits are counted where something records them."""

from __future__ import annotations

from typing import Any

from torch.distributed.pipelining import PipelineStage

from pipelined.spans import sent, span


class MeasuredStage(PipelineStage):
    """A `PipelineStage` that says what it does."""

    def backward_one_chunk(self, *args: Any, **kwargs: Any) -> Any:
        with span("backward"):
            return super().backward_one_chunk(*args, **kwargs)

    def backward_weight_one_chunk(self, *args: Any, **kwargs: Any) -> Any:
        with span("backward"):
            return super().backward_weight_one_chunk(*args, **kwargs)

    def get_fwd_send_ops(self, fwd_chunk_id: int) -> Any:
        return self._counted(super().get_fwd_send_ops(fwd_chunk_id), self.stage_index + 1)

    def get_bwd_send_ops(self, bwd_chunk_id: int) -> Any:
        return self._counted(super().get_bwd_send_ops(bwd_chunk_id), self.stage_index - 1)

    def _counted(self, operations: Any, target: int) -> Any:
        sent(self.stage_index, target, sum(one.tensor.numel() * one.tensor.element_size() for one in operations))
        return operations
