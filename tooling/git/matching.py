"""Which commit became which in a rebase: an author and a date survive it, so they pair the old with the new."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from typing import NamedTuple

from tooling.git.state import Commit


class Matched(NamedTuple):
    """Commits that were replayed, as pairs of old and new, those that were dropped, and new ones of the user's."""

    kept: tuple[tuple[Commit, Commit], ...]
    dropped: tuple[Commit, ...]
    made: tuple[Commit, ...] = ()


def match(old: Sequence[Commit], new: Sequence[Commit]) -> Matched:
    """Pair commits by author, date and message, then, where a message was edited on the way, by author and date."""
    left = deque(new)
    kept: dict[str, Commit] = {}
    for key in (_exact, _loose):
        waiting: dict[tuple[str, ...], deque[Commit]] = defaultdict(deque)
        for commit in left:
            waiting[key(commit)].append(commit)
        for commit in old:
            if commit.oid not in kept and (found := waiting.get(key(commit))):
                kept[commit.oid] = found.popleft()
        taken = {commit.oid for commit in kept.values()}
        left = deque(commit for commit in left if commit.oid not in taken)
    return Matched(
        tuple((commit, kept[commit.oid]) for commit in old if commit.oid in kept),
        tuple(commit for commit in old if commit.oid not in kept),
        tuple(left),
    )


def _exact(commit: Commit) -> tuple[str, ...]:
    return commit.author, commit.date, commit.message


def _loose(commit: Commit) -> tuple[str, ...]:
    return commit.author, commit.date
