"""Names of neighbouring modules as people write them: `encoder.layer.0-5`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import groupby
from typing import TypeVar

T = TypeVar("T")


def runs(items: Iterable[T], name: Callable[[T], str], place: Callable[[T], Hashable]) -> list[list[T]]:
    """The items in their order, those together that are neighbours in one list and in one place."""
    return [list(group) for _, group in groupby(items, key=lambda item: (_list_of(name(item)), place(item)))]


def span(names: Sequence[str]) -> str:
    """One name for a run: the first, and the number of the last."""
    return names[0] if len(names) == 1 else f"{names[0]}-{names[-1].rpartition('.')[2]}"


def _list_of(name: str) -> str:
    """The list that a module is an item of, going by its name; the module itself where it is none."""
    parent, _, own = name.rpartition(".")
    return parent if own.isdecimal() else name
