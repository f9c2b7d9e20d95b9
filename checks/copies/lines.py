"""Compare two bodies line by line, and say which lines of the one to put in place of which lines of the other."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import accumulate, zip_longest
from typing import NamedTuple

from checks.copies.statements import statements
from checks.facts.copies import is_marker
from checks.facts.strings import long_strings


class Unit(NamedTuple):
    """One line or one statement of a body: what is compared of it, and its lines, counted from 0."""

    key: str
    first: int
    last: int


class Body(NamedTuple):
    """The lines of a body, what is compared of them, and the numbers of the lines that are nobody's business."""

    lines: Sequence[str]
    units: tuple[Unit, ...]
    skipped: Collection[int]

    @property
    def keys(self) -> tuple[str, ...]:
        """What has to be equal in two bodies."""
        return tuple(unit.key for unit in self.units)


class Hunk(NamedTuple):
    """One place where a copy differs from what is expected; lines of the copy count from 0.

    `edits` are (first, last, new lines), in order; `last == first - 1` inserts before line `first`. `at` is the first
    line that differs and `there` the original's; `ours` and `theirs` are their texts, empty where there is none. `gone`
    and `wanted` are what is compared on either side.
    """

    edits: tuple[tuple[int, int, tuple[str, ...]], ...]
    at: int
    there: int
    ours: str
    theirs: str
    gone: tuple[str, ...]
    wanted: tuple[str, ...]


def read(lines: Sequence[str], *, loose: bool = False, skipped: Collection[int] = ()) -> Body:
    """What is compared of a body: no blank lines outside strings, no markers, none of the lines skipped.

    With `loose`, whole statements without their layout: a replacement that made a name longer has moved line breaks.
    """
    found = _statements(lines) if loose else _lines_of_code(lines)
    return Body(lines, tuple(unit for unit in found if unit.first not in skipped), skipped)


def differences(copy: Body, expected: Body) -> Iterator[Hunk]:
    """Where a copy differs from what is expected, from top to bottom."""
    matcher = SequenceMatcher(None, expected.keys, copy.keys, autojunk=False)
    for tag, low, high, first, last in matcher.get_opcodes():
        if tag == "equal":
            continue
        gone, wanted = copy.units[first:last], expected.units[low:high]
        before = copy.units[first - 1].last + 1 if first else 0
        ours, theirs = _first_difference(copy, gone, expected, wanted)
        yield Hunk(
            edits=tuple(_edits(copy, gone, before, _lines(expected, low, high, spaced=not gone))),
            at=min(before, len(copy.lines) - 1) if ours is None else ours,
            there=(expected.units[low - 1].last if low else 0) if theirs is None else theirs,
            ours="" if ours is None else copy.lines[ours].strip(),
            theirs="" if theirs is None else expected.lines[theirs].strip(),
            gone=tuple(unit.key for unit in gone),
            wanted=tuple(unit.key for unit in wanted),
        )


def _statements(lines: Sequence[str]) -> Iterator[Unit]:
    for first, last, key in statements("\n".join(lines)):
        if not is_marker(lines[first]):
            yield Unit(key, first, last)


def _lines_of_code(lines: Sequence[str]) -> Iterator[Unit]:
    inside = _inside_strings(lines)
    for number, line in enumerate(lines):
        if number in inside:
            yield Unit(line, number, number)
        elif line.strip() and not is_marker(line):
            yield Unit(line.rstrip(), number, number)


def _inside_strings(lines: Sequence[str]) -> Collection[int]:
    """The lines that begin inside a string which is no docstring: there, blank lines and spaces at the end count."""
    text = "\n".join(lines)
    spans = long_strings(text)
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0)) if spans else []
    inside: set[int] = set()
    for start, end in spans:
        first, last = bisect_right(starts, start) - 1, bisect_right(starts, end - 1) - 1
        before = text[:start].rstrip("rRuUbBfF").rstrip()
        if text[starts[first] : start].strip(" \trRuU") or before.endswith(("(", "[", "{", ",", "=", "+", "\\")):
            inside.update(range(first + 1, last + 1))
    return inside


def _edits(
    copy: Body, gone: Sequence[Unit], before: int, lines: tuple[str, ...]
) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """The lines to replace, in one piece unless skipped lines lie between them; blank lines go with what is deleted."""
    if not gone:
        yield before, before - 1, lines
        return
    start = gone[0].first
    if not lines:
        start = max([before, *(number + 1 for number in range(before, start) if number in copy.skipped)])
    for unit, following in zip(gone, (*gone[1:], None), strict=True):
        between = range(unit.last + 1, following.first) if following else range(0)
        if following is None or any(number in copy.skipped for number in between):
            yield start, unit.last, lines
            lines = ()
        if following is not None and any(number in copy.skipped for number in between):
            start = following.first


def _lines(expected: Body, low: int, high: int, *, spaced: bool) -> tuple[str, ...]:
    """The lines of some units of the original without its markers; with the blank lines above them if `spaced`."""
    if low == high:
        return ()
    first = expected.units[low].first
    if spaced:
        first = expected.units[low - 1].last + 1 if low else 0
    numbers = range(first, expected.units[high - 1].last + 1)
    lines = (expected.lines[number] for number in numbers if number not in expected.skipped)
    return tuple(line for line in lines if not is_marker(line))


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
