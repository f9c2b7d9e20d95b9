"""Where two bodies differ, and which lines of the one to put in place of which lines of the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import takewhile, zip_longest
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


def differences(copy: Body, expected: Body) -> Iterator[Hunk]:
    """Where a copy differs from what is expected, from top to bottom."""
    for low, high, first, last in _stretches(expected.keys, copy.keys):
        gone, wanted = copy.units[first:last], expected.units[low:high]
        ours, theirs = _first_difference(copy, gone, expected, wanted)
        yield Hunk(
            changes=tuple(_changes(copy, (first, last), expected, (low, high))),
            at=(gone[0].first if gone else min(copy.gap(first).start, len(copy.lines) - 1)) if ours is None else ours,
            there=max(expected.gap(low).start - 1, 0) if theirs is None else theirs,
            ours="" if ours is None else copy.lines[ours].strip(),
            theirs="" if theirs is None else expected.lines[theirs].strip(),
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

    Markers and skipped lines beside the stretch stay where they are, and so do the blank lines on that side then.
    """
    before = ours[0] == ours[1] or copy.is_blank(ours[0])
    after = copy.is_blank(ours[1]) and ours[1] < len(copy.units)
    start, stop = copy.stretch(*ours, before=before, after=after)
    low, high = expected.stretch(*theirs, before=before, after=after)
    units = expected.units[theirs[0] : theirs[1]]
    compared = {number for unit in units for number in range(unit.first, unit.last + 1)}
    lines = [
        line
        for number, line in enumerate(expected.lines[low:high], low)
        if number in compared or not (number in expected.skipped or is_marker(line))
    ]
    while lines and start < stop and copy.lines[start] == lines[0]:
        del lines[0]
        start += 1
    while lines and start < stop and copy.lines[stop - 1] == lines[-1]:
        del lines[-1]
        stop -= 1
    kept = [number for number in range(start, stop) if number in copy.skipped]
    for first, last in zip((start, *(number + 1 for number in kept)), (*kept, stop), strict=True):
        if first < last or (lines and first == start):
            yield first, last - 1, tuple(lines)
            lines = []
