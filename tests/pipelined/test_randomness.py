"""Keyed streams of random numbers."""

from __future__ import annotations

import random

import numpy as np
import torch

from pipelined.randomness import draw_from, keyed


def drawn() -> tuple[float, float, float]:
    return float(torch.rand(())), float(np.random.rand()), random.random()  # noqa: S311 - what a model may draw from


def test_equal_keys_give_equal_numbers_whatever_was_drawn_before() -> None:
    with keyed(1, 2, 3):
        first = drawn()
    drawn()
    with keyed(1, 2, 3):
        assert drawn() == first


def test_other_keys_give_other_numbers() -> None:
    with keyed(1, 2, 3):
        first = drawn()
    with keyed(1, 2, 4):
        second = drawn()

    assert [one == other for one, other in zip(first, second, strict=True)] == [False, False, False]


def test_a_stream_inside_another_disturbs_neither_it_nor_what_is_outside() -> None:
    torch.manual_seed(0)
    np.random.seed(0)
    random.seed(0)
    plain = [drawn(), drawn()]
    with keyed(1):
        keyed_plain = [drawn(), drawn()]
    torch.manual_seed(0)
    np.random.seed(0)
    random.seed(0)

    outside, inside = [drawn()], []
    with keyed(1):
        inside.append(drawn())
        with keyed(2):
            drawn()
        inside.append(drawn())
    outside.append(drawn())

    assert (outside, inside) == (plain, keyed_plain)


def test_no_seed_is_queued_for_devices_that_are_not_in_use() -> None:
    before = len(torch.cuda._queued_calls)
    with keyed(1):
        drawn()

    assert len(torch.cuda._queued_calls) == before


def test_a_stream_that_is_left_for_another_ends_with_what_is_around_both() -> None:
    torch.manual_seed(0)
    np.random.seed(0)
    random.seed(0)
    plain = [drawn(), drawn()]
    torch.manual_seed(0)
    np.random.seed(0)
    random.seed(0)

    outside = [drawn()]
    with keyed(1):
        drawn()
        draw_from(2)
        other = drawn()
    outside.append(drawn())
    with keyed(2):
        assert drawn() == other

    assert outside == plain
