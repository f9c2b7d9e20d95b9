"""The state of an optimizer goes by names of parameters, and fits optimizers that group them the same way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn

from pipelined import PipelineError
from pipelined.optimizer_state import OptimizerState, arranged, state_of


def trained(*, reverse: bool = False) -> tuple[torch.optim.Optimizer, dict[nn.Parameter, str]]:
    """An optimizer of two groups after a step, with its parameters in either order."""
    torch.manual_seed(0)
    first, second, third = (nn.Parameter(torch.randn(size)) for size in (2, 3, 4))
    groups: list[dict[str, Any]] = [{"params": [first, second], "lr": 0.1}, {"params": [third], "lr": 0.2}]
    optimizer = torch.optim.AdamW(
        [{**one, "params": one["params"][::-1]} for one in groups[::-1]] if reverse else groups
    )
    sum((one**2).sum() for one in (first, second, third)).backward()
    optimizer.step()
    return optimizer, {first: "first", second: "second", third: "third"}


def test_the_state_is_the_same_whatever_the_order_of_parameters() -> None:
    one, other = state_of(*trained()), state_of(*trained(reverse=True))

    assert one.tensors.keys() == other.tensors.keys()
    assert all(torch.equal(tensor, other.tensors[key]) for key, tensor in one.tensors.items())
    assert (one.options, one.others) == (other.options, other.others)
    assert one.options["third"]["lr"] == 0.2


def test_an_optimizer_that_takes_it_over_is_in_the_same_state() -> None:
    expected = state_of(*trained())
    optimizer, names = trained(reverse=True)
    optimizer.state.clear()
    optimizer.param_groups[0]["lr"] = 7.0
    optimizer.load_state_dict(arranged(optimizer, names, expected))
    found = state_of(optimizer, names)

    assert all(torch.equal(tensor, found.tensors[key]) for key, tensor in expected.tensors.items())
    assert found.options == expected.options


def test_other_parameters_and_other_groups_are_refused() -> None:
    optimizer, names = trained()
    state = state_of(optimizer, names)
    fewer = replace(state, options={name: one for name, one in state.options.items() if name != "third"})

    assert _refusal(optimizer, names, fewer) == (
        "the checkpoint's optimizer did not have third; train the same parameters as before"
    )
    apart = replace(state, options={**state.options, "second": {"lr": 3.0}})
    assert _refusal(optimizer, names, apart) == (
        "the checkpoint's optimizer had first and second in two groups, and this one has them in one;"
        " group parameters by name, the same way as before"
    )


def _refusal(optimizer: torch.optim.Optimizer, names: dict[nn.Parameter, str], state: OptimizerState) -> str:
    with pytest.raises(PipelineError) as caught:
        arranged(optimizer, names, state)
    return str(caught.value)
