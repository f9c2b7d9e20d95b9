"""Notice where plain git has gone on with a run of ours in the meantime, and close what has ended."""

from __future__ import annotations

import os
from typing import Literal

from tooling.git import journal
from tooling.git.command import Git
from tooling.git.journal import Entry
from tooling.git.state import Repo


def settle(repo: Repo, git: Git) -> Entry | None:
    """The run that has not ended, once one that plain git has ended is closed; call it under the lock."""
    if journal.stray_worktrees(repo):
        from tooling.git import worktree

        worktree.sweep(repo, git)
    entry = _settled(repo, git, journal.open_entry(repo))
    if os.path.exists(os.path.join(repo.common_dir, "info", "attributes")):
        from tooling.git import lineends

        lineends.let_go(repo)
    return entry


def in_progress(repo: Repo, entry: Entry) -> bool:
    """Whether the rebase that git has in progress here is the one of this entry."""
    operation = repo.operation
    return operation is not None and operation.kind == "rebase" and operation.ref in ("", entry.ref)


def cut_off(repo: Repo, entry: Entry) -> bool:
    """Whether git was killed in the middle of a rebase of this entry, rather than stopped to wait for somebody.

    To go on from there would drop the commit that it was at without a word: it is off git's list, and not committed.
    """
    stopped = os.path.exists(os.path.join(repo.git_dir, "rebase-merge", "stopped-sha"))
    return entry.state == "running" and in_progress(repo, entry) and not stopped


def by_hand(repo: Repo, git: Git, entry: Entry) -> Literal["aborted", "finished", ""]:
    """What became of a rebase that is no longer in progress, as far as the branch tells."""
    steps = [step for step in entry.remaining if step.action == "rebase"]
    if not steps or repo.head.ref != entry.ref or steps[0] != entry.remaining[0]:
        return "aborted" if repo.refs.get(entry.ref) == entry.old and not entry.holds_work else ""
    onto = steps[0].argv[-2]
    if git.attempt("merge-base", "--is-ancestor", onto, repo.head.oid).status == 0:
        return "finished"
    return "aborted" if repo.head.oid == entry.old else ""


def _settled(repo: Repo, git: Git, entry: Entry | None) -> Entry | None:
    if entry is None or entry.command != "rebase" or entry.state == "undoing" or in_progress(repo, entry):
        return entry
    moved = by_hand(repo, git, entry)
    if moved == "aborted" and not entry.holds_work:
        journal.write(repo, entry._replace(state="abandoned"))
        return None
    if moved == "finished" and len(entry.remaining) == 1:
        moves = tuple(move._replace(new=repo.refs.get(move.ref, "")) for move in entry.moves)
        journal.write(repo, entry._replace(state="finished", done=len(entry.steps), moves=moves))
        return None
    return entry
