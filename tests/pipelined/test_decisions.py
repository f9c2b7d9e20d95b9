"""Which inputs a dry run is good for besides its own, where code outside blocks looks at what inputs hold."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from pipelined import BeginBlock
from pipelined.dataflow import dataflow


class Deciding(nn.Module):
    """Two layers, and a way round the first that a mask decides on; the number that is read last decides nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = (BeginBlock(nn.Linear(3, 3), str(ipu), ipu_id=ipu) for ipu in range(2))

    def forward(self, values: torch.Tensor, mask: torch.Tensor) -> Any:
        hidden = self.first(values)
        masked = mask.clone()
        if mask.logical_not().all():
            hidden = hidden + values
        if masked.fill_(1).all():
            hidden = self.second(hidden)
        return hidden / int(mask.sum())


def test_a_dry_run_is_good_for_inputs_that_decide_alike() -> None:
    values, none, one, two = torch.ones(2, 3), torch.zeros(2), torch.tensor([0, 1.0]), torch.ones(2)
    model = Deciding()
    for empty in (True, False):
        decided = dataflow(model, {"values": values, "mask": one}, empty=empty).decided

        assert decided is not None
        assert [len(decided.found), decided.found[1][0]] == [2, None]
        known = type(decided)(decided.found[:1])
        assert [known.hold({"values": values, "mask": mask}) for mask in (none, one, two)] == [False, True, True]
        # What was written into is not computed again, so that nothing is known of other inputs.
        assert not decided.hold({"values": values, "mask": one})
