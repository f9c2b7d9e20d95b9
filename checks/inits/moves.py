"""Put pieces of source into another order: each swaps texts with another, or takes its lines and comments along."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from checks.inits.lists import alone
from checks.inits.model import Spot
from checks.model import Edit


def reorder(path: str, lines: Sequence[str], spots: Sequence[Spot], order: Sequence[int]) -> tuple[Edit, ...]:
    """The edit after which the pieces stand in the order given, by position; each is a list item or a statement.

    What stands between the pieces stays where it is, except a comment: it goes with the piece whose line it ends, or
    with the piece right below it. No edit where pieces share lines with comments, so that none changes hands.
    """
    moved = [position for position, source in enumerate(order) if position != source]
    if not moved:
        return ()
    first, last = moved[0], moved[-1]
    spots, order = spots[first : last + 1], [source - first for source in order[first : last + 1]]
    if not any("#" in gap for gap in _gaps(lines, spots)) and not _commented(lines, spots):
        return (_swap(path, lines, spots, order),)
    return _move(path, lines, spots, order)


def _swap(path: str, lines: Sequence[str], spots: Sequence[Spot], order: Sequence[int]) -> Edit:
    gaps = [*_gaps(lines, spots), lines[spots[-1].last - 1][spots[-1].end :]]
    texts = [_between(lines, (spot.line, spot.start), (spot.last, spot.end)) for spot in (spots[one] for one in order)]
    before = lines[spots[0].line - 1][: spots[0].start]
    text = before + "".join(text + gap for text, gap in zip(texts, gaps, strict=True))
    return Edit(path, spots[0].line, spots[-1].last, f"{text}\n")


def _move(path: str, lines: Sequence[str], spots: Sequence[Spot], order: Sequence[int]) -> tuple[Edit, ...]:
    """Whole lines change places, each piece with the comments above it; what is left between pieces stays."""
    commas = {lines[spot.last - 1].startswith(",", spot.end) for spot in spots}
    if len(commas) > 1 or not all(alone(spot, lines) for spot in spots):
        return ()
    starts = [_top(lines, spot) for spot in spots]
    pieces = [lines[start - 1 : spot.last] for start, spot in zip(starts, spots, strict=True)]
    gaps = [lines[spot.last : start - 1] for spot, start in zip(spots, starts[1:], strict=False)]
    ordered = [line for source, gap in zip(order, [*gaps, []], strict=True) for line in (*pieces[source], *gap)]
    return (Edit(path, starts[0], spots[-1].last, "".join(f"{line}\n" for line in ordered)),)


def _top(lines: Sequence[str], spot: Spot) -> int:
    """The first line of a piece with the comments right above it."""
    top = spot.line
    while top > 1 and lines[top - 2].lstrip().startswith("#"):
        top -= 1
    return top


def _gaps(lines: Sequence[str], spots: Sequence[Spot]) -> list[str]:
    return [_between(lines, (one.last, one.end), (other.line, other.start)) for one, other in pairwise(spots)]


def _commented(lines: Sequence[str], spots: Sequence[Spot]) -> bool:
    """Whether a comment stands right above the first piece, or right behind the last one."""
    opens_line = not lines[spots[0].line - 1][: spots[0].start].strip()
    behind = lines[spots[-1].last - 1][spots[-1].end :].lstrip(", ")
    return (opens_line and _top(lines, spots[0]) < spots[0].line) or behind.startswith("#")


def _between(lines: Sequence[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    if start[0] == end[0]:
        return lines[start[0] - 1][start[1] : end[1]]
    return "\n".join([lines[start[0] - 1][start[1] :], *lines[start[0] : end[0] - 1], lines[end[0] - 1][: end[1]]])
