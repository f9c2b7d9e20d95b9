"""A branch that another worktree has checked out: whether it may move there, and how it is moved back."""

from __future__ import annotations

import os
from collections.abc import Iterable

from tooling.errors import UserError
from tooling.git import edits, journal
from tooling.git.command import Git, locked
from tooling.git.journal import Entry
from tooling.git.obstacles import in_the_way, read_unfit
from tooling.git.plan import Move, Next, RefusedError
from tooling.git.read import read_repo
from tooling.git.replay import differences
from tooling.git.rewind import rewind
from tooling.git.state import Repo
from tooling.git.text import several, shown


def free_to_move(repo: Repo, git: Git, ref: str, new: str) -> bool:
    """Whether the one other worktree that has a branch checked out holds nothing that a fast-forward would touch."""
    place = repo.elsewhere(ref)
    if not place or repo.head.ref == ref or [tree.ref for tree in repo.worktrees].count(ref) > 1:
        return False
    try:
        there = read_repo(place)
    except UserError:  # its folder is gone, or somebody else's
        return False
    if there.operation or there.edits:
        return False
    git = git._replace(folder=there.root)
    added = [change.path for change in differences(git, there.head.oid, new) if change.status == "A"]
    return not list(in_the_way(there, git, added)) and not read_unfit(there, git, added, new)


def check_move_back(place: str, git: Git, move: Move) -> None:
    """Refuse where a branch could not be moved back in the worktree that has it checked out; nothing is changed."""
    there = read_repo(place)
    _check_quiet(there)
    if there.head.oid != move.old:
        check_step_back(there, git._replace(folder=place), move)


def move_back_at(place: str, git: Git, entry: Entry, move: Move) -> str:
    """Move a branch back where it is checked out; the folder with copies of what was changed since, or nothing.

    What is not committed there stays; RefusedError where it would have to change.
    """
    there, git = read_repo(place), git._replace(folder=place)
    _check_quiet(there)
    if not _has_begun(entry, move) or (entry.state == "finished" and (there.edits or there.head.oid == move.old)):
        _step_back(there, git, move)
        return ""
    entry = journal.write(there, entry._replace(state="undoing"))
    return rewind(there, git, entry._replace(edits=()), move)


def check_step_back(repo: Repo, git: Git, move: Move) -> None:
    """Refuse where files that are not committed would have to change."""
    done = git.attempt("read-tree", "-m", "-u", "--dry-run", repo.head.oid, move.old)
    if done.status:
        differing = {change.path for change in differences(git, repo.head.oid, move.old)}
        raise RefusedError(
            "overlap",
            "files that you have changed since would have to change back",
            details=several(sorted(differing.intersection(change.path for change in repo.changes))),
            next=[Next("commit or stash them, then", ("mergeready", "undo"))],
        )


def check_lock(repo: Repo, refs: Iterable[str] = ()) -> None:
    """Refuse where a worktree, or one of the refs, is locked by another git, or by one that was killed."""
    names = ("index", "HEAD", "ORIG_HEAD", "REBASE_HEAD")
    paths = [os.path.join(repo.git_dir, name) for name in names]
    paths += [os.path.join(repo.common_dir, name) for name in ("packed-refs", *refs)]
    for path in paths:
        if os.path.exists(f"{path}.lock"):
            raise locked(f"{path}.lock")


def _step_back(repo: Repo, git: Git, move: Move) -> None:
    """Move the branch that is checked out back under work that went on; RefusedError where git would overwrite it."""
    now = repo.head.oid
    if now == move.old:
        return
    check_step_back(repo, git, move)
    moved = [change.path for change in differences(git, now, move.old)]
    git.ask("read-tree", "-m", "-u", now, move.old)
    edits.write_anew(git, moved, [change.path for change in repo.edits])
    git.ask("update-ref", "-m", "mergeready: undo", move.ref, move.old, now)
    git.attempt("update-index", "-q", "--refresh")


def _check_quiet(there: Repo) -> None:
    check_lock(there)
    if there.operation:
        raise RefusedError(
            "in-progress",
            f"{there.operation.name} is in progress in {shown(there.root)}",
            next=[Next("end it", ("git", "-C", there.root, *argv[1:])) for argv in there.operation.ways_out],
        )


def _has_begun(entry: Entry, move: Move) -> bool:
    """Whether the branch may have moved: its step was reached where it has one of its own in another worktree."""
    own = [number for number, step in enumerate(entry.steps) if step.argv[0] == "-C" and step.argv[-1] == move.new]
    return not own or own[0] <= entry.done
