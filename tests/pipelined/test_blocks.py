"""Our stand-ins for poptorch's blocks: the same names, signatures, errors and behaviour on a CPU."""

from __future__ import annotations

import inspect
from collections import namedtuple
from typing import Any

import pytest
import torch
from torch import nn

from pipelined import (
    BeginBlock,
    Block,
    BlockError,
    BlockFunction,
    IPUConfig,
    PipelineError,
    identity_loss,
    recomputation_checkpoint,
    recomputationCheckpoint,
    removeBlocks,
)
from pipelined.blocks import BlockMark, block_of, blocks
from tests.pipelined.sdk import poptorch

NAMES = "BeginBlock", "Block", "BlockFunction", "identity_loss", "recomputationCheckpoint", "removeBlocks"


@pytest.mark.parametrize("name", NAMES)
def test_the_signatures_are_poptorchs(name: str) -> None:
    ours, theirs = (getattr(module, name) for module in (__import__("pipelined"), poptorch))

    assert list(inspect.signature(ours).parameters) == list(inspect.signature(theirs).parameters)


def test_a_block_marks_its_module_and_changes_nothing() -> None:
    linear = nn.Linear(2, 2)
    x = torch.ones(1, 2)
    expected = linear(x)

    assert BeginBlock(linear, "Head", ipu_id=1) is linear
    assert block_of(linear) == BlockMark("", "Head", 1)
    assert torch.equal(linear(x), expected)
    assert [repr(hook) for hook in linear._forward_pre_hooks.values()] == ["BeginBlock(user_id=Head, ipu_id=1)"]


def test_blocks_are_found_and_removed_wherever_they_are() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.ReLU()))
    BeginBlock(model[0], "A", 0)
    BeginBlock(model[1][0], "B", 1)

    found = blocks(model)
    removeBlocks(model)

    assert (found, blocks(model)) == ((BlockMark("0", "A", 0), BlockMark("1.0", "B", 1)), ())


def test_a_function_becomes_a_module_that_begins_a_block() -> None:
    doubled = BeginBlock(lambda x: x * 2, "Double", ipu_id=0)

    assert (doubled(3), block_of(doubled)) == (6, BlockMark("", "Double", 0))


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (lambda: BeginBlock(3, "A"), "3 is not an instance of torch.nn.Module or function."),
        (
            lambda: BeginBlock(BeginBlock(nn.ReLU(), "A", 0), "B", 1),
            (
                "module has already been assigned to a block: ReLU has BeginBlock(user_id=A, ipu_id=0) and cannot"
                " begin 'B' on IPU 1; mark each module once; call deparallelize() before placing it anew"
            ),
        ),
    ],
)
def test_what_cannot_begin_a_block_is_refused(attempt: Any, message: str) -> None:
    with pytest.raises(BlockError) as raised:
        attempt()

    assert str(raised.value) == message


def test_contexts_and_functions_run_as_they_are() -> None:
    @BlockFunction("Double", ipu_id=1)
    def double(x: int) -> int:
        return x * 2

    with Block("Four", ipu_id=0):
        Block.useAutoId()
        assert double(2) == 4
    assert double.__name__ == "double"


def test_checkpoints_return_their_tensors_in_the_container_they_came_in() -> None:
    one, two = torch.ones(1), torch.zeros(1)

    assert recomputationCheckpoint(one) is one
    assert recomputationCheckpoint(one, two) == (one, two)
    assert recomputationCheckpoint([one, two]) == [one, two]
    with pytest.raises(ValueError, match="All inputs must be tensors"):
        recomputationCheckpoint(one, 2)


Pair = namedtuple("Pair", "first second")  # noqa: PYI024 - the plain kind is meant


@pytest.mark.parametrize(
    "output", [torch.ones(1), (torch.ones(1), None), [torch.ones(1)], {"a": torch.ones(1)}, Pair(torch.ones(1), 3), 5]
)
def test_a_recomputation_checkpoint_passes_every_output_on(output: Any) -> None:
    class Gives(nn.Module):
        def forward(self) -> Any:
            return output

    module = Gives()
    handle = recomputation_checkpoint(module)

    assert (type(module()), module()) == (type(output), output)
    handle.remove()
    assert not module._forward_hooks


def test_a_loss_is_reduced_as_asked() -> None:
    x = torch.tensor([1.0, 3.0])

    assert [identity_loss(x, how).tolist() for how in ("sum", "mean", "none")] == [4.0, 2.0, [1.0, 3.0]]
    with pytest.raises(ValueError, match="Unsupported reduction type 'max', choose one of sum, mean, none"):
        identity_loss(x, "max")


def test_options_need_the_sdk() -> None:
    with pytest.raises(PipelineError) as raised:
        IPUConfig().to_options()

    assert str(raised.value) == (
        "poptorch is not installed; it comes with the Poplar SDK: install the wheel in its folder, not a package of"
        " that name on PyPI"
    )
