"""Branches below the one that is rebased: those that point at a commit of it, so that they can move with it."""

from __future__ import annotations

from collections.abc import Iterator

from tooling.errors import Exit, UserError
from tooling.git.plan import Move, RefusedError, Step, Warned
from tooling.git.replay import Replay
from tooling.git.state import BACKUPS, HEADS, Repo
from tooling.git.text import several, shown

UPDATE_REFS = "--update-refs"
_SINCE = (2, 38)


def find_stacked(repo: Repo, replay: Replay) -> tuple[Move, ...]:
    """The branches at the commits that are replayed, the current one left aside, as moves that are still to come."""
    commits = {commit.oid for commit in replay.commits}
    heads = (ref for ref in repo.refs if ref.startswith(HEADS) and ref not in (repo.head.ref, *repo.symbolic))
    return tuple(Move(ref, repo.refs[ref]) for ref in heads if repo.refs[ref] in commits)


def check_stacked(repo: Repo, stacked: tuple[Move, ...]) -> None:
    """Refuse where git could not move them all: it would leave out, without a word, what another worktree holds."""
    if repo.version < _SINCE:
        found, needed = (".".join(map(str, version)) for version in (repo.version, _SINCE))
        raise UserError(
            f"{UPDATE_REFS} needs git {needed}, and this is {found}",
            hint="rebase without it, then each branch below by itself",
            exit=Exit.ENVIRONMENT,
        )
    places = ((move, repo.elsewhere(move.ref)) for move in stacked)
    held = [f"{move.ref.removeprefix(HEADS)} in {place}" for move, place in places if place]
    if held:
        raise RefusedError(
            "checked-out-elsewhere", "branches below are checked out in other worktrees", details=several(held)
        )


def keep_stacked(stacked: tuple[Move, ...], now: str) -> Iterator[Step]:
    """Keep each as it is now, beside the backup of the branch."""
    for move in stacked:
        name = move.ref.removeprefix(HEADS)
        yield Step("back-up", ("update-ref", f"{BACKUPS}{name}/{now}", move.old), f"keep {shown(name)} as it is now")


def warn_of_stacked(replay: Replay, stacked: tuple[Move, ...], *, moves: bool) -> Iterator[Warned]:
    """What to know of the branches below: that they stay behind, or that each still has to be pushed."""
    below = [move.ref.removeprefix(HEADS) for move in stacked if moves or move.old != replay.tip]
    if below and moves:
        yield Warned("stacked", f"these move too; push each from its own branch: {', '.join(several(below))}")
    elif below and not replay.merges:  # a branch that was merged in is not one to stand on
        yield Warned("stacked", f"these stay on the old commits; {UPDATE_REFS} moves them: {', '.join(several(below))}")
