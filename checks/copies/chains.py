"""Copies of copies: which come first, which lead back to themselves, and where a chain begins."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence

from checks.copies.survey import Copy
from checks.facts.python import Definition

Key = tuple[str, int]


class Chains:
    """Copies by what they depend on."""

    def __init__(self, copies: Sequence[Copy]) -> None:
        self._copies = {copy.key: copy for copy in copies}
        self._by_path: dict[str, list[Copy]] = defaultdict(list)
        for copy in sorted(copies, key=_start):
            self._by_path[copy.path].append(copy)
        self._by_name = {(copy.path, copy.definition.name): copy for copy in copies}

    def source(self, copy: Copy) -> Copy | None:
        """The copy that the original of a copy is itself, None where it is no copy."""
        return self._copies.get((copy.original.path, copy.original.definition.start)) if copy.original else None

    def beginning(self, copy: Copy) -> Copy:
        """The last copy on the way from a copy to code that is no copy; itself where its original is none."""
        seen = {copy.key}
        while (source := self.source(copy)) is not None and source.key not in seen:
            seen.add(source.key)
            copy = source
        return copy

    def circle(self, copy: Copy) -> tuple[Copy, ...]:
        """The copies that lead from a copy back to it, itself first; nothing where none do."""
        found = [copy]
        while (source := self.source(found[-1])) is not None and source not in found:
            found.append(source)
        return tuple(found) if source == copy else ()

    def levels(self) -> Iterator[tuple[Copy, ...]]:
        """The copies in groups: whatever a copy is made from, or holds inside, is in an earlier group.

        A circle is cut where it is entered first.
        """
        depth: dict[Key, int] = {}
        for copy in self._copies.values():
            self._measure(copy, depth)
        groups: dict[int, list[Copy]] = defaultdict(list)
        for key, copy in self._copies.items():
            groups[depth[key]].append(copy)
        return (tuple(groups[level]) for level in sorted(groups))

    def _measure(self, copy: Copy, depth: dict[Key, int]) -> None:
        """Note the depth of a copy and of all below it; a loop rather than recursion, for chains of any length."""
        path = [copy]
        entered = {copy.key}
        while path:
            below = self._below(path[-1])
            open_ones = [each for each in below if each.key not in depth and each.key not in entered]
            if open_ones:
                path.append(open_ones[0])
                entered.add(open_ones[0].key)
                continue
            depth[path[-1].key] = 1 + max((depth.get(each.key, -1) for each in below), default=-1)
            path.pop()

    def _below(self, copy: Copy) -> list[Copy]:
        """The copies that overlap the original of a copy, and those inside the copy."""
        if copy.original is None:
            return []
        path, original, _ = copy.original
        found = self._within(path, original) + self._within(copy.path, copy.definition)
        names = original.name.split(".")
        around = (self._by_name.get((path, ".".join(names[:count]))) for count in range(1, len(names)))
        return [each for each in (*found, *around) if each is not None and each is not copy]

    def _within(self, path: str, each: Definition) -> list[Copy]:
        copies = self._by_path[path]
        first = bisect_left(copies, each.first, key=_start)
        return copies[first : bisect_left(copies, each.end, first, key=_start)]


def _start(copy: Copy) -> int:
    return copy.definition.start
