"""Where two bodies differ, and which lines of the one to put in place of which lines of the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby, takewhile, zip_longest
from typing import NamedTuple

from checks.copies.lines import Body, Unit
from checks.facts.copies import is_marker

Change = tuple[int, int, tuple[str, ...]]
"""The first and the last line to replace, from 0, and the new lines; `last == first - 1` inserts before `first`."""


class Hunk(NamedTuple):
    """One place where a copy differs from what is expected; lines count from 0.

    `at` is the first line of the copy that differs and `there` the original's; `ours` and `theirs` are their texts,
    empty where there is none. `gone` and `wanted` are what is compared on either side.
    """

    changes: tuple[Change, ...]
    at: int
    there: int
    ours: str
    theirs: str
    gone: tuple[str, ...]
    wanted: tuple[str, ...]

    def meets(self, other: Hunk) -> bool:
        """Whether two hunks about the same copy are about the same place."""
        return any(
            one[0] <= max(two[1], two[0]) and two[0] <= max(one[1], one[0])
            for one in self.changes
            for two in other.changes
        )


def differences(copy: Body, expected: Body) -> Iterator[Hunk]:
    """Where a copy differs from what is expected, from top to bottom."""
    ours, theirs = [unit.key for unit in copy.units], [unit.key for unit in expected.units]
    for low, high, first, last in _stretches(theirs, ours):
        gone = [unit for unit in copy.units[first:last] if unit.compared]
        wanted = [unit for unit in expected.units[low:high] if unit.compared]
        if not gone and not wanted:
            continue
        our, their = _first_difference(copy, gone, expected, wanted)
        yield Hunk(
            changes=tuple(_changes(copy, (first, last), expected, (low, high))),
            at=(gone[0].first if gone else min(copy.gap(first).start, len(copy.lines) - 1)) if our is None else our,
            there=max(expected.gap(low).start - 1, 0) if their is None else their,
            ours="" if our is None else copy.lines[our].strip(),
            theirs="" if their is None else expected.lines[their].strip(),
            gone=tuple(unit.key for unit in gone),
            wanted=tuple(unit.key for unit in wanted),
        )


def _stretches(expected: Sequence[str], copy: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """Where two sequences differ; as one stretch where finding the least of it would take quadratic time for long."""
    same = _shared(zip(expected, copy, strict=False))
    tail = _shared(zip(reversed(expected[same:]), reversed(copy[same:]), strict=False))
    theirs, ours = expected[same : len(expected) - tail], copy[same : len(copy) - tail]
    if len(theirs) * len(ours) > _MOST:
        yield same, same + len(theirs), same, same + len(ours)
        return
    for tag, low, high, first, last in SequenceMatcher(None, theirs, ours, autojunk=False).get_opcodes():
        if tag != "equal":
            yield same + low, same + high, same + first, same + last


def _shared(pairs: Iterable[tuple[str, str]]) -> int:
    """How many pairs are alike before the first that is not."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


_MOST = 4_000_000


def _first_difference(
    copy: Body, gone: Sequence[Unit], expected: Body, wanted: Sequence[Unit]
) -> tuple[int | None, int | None]:
    """The first lines of a replaced stretch that differ, None where one side has no more."""
    ours, theirs = list(_numbers(copy, gone)), list(_numbers(expected, wanted))
    for our, their in zip_longest(ours, theirs):
        if our is None or their is None or copy.lines[our].strip() != expected.lines[their].strip():
            return our, their
    return ours[0] if ours else None, theirs[0] if theirs else None


def _numbers(body: Body, units: Sequence[Unit]) -> Iterator[int]:
    """The lines of some units, without the blank ones."""
    return (number for unit in units for number in range(unit.first, unit.last + 1) if body.lines[number].strip())


def _changes(copy: Body, ours: tuple[int, int], expected: Body, theirs: tuple[int, int]) -> Iterator[Change]:
    """What to replace so that the units `theirs` stand where the units `ours` are, with their blank lines around.

    Markers and blocks that are left out stay where they are, and so do the blank lines beside them.
    """
    units = copy.units[slice(*ours)]
    if not all(unit.compared for unit in units):
        yield from _round_blocks(units, _lines(expected, theirs, *expected.stretch(*theirs)))
        return
    before = not units or copy.is_blank(ours[0])
    after = copy.is_blank(ours[1]) and ours[1] < len(copy.units)
    start, stop = copy.stretch(*ours, before=before, after=after)
    lines = _lines(expected, theirs, *expected.stretch(*theirs, before=before, after=after))
    while lines and start < stop and copy.lines[start] == lines[0]:
        del lines[0]
        start += 1
    while lines and start < stop and copy.lines[stop - 1] == lines[-1]:
        del lines[-1]
        stop -= 1
    following = copy.units[ours[1] : ours[1] + 1]
    if following and not following[0].compared and following[0].first == stop:
        lines = _apart(lines)
    if lines or start < stop:
        yield start, stop - 1, tuple(lines)


def _round_blocks(units: Sequence[Unit], lines: list[str]) -> Iterator[Change]:
    """Put lines in place of units, some of which are blocks that are left out."""
    groups = [list(group) for compared, group in groupby(units, key=lambda unit: unit.compared) if compared]
    if not groups and lines:
        # A decorator belongs to what follows the blocks.
        place = units[-1].last + 1 if lines[-1].lstrip().startswith("@") else units[0].first
        yield place, place - 1, tuple(lines if place > units[0].first else _apart(lines))
    for number, group in enumerate(groups):
        new = tuple(_apart(lines) if group[-1] is not units[-1] else lines) if number == 0 else ()
        yield group[0].first, group[-1].last, new


def _apart(lines: list[str]) -> list[str]:
    """Lines to stand above a block that is left out, of which a comment would become a part."""
    return [*lines, ""] if lines and lines[-1].lstrip().startswith("#") else lines


def _lines(expected: Body, theirs: tuple[int, int], low: int, high: int) -> list[str]:
    """The lines of a stretch of the original, without its markers and without blocks that are left out."""
    units = expected.units[slice(*theirs)]
    compared = {number for unit in units if unit.compared for number in range(unit.first, unit.last + 1)}
    left_out = {number for unit in units if not unit.compared for number in range(unit.first, unit.last + 1)}
    return [
        expected.lines[number]
        for number in range(low, high)
        if number in compared or not (number in left_out or is_marker(expected.lines[number]))
    ]
