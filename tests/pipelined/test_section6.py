"""Cases in which other pipelines went wrong, under the numbers that they have among us."""

from __future__ import annotations

from typing import Any

import pytest

from tests.pipelined.cases import (
    DROPPING,
    OVER_FOUR,
    OVER_TWO,
    SERIALIZED,
    case_13_dropout,
)
from tests.pipelined.exactness import WITHIN, difference
from tests.pipelined.processes import run_each
from tests.pipelined.written import LAYERS

pytestmark = pytest.mark.xdist_group("section6")


@pytest.fixture(scope="module")
def over_two() -> dict[str, list[Any]]:
    return run_each(OVER_TWO, processes=2)


@pytest.fixture(scope="module")
def over_four() -> dict[str, list[Any]]:
    return run_each(OVER_FOUR, processes=4)


@pytest.fixture(scope="module")
def in_one() -> dict[str, list[Any]]:
    return run_each([case_13_dropout], processes=1)


def words(tables: list[dict[str, Any]]) -> list[dict[str, str]]:
    return [{name: str(row) for name, row in table.items()} for table in tables]


def test_1_models_with_rotary_positions_are_exact_over_four(over_four: Any) -> None:
    exact = {"LlamaForCausalLM": "exact", "Qwen3ForCausalLM": "exact"}

    assert words(over_four["case_1_rotary_positions_over_four"]) == [exact] * 4


def test_2_what_is_sent_need_not_be_contiguous_in_the_model(over_four: Any) -> None:
    exact = {"T5ForConditionalGeneration": "exact", "WhisperForConditionalGeneration": "exact"}

    assert words(over_four["case_2_payload_that_is_not_contiguous"]) == [exact] * 4


def test_4_a_batch_that_cannot_be_cut_is_refused_everywhere_and_the_next_one_trains(over_two: Any) -> None:
    said = (
        "a batch of 10 samples cannot be cut into 4 equal microbatches; 1, 2, 5, 10 would do, or a batch of 8 samples"
    )

    assert over_two["case_4_a_batch_that_cannot_be_cut"] == [(said, "exact")] * 2


def test_8_a_bert_that_decodes_trains_as_the_plain_model_does(over_two: Any) -> None:
    assert over_two["case_8_a_decoder_that_was_an_encoder"] == [True, True]


def test_10_a_masked_row_is_masked_after_every_layer(over_four: Any) -> None:
    assert over_four["case_10_masks_in_the_middle"] == [{"BertForMaskedLM": [], "LlamaForCausalLM": []}] * 4


def test_11_a_head_back_on_the_first_ipu_is_a_third_stage_and_shares_its_weight_without_being_asked(
    over_two: Any,
) -> None:
    assert over_two["case_11_back_to_the_first"] == [((0, 1, 0), (0,), {})] * 2


def test_13_dropout_is_the_same_for_every_placement_and_for_every_run(
    in_one: Any, over_two: Any, over_four: Any
) -> None:
    tables = [table for found in (in_one, over_two, over_four) for table in found["case_13_dropout"]]
    losses = [{name: row for name, (row, _) in table.items()} for table in tables]

    assert losses == [losses[0]] * 7
    for first, second_step, second_run, other_seed, recomputed in losses[0].values():
        assert (second_run, recomputed) == (first, first)
        assert len({first, second_step, other_seed}) == 3


def test_13_gradients_of_dropout_are_the_same_for_every_placement(in_one: Any, over_two: Any, over_four: Any) -> None:
    for name in DROPPING:
        _, expected = in_one["case_13_dropout"][0][name]
        for found in (over_two["case_13_dropout"], over_four["case_13_dropout"]):
            parts = [table[name][1] for table in found]
            assert {key for part in parts for key in part} == set(expected)
            assert max(difference(one, expected[key]) for part in parts for key, one in part.items()) <= WITHIN


def test_15_code_that_writes_into_what_layers_return_is_exact_wherever_it_is_cut(over_two: Any) -> None:
    places = ["embed", *(f"layers.{index}" for index in range(LAYERS))]

    assert over_two["case_15_writing_into_what_layers_return"] == [dict.fromkeys(places, "exact")] * 2


def test_17_serialized_embeddings_and_projections_are_exact_over_several_ipus_too(over_two: Any) -> None:
    assert over_two["case_17_serialized_parts"] == [dict.fromkeys(SERIALIZED, "exact")] * 2


def test_fewer_microbatches_than_stages_are_exact(over_four: Any) -> None:
    assert over_four["spare_fewer_microbatches_than_stages"] == [dict.fromkeys("123", "exact")] * 4


def test_a_weight_shared_by_two_stages_counts_once_with_zero_bubble(over_two: Any) -> None:
    assert over_two["spare_a_shared_weight_and_zero_bubble"] == ["exact", "exact"]
