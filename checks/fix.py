"""Apply the edits of findings until there are none left: chains end in one run, and a circle is noticed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import NamedTuple

from checks.edits import Change, Refusal, plan_changes
from checks.model import Finding
from checks.tree import Tree

_PATIENCE = 50  # passes in a row after which there is not less to fix than before


class Fixed(NamedTuple):
    """What a fix does: each file before and after, what is left to say, what was refused, and how many passes it took.

    `settled` is false where the findings went on wanting changes: a circle, in which nothing is changed.
    """

    changes: tuple[Change, ...]
    remaining: tuple[Finding, ...]
    refusals: tuple[Refusal, ...]
    passes: int
    settled: bool


class Overlay:
    """A tree with some of its files replaced in memory."""

    def __init__(self, tree: Tree, changes: Sequence[Change]) -> None:
        from checks.tree import MemoryTree

        self.folder = None
        self._below = tree
        self._above = MemoryTree({change.path: change.after for change in changes if change.after is not None})
        gone = {change.path for change in changes if change.after is None}
        self.keys = {path: key for path, key in {**tree.keys, **self._above.keys}.items() if path not in gone}
        self.others = tree.others

    def read(self, path: str) -> bytes:
        return self._above.read(path) if path in self._above.keys else self._below.read(path)

    def outdated(self) -> frozenset[str]:
        return self._below.outdated()


def fix(tree: Tree, judge: Callable[[Tree], tuple[Finding, ...]]) -> Fixed:
    """Fix in memory whatever `judge` finds that carries edits, pass by pass, until no pass changes anything.

    `judge` returns the findings of a tree that are neither suppressed nor accepted. A state that was there before
    means that two fixes undo each other: then nothing is changed, and the findings remain.
    """
    first = findings = judge(tree)
    total: dict[str, Change] = {}
    present: Tree = tree
    seen = {_state(total)}
    fewest, stalled = _wanting(findings), 0
    for passes in count():
        changes, refusals = plan_changes(present, [found.edits for found in findings if found.edits])
        if not changes:
            return Fixed(tuple(total.values()), findings, refusals, passes, settled=True)
        for change in changes:
            before = total[change.path].before if change.path in total else change.before
            total[change.path] = change._replace(before=before)
        total = {path: change for path, change in total.items() if change.before != change.after}
        present = Overlay(tree, tuple(total.values()))
        findings = judge(present)
        stalled = stalled + 1 if _wanting(findings) >= fewest else 0
        fewest = min(fewest, _wanting(findings))
        if _state(total) in seen or stalled > _PATIENCE:
            break
        seen.add(_state(total))
    return Fixed((), first, (), passes, settled=False)


def _wanting(findings: Sequence[Finding]) -> int:
    return sum(bool(found.edits) for found in findings)


def _state(changes: dict[str, Change]) -> tuple[Change, ...]:
    return tuple(sorted(changes.values()))
