"""What a step of training can be asked for, over two processes, beside one that computes the same."""

from __future__ import annotations

from typing import Any

import pytest

from tests.pipelined import steps
from tests.pipelined.exactness import WITHIN
from tests.pipelined.processes import run_each

pytestmark = pytest.mark.xdist_group("train_step")


@pytest.fixture(scope="module")
def over_two() -> dict[str, list[Any]]:
    return run_each(steps.STEPS, processes=2)


def test_gradients_add_up_until_they_are_zeroed(over_two: Any) -> None:
    assert over_two["gradients_add_up"] == ["exact", "exact"]


def test_a_loss_divided_by_the_items_of_the_batch_is_that_of_the_whole_batch(over_two: Any) -> None:
    assert over_two["normalised_by_items"] == [(True, True, True)] * 2


def test_gradients_are_clipped_by_the_norm_of_the_whole_model_with_shared_weights_counted_once(over_two: Any) -> None:
    assert over_two["clipped"] == [(True, "exact")] * 2


def test_what_is_frozen_stays_out_of_it_wherever_it_is(over_two: Any) -> None:
    assert over_two["frozen"] == [dict.fromkeys(steps.FROZEN, "exact")] * 2


def test_what_trains_may_change_between_steps_if_it_does_so_everywhere(over_two: Any) -> None:
    first, second = over_two["thawed"]

    assert first == second
    assert first[:3] == ["exact"] * 3
    assert "the processes were given different inputs" in first[3]
    assert "parameters train" in first[3]


def test_an_optimizer_may_be_made_of_what_trains_where_nothing_does(over_two: Any) -> None:
    assert over_two["optimizer_of_what_trains"] == [([0], True), ([16], True)]


def test_a_change_of_the_configuration_counts_for_batches_that_were_seen_before(over_two: Any) -> None:
    assert over_two["configured_anew"] == [[], []]


def test_what_no_step_can_be_made_of_is_said_in_a_sentence_everywhere_and_the_session_goes_on(over_two: Any) -> None:
    first, second = over_two["unusable"]

    assert first.pop("outside").startswith("PipelineError: bert.encoder.layer.2 is in another process")
    assert second.pop("outside").startswith("PipelineError: bert.embeddings is in another process")
    assert first == second
    assert first.pop("too long").startswith("PipelineError: PipelinedBertForMaskedLM refuses the batch: RuntimeError: ")
    assert first == {
        "nothing": "TypeError: a batch gives the forward's arguments by name, as a dict does, and this is a NoneType",
        "no samples": "ValueError: the batch holds no samples",
        "no labels": "PipelineError: the model returned no loss; give it labels",
        "no microbatches": "ValueError: there are no microbatches",
        "good": "",
        "closed": "PipelineError: the session is not open; write with distribute(...) as pipe: ...",
    }


def test_adapters_train_on_the_frozen_model_that_they_adapt(over_two: Any) -> None:
    assert over_two["adapters"] == [{"LlamaForCausalLM": "exact", "BertForSequenceClassification": "exact"}] * 2


def test_half_precision_is_exact_as_weights_and_as_autocast(over_two: Any) -> None:
    for table in over_two["half_precision"]:
        assert table == dict.fromkeys(table, "exact")


def test_layers_are_computed_again_in_the_backward_pass_where_that_is_asked_for(over_two: Any) -> None:
    assert over_two["recomputed"] == [
        ("exact", {"bert.encoder.layer.0": 2, "bert.encoder.layer.1": 2}),
        # The last layer's are needed at once.
        ("exact", {"bert.encoder.layer.2": 2, "bert.encoder.layer.3": 1}),
    ]


def test_checkpointing_of_transformers_is_exact_too(over_two: Any) -> None:
    assert over_two["recomputed_by_transformers"] == ["exact", "exact"]


def test_statistics_of_batch_normalisation_are_the_plain_models_and_no_batch_counts_twice(over_two: Any) -> None:
    statistics = ("running_mean", "running_var", "num_batches_tracked")

    assert over_two["batch_normalisation"] == [
        ("exact", {f"layers.{index}.1.{name}": 0.0 for index in layers for name in statistics})
        for layers in ((0, 1), (2, 3))
    ]


def test_batches_may_change_their_length_between_steps_and_within_one(over_two: Any) -> None:
    assert over_two["changing_lengths"] == [["exact"] * 4] * 2


def test_training_and_evaluation_take_turns(over_two: Any) -> None:
    assert [(worst <= WITHIN, different) for worst, different in over_two["training_and_evaluation_in_turn"]] == [
        (True, []),
        (True, []),
    ]


def test_attentions_and_router_logits_are_the_plain_models_and_train_it_as_there(over_two: Any) -> None:
    exact: dict[str, Any] = {name: ("exact", []) for name, _ in steps.SIDES}

    assert over_two["side_outputs"] == [exact, exact]


def test_a_cache_that_leaves_a_block_is_refused_by_name_everywhere(over_two: Any) -> None:
    assert over_two["refused"] == [{"a cache"}] * 2


def test_a_module_that_is_none_of_transformers_is_exact(over_two: Any) -> None:
    assert over_two["a_module_of_torch_alone"] == ["exact", "exact"]


def test_inputs_may_decide_what_flows_from_stage_to_stage(over_two: Any) -> None:
    assert over_two["decided_by_inputs"] == [["exact"] * 4] * 2
