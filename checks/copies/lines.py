"""What is compared of a body: its lines, or its statements."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from checks.copies.blocks import Block
from checks.copies.statements import statements
from checks.facts.copies import is_marker
from checks.facts.strings import long_strings


class Unit(NamedTuple):
    """One line or one statement of a body: what is compared of it, and its lines, counted from 0.

    A block that is not compared is a unit too, so that everything else keeps its place before or behind it.
    """

    key: str
    first: int
    last: int
    compared: bool = True


class Body(NamedTuple):
    """The lines of a body and its units."""

    lines: Sequence[str]
    units: tuple[Unit, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """What has to be equal in two bodies."""
        return tuple(unit.key for unit in self.units if unit.compared)

    def gap(self, number: int) -> range:
        """The lines between a unit and the one before it; after the last unit, those to the end."""
        first = self.units[number - 1].last + 1 if number else 0
        return range(first, self.units[number].first if number < len(self.units) else len(self.lines))

    def is_blank(self, number: int) -> bool:
        """Whether a gap is nothing but blank lines."""
        return not any(self.lines[line].strip() for line in self.gap(number))

    def stretch(self, first: int, last: int, *, before: bool = False, after: bool = False) -> tuple[int, int]:
        """Where the units from `first` up to `last` begin and end, with the gaps on either side if so asked.

        Without any unit, a gap is taken whole or, of both sides, only what stands before.
        """
        if first == last:
            gap = self.gap(first)
            return gap.start, gap.stop if before and after else gap.start
        start = self.gap(first).start if before else self.units[first].first
        return start, self.gap(last).stop if after else self.units[last - 1].last + 1


def read(lines: Sequence[str], *, loose: bool = False, blank: bool = False, left_out: Collection[Block] = ()) -> Body:
    """What is compared of a body: no markers, no blocks that are left out, and blank lines outside strings if `blank`.

    With `loose`, whole statements without their layout: a replacement that made a name longer has moved line breaks.
    """
    found = _statements(lines) if loose else _lines_of_code(lines)
    skipped = {number for block in left_out for number in block.lines}
    blocks = (Unit(f"\0{each.name}", each.lines[0], each.lines[-1], compared=False) for each in left_out if each.lines)
    units = sorted((*blocks, *(unit for unit in found if unit.first not in skipped)), key=lambda unit: unit.first)
    body = Body(lines, tuple(units))
    return body._replace(units=tuple(_with_blank_lines(body))) if blank else body


def _with_blank_lines(body: Body) -> Iterator[Unit]:
    """The units and the blank lines between those that are compared; blank lines at either end belong to no body."""
    for number, unit in enumerate(body.units):
        if number and unit.compared and body.units[number - 1].compared:
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
            # The quote in front tells it from a line of code that reads the same.
            yield Unit(f'"{line}', number, number)
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
