"""What is compared of a body: its lines, or its statements."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate
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

    def gap(self, number: int) -> range:
        """The lines between a unit and the one before it; after the last unit, those to the end."""
        first = self.units[number - 1].last + 1 if number else 0
        return range(first, self.units[number].first if number < len(self.units) else len(self.lines))

    def is_blank(self, number: int) -> bool:
        """Whether a gap is nothing but blank lines."""
        return not any(self.lines[line].strip() or line in self.skipped for line in self.gap(number))

    def stretch(self, first: int, last: int, *, before: bool, after: bool) -> tuple[int, int]:
        """Where the units from `first` up to `last` begin and end, with the gaps on either side if so asked.

        Without any unit, a gap is taken whole or, of both sides, only what stands before.
        """
        if first == last:
            gap = self.gap(first)
            return gap.start, gap.stop if before and after else gap.start
        start = self.gap(first).start if before else self.units[first].first
        return start, self.gap(last).stop if after else self.units[last - 1].last + 1


def read(lines: Sequence[str], *, loose: bool = False, blank: bool = False, skipped: Collection[int] = ()) -> Body:
    """What is compared of a body: no markers, none of the lines skipped, and blank lines outside strings if `blank`.

    With `loose`, whole statements without their layout: a replacement that made a name longer has moved line breaks.
    """
    found = _statements(lines) if loose else _lines_of_code(lines)
    units = tuple(unit for unit in found if unit.first not in skipped)
    body = Body(lines, units, skipped)
    return body._replace(units=tuple(_with_blank_lines(body))) if blank else body


def _with_blank_lines(body: Body) -> Iterator[Unit]:
    """The units and the blank lines between them; those at either end belong to no body."""
    for number, unit in enumerate(body.units):
        if number:
            yield from (Unit("", line, line) for line in body.gap(number) if not body.lines[line].strip())
        yield unit


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
