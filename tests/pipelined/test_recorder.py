"""What a dry run takes notice of: writes, side doors, decisions, and operations that need content."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from pipelined import BeginBlock
from pipelined.dataflow import Dataflow, Slot, Value, dataflow

Forward = Callable[["Two", torch.Tensor], torch.Tensor]


class Two(nn.Module):
    """Two blocks on two IPUs; what is between them is what a test is about."""

    def __init__(self, forward: Forward) -> None:
        super().__init__()
        self.first, self.second = BeginBlock(Noted(), "first", ipu_id=0), BeginBlock(Noted(), "second", ipu_id=1)
        self.register_buffer("count", torch.zeros(()))
        self.scale = nn.Parameter(torch.ones(4))
        self.own_forward = forward

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.own_forward(self, x)


class Noted(nn.Module):
    """A layer that leaves what it computed inside in an attribute, and may write into what it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.writes = False
        self.inner: Any = None
        self.more: Any = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.writes:
            x.mul_(2)
        self.inner = x + 1
        out: torch.Tensor = self.linear(self.inner)
        return out if self.more is None else out + self.more


def flow(forward: Forward) -> Dataflow:
    """The flow on empty tensors; it is the same on real ones."""
    found, same = (dataflow(Two(forward), {"x": torch.ones(2, 4)}, empty=empty) for empty in (True, False))
    assert (found, found.obstacles, found.glue_parameters) == (same, same.obstacles, same.glue_parameters)
    return found


def writes_between(model: Two, x: torch.Tensor) -> torch.Tensor:
    h = model.first(x)
    h += 1
    return model.second(h)


def writes_through_a_view(model: Two, x: torch.Tensor) -> torch.Tensor:
    h = model.first(x)
    h[:, 0] = model.first(x)[:, 1]
    return model.second(h)


def masks(model: Two, x: torch.Tensor) -> torch.Tensor:
    h = model.first(x)
    h[x > 0] = 0
    return model.second(h)


@pytest.mark.parametrize(
    ("forward", "written", "consumed"),
    [
        (writes_between, [True, False], {0}),
        (masks, [True, False], {0}),
        (writes_through_a_view, [True, False, False], {0, 1}),
    ],
)
def test_writes_of_code_between_blocks_are_noted_and_carried(
    forward: Forward, written: list[bool], consumed: set[int]
) -> None:
    found = flow(forward)

    assert [value.written for value in found.values] == written
    assert (set(found.calls[-1].consumes), len(found.obstacles)) == (consumed, 0)


def block_writes_and_others_read(model: Two, x: torch.Tensor) -> torch.Tensor:
    h = model.first(x)
    model.second.writes = True
    return model.second(h) + h


def block_writes_and_nobody_reads(model: Two, x: torch.Tensor) -> torch.Tensor:
    model.second.writes = True
    return model.second(model.first(x) + 0)


def side_door(model: Two, x: torch.Tensor) -> torch.Tensor:
    return model.second(model.first(x)) + model.first.inner


def side_door_to_a_block(model: Two, x: torch.Tensor) -> torch.Tensor:
    h = model.first(x)
    model.second.more = model.first.inner
    return model.second(h)


def side_door_to_the_output(model: Two, x: torch.Tensor) -> Any:
    return {"logits": model.second(model.first(x)), "attentions": (model.first.inner,)}


def kept_by_a_hook(model: Two, x: torch.Tensor) -> Any:
    kept: list[Any] = []
    handle = model.first.linear.register_forward_hook(lambda _, args, output: kept.extend((args[0], output)))
    h = model.second(torch.relu(model.first(x)))
    handle.remove()
    return {"logits": h, "kept": kept[1]}


def kept_from_before(model: Two, x: torch.Tensor) -> Any:
    kept: list[Any] = []
    handle = model.first.linear.register_forward_hook(lambda _, args, output: kept.extend(args))
    h = model.second(model.first(x))
    handle.remove()
    return {"logits": h, "kept": kept[0]}


def decides_between(model: Two, x: torch.Tensor) -> torch.Tensor:
    h = model.first(x)
    return model.second(h if h.sum() > 0 else -h)


def decides_at_the_end(model: Two, x: torch.Tensor) -> torch.Tensor:
    h = model.second(model.first(x))
    return h if h.sum() > 0 else -h


def decides_by_the_inputs(model: Two, x: torch.Tensor) -> torch.Tensor:
    h = model.first(x)
    return model.second(h if x.sum() > 0 else -h)


def counts(model: Two, x: torch.Tensor) -> torch.Tensor:
    model.count += 1
    return model.second(model.first(x))


@pytest.mark.parametrize(
    ("forward", "obstacles"),
    [
        (
            block_writes_and_others_read,
            ("code outside blocks reads a tensor that second writes into and does not return",),
        ),
        (block_writes_and_nobody_reads, ()),
        (side_door, ("code outside blocks reads a tensor that first makes inside and does not return",)),
        (side_door_to_a_block, ("second reads a tensor that first makes inside and does not return",)),
        (
            side_door_to_the_output,
            ("the output has attentions[0] that first makes inside and does not return",),
        ),
        (kept_by_a_hook, ()),
        (kept_from_before, ("the output has kept that first makes inside and does not return",)),
        (decides_between, ("code outside blocks decides by what a block returned",)),
        (decides_at_the_end, ()),
        (decides_by_the_inputs, ()),
        (counts, ("code outside blocks writes the buffer count",)),
    ],
)
def test_what_no_cut_could_get_right_is_said(forward: Forward, obstacles: tuple[str, ...]) -> None:
    assert flow(forward).obstacles == obstacles


class Squared(nn.Module):
    """A layer that returns less than what it computes: its last part's output is not its own."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        once, twice = self.linear(x), self.linear(x + 1)
        return torch.sum(once * twice, dim=-1, keepdim=True).expand(-1, 4)


def keeps_what_is_called_twice(model: Two, x: torch.Tensor) -> Any:
    kept: list[Any] = []
    handle = model.first.linear.register_forward_hook(lambda _, args, output: kept.append(output))
    h = model.second(model.first(x))
    handle.remove()
    return {"logits": h, "kept": kept[1]}


def test_what_a_part_returns_to_a_hook_is_carried_if_somebody_reads_it() -> None:
    model = Two(keeps_what_is_called_twice)
    model.first = BeginBlock(Squared(), "first", ipu_id=0)
    found = dataflow(model, {"x": torch.ones(2, 4)}, empty=True)

    [side] = found.calls[0].sides
    assert (side.part, side.turn, side.given, side.returned.leaves) == ("first.linear", 1, (None,), (Slot(2),))
    assert (found.values[2], found.calls[0].makes) == (Value(0, (2, 4), "float32", 32), (0, 2))
    assert (set(found.outputs), len(found.obstacles)) == ({1, 2}, 0)


def left_behind(model: Two, x: torch.Tensor) -> torch.Tensor:
    h = model.first(x)
    model.second.more = h * model.scale
    return model.second(x)


def test_a_block_consumes_what_it_was_left_and_parameters_between_blocks_are_known() -> None:
    found = flow(left_behind)

    assert (found.calls[1].consumes, found.glue_parameters) == (frozenset({0}), frozenset({"scale"}))


class Cast(nn.Module):
    """A layer that casts its own weights in its forward."""

    def __init__(self) -> None:
        super().__init__()
        self.parts = nn.ModuleList([nn.Linear(4, 4, dtype=torch.bfloat16)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.parts = self.parts.to(x.dtype)
        out: torch.Tensor = self.parts[0](x)
        return out


def test_a_block_may_cast_its_weights_where_it_has_none() -> None:
    model = Two(writes_between)
    model.first = BeginBlock(Cast().to("meta"), "first", ipu_id=0)
    weight = model.first.parts[0].weight

    found = dataflow(model, {"x": torch.ones(2, 4)}, empty=True)

    assert [value.dtype for value in found.values] == ["float32", "float32"]
    assert model.first.parts[0].weight is weight
    assert "_apply" not in vars(model.first.parts[0])


def test_operations_whose_result_depends_on_content_run_on_zeros() -> None:
    def counted(model: Two, x: torch.Tensor) -> torch.Tensor:
        h = model.second(model.first(x))
        return h[h.nonzero()[:, 0]]

    found = dataflow(Two(counted), {"x": torch.ones(2, 4)}, empty=True)

    assert (len(found.values), set(found.outputs), len(found.obstacles)) == (2, {1}, 0)
