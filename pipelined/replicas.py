"""An `accelerate.Accelerator` for pipelines: what is one process to it is a replica, with all of its IPUs.

The IPUs of a replica get the same batches, replicas get different ones, and nothing is wrapped for data parallelism:
a session adds gradients up over replicas itself.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from accelerate import Accelerator
from torch.utils._pytree import tree_leaves, tree_map

from pipelined.ahead import Ahead
from pipelined.errors import PipelineError
from pipelined.routed import Routed
from pipelined.session import Session


class ReplicaAccelerator(Accelerator):
    """What a trainer calls an accelerator; `spread` says over which session before anything is prepared."""

    session: Session
    routed: Routed
    ahead: Ahead | None = None
    """The loader that is ahead of what accelerate knows of, while it is."""

    @classmethod
    def of(cls, accelerator: Accelerator) -> ReplicaAccelerator:
        """The same accelerator as one of this class."""
        accelerator.__class__ = cls
        made: ReplicaAccelerator = accelerator
        return made

    def spread(self, session: Session, routed: Routed) -> None:
        """Count the replicas of this session, and prepare the model behind this forward."""
        self.session, self.routed = session, routed

    @property
    def num_processes(self) -> int:
        return self.session.ranks.replicas

    @property
    def process_index(self) -> int:
        return self.session.ranks.replica

    @property
    def dispatch_batches(self) -> bool:
        # Every process reads for itself; else one would read for all, and give each another batch.
        return False

    def prepare_model(self, model: Any, device_placement: Any = None, evaluation_mode: Any = None) -> Any:
        """The model itself, whose own forward computes in the precision that was asked for."""
        with self.routed.aside():
            return super().prepare_model(model, device_placement=False, evaluation_mode=True)

    def clip_grad_norm_(self, parameters: Any, max_norm: float, norm_type: float = 2.0) -> torch.Tensor:
        """Scale the gradients of the whole model, whoever holds them; return their 2-norm, in all processes."""
        if norm_type != 2:
            raise PipelineError(f"gradients are clipped by their 2-norm, not by the {norm_type}-norm")
        return self.session.clip(float(max_norm))

    def gather(self, tensor: Any) -> Any:
        """The tensors of all replicas one after another, in every process; there is one more dimension to a scalar."""
        return tree_map(self._gathered, tensor)

    def gather_for_metrics(self, input_data: Any, use_gather_object: bool = False) -> Any:  # noqa: FBT001, FBT002
        """As `gather`, without what the last batch was filled up with; PipelineError for what is no tensor."""
        other = next((leaf for leaf in tree_leaves(input_data) if not isinstance(leaf, torch.Tensor)), None)
        if use_gather_object or other is not None:
            raise PipelineError(
                f"only tensors are gathered from replicas, not a {type(other).__name__}",
                hint="name the outputs that are no tensors in ignore_keys",
            )
        gathered, loader = self.gather(input_data), self.ahead or self.gradient_state
        if loader.end_of_dataloader and loader.remainder > 0:
            return tree_map(lambda tensor: tensor[: loader.remainder], gathered)
        return gathered

    def _gathered(self, tensor: torch.Tensor) -> torch.Tensor:
        own = tensor[None] if tensor.dim() == 0 else tensor.contiguous()
        if self.num_processes == 1:
            return own
        parts = [torch.empty_like(own) for _ in range(self.num_processes)]
        dist.all_gather(parts, own, group=self.session.ranks.of_replicas())
        return torch.cat(parts)
