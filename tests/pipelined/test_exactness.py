"""The gate of the engine: what several processes compute together is what one process computes.

A class that gets a placement joins by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipelined.catalog import families
from pipelined.distributed import distribute
from tests.pipelined.batches import training_batch
from tests.pipelined.exactness import (
    MICROBATCHES,
    WITHIN,
    Exactness,
    config_of,
    evaluated,
    of_classes,
    of_model,
    scored,
    trained,
)
from tests.pipelined.families import registered_classes
from tests.pipelined.placed import LAYERS, around
from tests.pipelined.processes import run, run_each

pytestmark = pytest.mark.xdist_group("exactness")

ONE_A_FAMILY = tuple(next(iter(classes)) for classes in families().values())
REPLICATED = ("BertForMaskedLM", "T5ForConditionalGeneration", "ViTForImageClassification")
TRAINED = ("BertForMaskedLM", "T5ForConditionalGeneration", "GPT2ForSequenceClassification", "Wav2Vec2ForCTC")
EVALUATED = (*TRAINED, "LlamaForCausalLM", "BartForConditionalGeneration", "BertForQuestionAnswering")
ORDERS = {
    "gpipe": (0, 0, 1, 1),
    "1f1b": (0, 0, 1, 1),
    "gpipe, coming back": (0, 1, 1, 0),
    "1f1b, coming back": (0, 1, 1, 0),
    "interleaved-1f1b": (0, 1, 0, 1),
    "looped-bfs": (0, 1, 0, 1),
    "interleaved-zero-bubble": (0, 1, 0, 1),
    "zbv-zero-bubble": (0, 1, 1, 0),
    "dual-pipe-v": (0, 1, 1, 0),
}
FURTHER = (Path(__file__).parent / "further_trained.txt").read_text(encoding="utf-8").split()
"""Classes that have no placement of their own, and whose output is one that a loss can be made of."""


def registered_over_two() -> dict[str, Any]:
    return of_classes(registered_classes(), 2)


def one_a_family_over_four() -> dict[str, Any]:
    return of_classes(ONE_A_FAMILY, 4)


def two_replicas_over_two() -> dict[str, Any]:
    return of_classes(REPLICATED, 2, replicas=2)


def by_schedule() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for order, ipus in ORDERS.items():
        config = config_of(2, schedule=order.partition(",")[0])
        for name in LAYERS:
            model = around(name, ipus, config)
            found[f"{order}: {name}"] = of_model(model, training_batch(model), config)
    return found


def steps_of_adamw() -> dict[str, float]:
    return {name: trained(*scored(name, config_of(2)), config_of(2)) for name in TRAINED}


def evaluations() -> dict[str, list[str]]:
    found = {}
    for name in EVALUATED:
        for rows in (8, 7, 3):
            model, batch = scored(name, config_of(2), rows=8)
            batch = {key: value[:rows] for key, value in batch.items()}
            most = -(-rows // MICROBATCHES)
            parts = [min(most, rows - start) for start in range(0, rows, most)]
            with distribute(model, config_of(2), timeout=120) as pipe:
                found[f"{name}, {rows} rows"] = evaluated(pipe, scored(name, config_of(2))[0], batch, parts)
    return found


@pytest.fixture(scope="module")
def over_two() -> dict[str, Any]:
    return run_each([registered_over_two, by_schedule, steps_of_adamw, evaluations], processes=2)


@pytest.fixture(scope="module")
def over_four() -> dict[str, Any]:
    return run_each([one_a_family_over_four, two_replicas_over_two], processes=4)


@pytest.fixture
def all_exact(record_property: Callable[[str, object], None]) -> Callable[[list[dict[str, Any]]], None]:
    """Assert that a table has nothing but exact rows, in each process, and tell its largest difference."""

    def check(tables: list[dict[str, Any]]) -> None:
        assert [{name: str(row) for name, row in table.items()} for table in tables] == [
            dict.fromkeys(table, "exact") for table in tables
        ]
        worst = max(row.gradient for row in tables[0].values() if isinstance(row, Exactness))
        record_property("largest difference of a gradient", f"{len(tables[0])} compared, {worst:.1e}")

    return check


def test_every_registered_class_over_two_processes_is_exact(over_two: Any, all_exact: Any) -> None:
    all_exact(over_two["registered_over_two"])


def test_every_schedule_is_exact(over_two: Any, all_exact: Any) -> None:
    all_exact(over_two["by_schedule"])


def test_parameters_after_three_steps_of_adamw_are_those_of_the_plain_model(over_two: Any) -> None:
    tables = over_two["steps_of_adamw"]

    assert [{name: worst <= WITHIN for name, worst in table.items()} for table in tables] == [
        dict.fromkeys(TRAINED, True)
    ] * 2


def test_an_evaluation_is_that_of_the_plain_model_bit_for_bit_with_a_smaller_last_part(over_two: Any) -> None:
    assert over_two["evaluations"] == [{f"{name}, {rows} rows": [] for name in EVALUATED for rows in (8, 7, 3)}] * 2


def test_one_class_of_each_family_over_four_processes_is_exact(over_four: Any, all_exact: Any) -> None:
    all_exact(over_four["one_a_family_over_four"])


def test_two_replicas_of_two_processes_are_exact(over_four: Any, all_exact: Any) -> None:
    all_exact(over_four["two_replicas_over_two"])


@pytest.mark.slow
def test_fifty_further_classes_over_two_processes_are_exact(all_exact: Any) -> None:
    assert len(FURTHER) >= 50
    all_exact(run(of_classes, processes=2, names=FURTHER, ipus=2))
