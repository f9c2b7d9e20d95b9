"""Put blocks of whole lines into another order with as few lines touched as possible."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from checks.model import Edit


class Block(NamedTuple):
    """Lines that move together, from 1; `last` is 0 where they are not one thing's own to be moved."""

    first: int
    last: int


def reorder(path: str, blocks: Sequence[Block], order: Sequence[int], lines: Sequence[str]) -> tuple[Edit, ...]:
    r"""The edit that puts adjacent blocks into an order of their places, nothing where one of them cannot be moved.

    Only the lines from the first block that moves to the last one are replaced. `lines` are those of the whole file.

    >>> reorder("f", (Block(1, 1), Block(2, 3), Block(4, 4)), (0, 2, 1), ("a", "c", "c2", "b"))
    (Edit(path='f', first=2, last=4, text='b\nc\nc2\n'),)
    """
    moved = [place for place, other in enumerate(order) if place != other]
    if not moved or not all(block.last for block in blocks):
        return ()
    start, end = moved[0], moved[-1]
    text = [line for place in order[start : end + 1] for line in lines[blocks[place].first - 1 : blocks[place].last]]
    return (Edit(path, blocks[start].first, blocks[end].last, "\n".join(text) + "\n"),)
