"""A loader that looks ahead yields what the loader yields, with answers that are computed together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pipelined.ahead import Ahead


@pytest.mark.parametrize(
    ("count", "together"),
    [(1, [[0], [1], [2], [3]]), (2, [[0, 1], [2, 3]]), (3, [[0, 1, 2], [3]]), (9, [[0, 1, 2, 3]])],
)
def test_each_batch_finds_its_answer_and_the_last_is_known_as_such(count: int, together: list[list[int]]) -> None:
    batches = [{"x": object()} for _ in range(4)]
    computed: list[list[int]] = []

    def compute(given: Sequence[Any]) -> list[tuple[Any, Any]]:
        computed.append([batches.index(one) for one in given])
        return [(one, f"answer {batches.index(one)}") for one in given]

    ahead = Ahead(batches, count, compute)
    seen = [(batches.index(batch), ahead.answer(dict(batch)), ahead.end_of_dataloader) for batch in ahead]

    assert computed == together
    assert seen == [(0, "answer 0", False), (1, "answer 1", False), (2, "answer 2", False), (3, "answer 3", True)]
    assert len(ahead) == 4


def test_other_tensors_and_other_arguments_have_no_answer_but_a_new_count_of_items_has() -> None:
    tensor = object()
    asked = [{"x": object(), "num_items_in_batch": 3}, {"x": tensor}, {"x": tensor, "num_items_in_batch": 4}]
    answers = []
    for inputs in asked:
        ahead = Ahead([0], 1, lambda _: [({"x": tensor, "num_items_in_batch": 3}, "answer")])
        answers += [ahead.answer(inputs) for _ in ahead]

    assert answers == [None, None, "answer"]
