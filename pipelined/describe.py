"""What is where, for people to read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from pipelined.blocks import BlockMark


def allocation_table(marks: Iterable[BlockMark]) -> str:
    """One line a block and its IPU; neighbours in one list that share an IPU stand in one line."""
    rows = list(_merged(marks))
    width = max((len(name) for name, _ in rows), default=0)
    return "\n".join(f"  {name:<{width}}  IPU {'-' if ipu is None else ipu}" for name, ipu in rows)


def _merged(marks: Iterable[BlockMark]) -> Iterator[tuple[str, int | None]]:
    for (parent, ipu), group in groupby(marks, key=lambda mark: (_list_of(mark.module), mark.ipu_id)):
        names = [mark.module for mark in group]
        if parent is None or len(names) == 1:
            yield from ((name, ipu) for name in names)
        else:
            yield f"{parent}.{names[0].rpartition('.')[2]}-{names[-1].rpartition('.')[2]}", ipu


def _list_of(name: str) -> str | None:
    """The list that a module is an item of, going by its name."""
    parent, _, own = name.rpartition(".")
    return parent if own.isdecimal() else None
