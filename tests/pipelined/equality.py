"""Compare a model with its pipelined version: what it computes, and what `deparallelize` leaves behind."""

from __future__ import annotations

from typing import Any

from pipelined import IPUConfig, to_pipelined
from pipelined.blocks import blocks
from tests.pipelined.outcomes import full_inputs, outcome, same
from tests.pipelined.structure import structure


def differences(model: Any, config: IPUConfig, *, force: bool = False, within: float = 0.0) -> list[str]:
    """What is not as it should be, in words; nothing where all is well.

    The batch is padded, has labels, and asks for all hidden states, as far as the model takes them. Where a placement
    was found by looking at one batch, a block may not begin with another.
    """
    inputs = full_inputs(model)
    expected = outcome(model, inputs)
    pipelined = to_pipelined(model, config, force=force)
    before = structure(pipelined)
    found = ["weights are not shared"] if before["tensors"] != structure(model)["tensors"] else []

    pipelined.parallelize()
    silent, computed = _run_noting_blocks(pipelined, inputs)
    if not same(computed, expected, within=within):
        found.append("outcome while parallelized")
    if structure(pipelined)["tensors"] != before["tensors"]:
        found.append("state dict while parallelized")
    found += [] if force else [f"block {name} never begins" for name in silent]

    pipelined.deparallelize()
    if not same(outcome(pipelined, inputs), expected):
        found.append("outcome after deparallelize")
    after = structure(pipelined)
    return found + [f"{part} after deparallelize" for part in before if after[part] != before[part]]


def _run_noting_blocks(model: Any, inputs: dict[str, Any]) -> tuple[list[str], dict[str, Any]]:
    """The blocks that no call began, and the outcome."""
    names = [mark.module for mark in blocks(model)]
    begun: list[str] = []
    handles = [
        model.get_submodule(name).register_forward_pre_hook(lambda *_, name=name: begun.append(name)) for name in names
    ]
    computed = outcome(model, inputs)
    for handle in handles:
        handle.remove()
    return [name for name in names if name not in begun], computed
