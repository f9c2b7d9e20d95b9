"""Layers shared by what they cost."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest
import transformers
from hypothesis import given
from hypothesis import strategies as st

from pipelined import IPUConfig, PlacementError
from pipelined.balance import Balance, Load, balance
from pipelined.balance_layers import balance_layers
from tests.pipelined.tiny import tiny_model


def loads(*computes: float) -> list[Load]:
    return [Load(compute, 1) for compute in computes]


def test_equal_layers_are_shared_evenly() -> None:
    assert balance(loads(*[1.0] * 8), [-1] * 4).layers_per_ipu == (2, 2, 2, 2)


def test_a_costly_layer_stands_alone() -> None:
    assert balance(loads(1, 1, 1, 9, 1), [-1, -1, -1]).layers_per_ipu == (3, 1, 1)


def test_what_an_ipu_carries_anyhow_counts() -> None:
    found = balance(loads(*[1.0] * 8), [-1, -1], besides=[Load(2.0, 10), Load()])

    assert found == Balance((3, 5), (Load(5.0, 13), Load(5.0, 5)))


def test_fixed_entries_stay_fixed() -> None:
    assert balance(loads(*[1.0] * 10), [4, -1, 0, -1]).layers_per_ipu == (4, 3, 0, 3)


def test_memory_bounds_what_an_ipu_holds() -> None:
    layers = [Load(1.0, 5)] * 3 + [Load(9.0, 1)] * 3

    assert balance(layers, [-1, -1]).layers_per_ipu == (4, 2)
    assert balance(layers, [-1, -1], memory_limit=15).layers_per_ipu == (3, 3)


def test_a_balance_explains_itself() -> None:
    assert str(balance(loads(1, 1, 2), [-1, -1])) == (
        "layers_per_ipu=[2, 1] gives the IPUs 50%, 50% of the compute; IPU 0 sets the pace, with 1.00 times an even"
        " share"
    )


@given(st.lists(st.integers(0, 20), min_size=1, max_size=9), st.integers(1, 4))
def test_no_other_split_has_a_less_loaded_busiest_ipu(costs: list[int], ipus: int) -> None:
    layers = loads(*map(float, costs))
    if len(costs) < ipus:
        with pytest.raises(PlacementError):
            balance(layers, [-1] * ipus)
        return

    found = balance(layers, [-1] * ipus)

    every = [(0, *cuts, len(costs)) for cuts in combinations(range(1, len(costs)), ipus - 1)]
    paces = [max(sum(costs[start:end]) for start, end in pairwise(cuts)) for cuts in every]
    assert max(load.compute for load in found.loads) == min(paces)
    assert (sum(found.layers_per_ipu), min(found.layers_per_ipu) > 0) == (len(costs), True)


@pytest.mark.parametrize(
    ("asked", "limit", "message"),
    [
        (
            [5, -1],
            1e9,
            (
                "layers_per_ipu=[5, -1] does not fit 4 layers: 5 are fixed and 1 IPUs are free; a free IPU takes at"
                " least one layer"
            ),
        ),
        (
            [1, 2],
            1e9,
            (
                "layers_per_ipu=[1, 2] does not fit 4 layers: 3 are fixed and 0 IPUs are free; a free IPU takes at"
                " least one layer"
            ),
        ),
        (
            [-1, -1],
            1,
            (
                "4 layers and what stands beside them need 4 bytes, and no split keeps each of 2 IPUs within 1; use"
                " more IPUs, or free those with a fixed number of layers by writing -1"
            ),
        ),
    ],
)
def test_a_balance_that_cannot_be_is_refused(asked: list[int], limit: float, message: str) -> None:
    with pytest.raises(PlacementError) as raised:
        balance(loads(*[1.0] * 4), asked, memory_limit=limit)

    assert str(raised.value) == message


def test_a_model_is_balanced_by_its_operations_and_stays_as_it_is() -> None:
    model = tiny_model(transformers.BertForMaskedLM, vocab_size=4000)
    before = [type(module) for module in model.modules()]

    found = balance_layers(model, IPUConfig(ipus_per_replica=2))

    # The head, back on IPU 0, takes more than three layers do.
    assert (found.layers_per_ipu, [type(module) for module in model.modules()]) == ((1, 3), before)


def test_what_goes_with_a_layer_is_weighed_with_it() -> None:
    model = tiny_model(transformers.WhisperForConditionalGeneration, vocab_size=4000)

    found = balance_layers(model, IPUConfig(ipus_per_replica=2))

    assert sum(found.layers_per_ipu) == 4
    assert sum(load.memory for load in found.loads) >= 4000 * 32 * 4


def test_costs_can_be_measured() -> None:
    model = tiny_model(transformers.GPT2LMHeadModel)

    found = balance_layers(model, IPUConfig(ipus_per_replica=2), measured=True)

    assert (sum(found.layers_per_ipu), all(load.compute > 0 for load in found.loads)) == (4, True)


def test_a_model_with_fixed_places_has_nothing_to_balance() -> None:
    model = tiny_model(transformers.LxmertForQuestionAnswering)

    with pytest.raises(PlacementError, match="has a fixed place for every part"):
        balance_layers(model, IPUConfig(ipus_per_replica=4))
