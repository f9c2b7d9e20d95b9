"""The gate: a pipelined model computes what the original computes, parallelized and after `deparallelize`.

A class that gets a placement joins by itself. Others, whose placement is found by looking, are sampled here;
`nox -s coverage_of_models` goes through all of them.
"""

from __future__ import annotations

from typing import Any

import pytest

from pipelined import IPUConfig, to_pipelined
from pipelined.blocks import blocks
from tests.pipelined.families import original, registered_classes
from tests.pipelined.outcomes import full_inputs, outcome, same
from tests.pipelined.structure import structure
from tests.pipelined.tiny import tiny_model


@pytest.mark.parametrize("ipus", [1, 2, 4])
@pytest.mark.parametrize("name", registered_classes())
def test_a_registered_class_computes_what_the_original_computes(name: str, ipus: int) -> None:
    check_equal(tiny_model(original(name)), IPUConfig(ipus_per_replica=ipus))


def check_equal(model: Any, config: IPUConfig, *, force: bool = False) -> None:
    """The outcome is the same bit for bit, every block begins, and the structure comes back."""
    inputs = full_inputs(model)
    expected = outcome(model, inputs)
    pipelined = to_pipelined(model, config, force=force)
    before = structure(pipelined)
    assert before["tensors"] == structure(model)["tensors"]

    pipelined.parallelize()
    begun: list[str] = []
    handles = [
        pipelined.get_submodule(mark.module).register_forward_pre_hook(lambda *_, name=mark.module: begun.append(name))
        for mark in blocks(pipelined)
    ]
    assert same(outcome(pipelined, inputs), expected)
    assert pipelined.state_dict().keys() == before["tensors"].keys()
    assert {mark.module for mark in blocks(pipelined)} == set(begun)
    for handle in handles:
        handle.remove()

    pipelined.deparallelize()
    assert same(outcome(pipelined, inputs), expected)
    assert structure(pipelined) == before
