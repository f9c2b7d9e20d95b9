"""Sizes that grow with a cache are found from two dry runs, and dry runs are repeated only where that fails."""

from __future__ import annotations

from dataclasses import dataclass, field

from pipelined.dataflow import Call, Dataflow, Value
from pipelined.growth import DryRun, Known


@dataclass
class Model:
    """Something to run dry: the shape of its one value by length, and the lengths at which it was run."""

    shapes: dict[int, tuple[int, ...]]
    ran: list[int] = field(default_factory=list)

    def at(self, known: Known, length: int) -> tuple[tuple[int, ...], int, int | None]:
        """The value's shape and bytes at this length, and the length if it holds for no other."""
        run, only = known.at(length, lambda: self.run(length))
        value = run.flow.values[0]
        return value.shape, value.bytes, only

    def run(self, length: int) -> DryRun:
        self.ran.append(length)
        return self.straight(length)

    def straight(self, length: int) -> DryRun:
        shape = self.shapes[length]
        size = 4 * shape[0] * shape[1]
        flow = Dataflow((Call("block", 0, frozenset()),), (Value(0, shape, "float32", size),), frozenset({0}))
        return DryRun(length, flow, ((),))


def test_one_run_more_shows_that_nothing_grows() -> None:
    model, known = Model(dict.fromkeys(range(10), (2, 8))), Known()

    assert [model.at(known, length) for length in (5, 5, 6, 9)] == [((2, 8), 64, None)] * 4
    assert model.ran == [5, 6]


def test_what_grows_evenly_is_known_at_every_length() -> None:
    model, known = Model({length: (2, length + 1) for length in range(10)}), Known()

    assert [model.at(known, length) for length in (3, 5, 9, 0)] == [
        ((2, 4), 32, None),
        ((2, 6), 48, 5),
        ((2, 10), 80, 9),
        ((2, 1), 8, 0),
    ]
    assert model.ran == [3, 5]


def test_what_grows_in_steps_is_run_at_every_length_that_no_line_meets() -> None:
    model, known = Model({length: (2, length // 2) for length in range(10)}), Known()

    assert [model.at(known, length)[0] for length in (2, 4, 7)] == [(2, 1), (2, 2), (2, 3)]
    assert model.ran == [2, 4, 7]
