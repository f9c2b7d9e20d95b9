"""Worktrees of our own: made for a rehearsal or a merge, gone afterwards, and swept up where a kill has left one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from tooling.git import journal
from tooling.git.command import QUIET, Git, failed
from tooling.git.state import Repo


def add(repo: Repo, git: Git, name: str, commit: str) -> Git:
    """A new worktree at a commit, and git in it: no hook of the user's runs there, and nothing is recorded."""
    quiet = git._replace(extra=(*git.extra, *QUIET))
    place = os.path.join(journal.worktrees(repo), name)
    done = quiet.attempt("worktree", "add", "--quiet", "--detach", place, commit)
    if done.status:
        raise failed("worktree add", done)
    return quiet._replace(folder=place)


def remove(git: Git, path: str) -> None:
    """Remove a worktree of ours with all that is in it, one too that git was killed in the making or removing of."""
    import shutil

    # Before git looks: it refuses what is half made, and asks nothing of a folder that is gone.
    shutil.rmtree(path, ignore_errors=True)
    # Forced twice, as one that is being made is locked.
    git.attempt("worktree", "remove", "--force", "--force", path)
    git.attempt("worktree", "prune")


def sweep(repo: Repo, git: Git) -> None:
    """Remove the worktrees that runs which were killed have left behind; call it under the lock."""
    for path in journal.stray_worktrees(repo):
        remove(git, path)


@contextmanager
def for_a_while(repo: Repo, git: Git, name: str, commit: str) -> Iterator[Git]:
    """Git in a worktree that is removed in the end, however that comes."""
    try:
        yield add(repo, git, name, commit)
    finally:
        remove(git, os.path.join(journal.worktrees(repo), name))
