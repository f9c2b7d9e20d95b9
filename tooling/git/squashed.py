"""The second half of a squashed sync: the commit and its branch, also after the user has resolved a conflict."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tooling.errors import Exit
from tooling.git import journal, worktree
from tooling.git.command import Git
from tooling.git.conflicts import marked
from tooling.git.draft import Draft, plan_squash
from tooling.git.execute import Way, execute
from tooling.git.journal import Entry
from tooling.git.outcome import Outcome, planned
from tooling.git.plan import Next, Plan, RefusedError
from tooling.git.references import Style
from tooling.git.squash import Merged, check_message, commit_tree, resolved_tree
from tooling.git.state import Repo
from tooling.git.synced import push_of_sync, sync_outcome
from tooling.git.text import several, shown

Tell = Callable[[str], None]


def finish_squash(repo: Repo, git: Git, draft: Draft, tree: str, tell: Tell, *, dry_run: bool = False) -> Outcome:
    """Commit a merged tree on the fork's main branch, check what the commit says, and give it a branch."""
    if tree == git.line("rev-parse", f"{draft.old}^{{tree}}"):
        return Outcome("sync", "nothing to do", Exit.DONE, "the fork has all of it already: no commit is needed")
    message = draft.message.encode("utf-8", "surrogateescape")
    commit = commit_tree(repo, git, tree, (draft.old,), message)
    check_message(git, commit, Style())
    record = commit_tree(repo, git, tree, (commit, draft.new), b"what a squashed sync brought\n")
    plan = plan_squash(draft, commit, record)
    suggestions = (f"suggested title: {shown(draft.title)}", f"suggested body: {shown(draft.body)}")
    if dry_run:
        return planned(plan, lines=suggestions)
    entry = journal.write(repo, journal.begin(repo, plan)._replace(id=draft.id))
    way = Way(repo, git, lambda now, step: push_of_sync(repo, git, now, step))
    outcome = sync_outcome(repo, plan, execute(way, entry, tell))
    later = () if draft.push else (Next("push it", ("git", "push", draft.fork, f"{draft.ref}:{draft.ref}")),)
    return outcome._replace(lines=(*suggestions, *outcome.lines), next=(*later, *outcome.next))


def stopped_squash(repo: Repo, git: Git, draft: Draft, merged: Merged, *, dry_run: bool = False) -> Outcome:
    """Leave the worktree for the user to resolve, and write down how to go on; a dry run only tells."""
    plan = Plan("sync", f"{draft.title}: one commit on {shown(draft.branch)}")
    if dry_run:
        worktree.remove(git, merged.worktree)
        found = (f"{shown(conflict.path)}: {conflict.kind}" for conflict in merged.conflicts)
        lines = ("it would stop, as upstream conflicts with what the fork has of its own", *found)
        return planned(plan, lines=lines, conflicts=merged.conflicts)._replace(status="planned")
    conflicted = tuple(conflict.path for conflict in merged.conflicts)
    entry = journal.begin(repo, plan)._replace(id=draft.id, state="stopped", conflicted=conflicted)
    journal.write(repo, entry._replace(squash=(merged.worktree, *draft)))
    return _stopped(merged)


def continue_squash(repo: Repo, git: Git, entry: Entry, tell: Tell, *, dry_run: bool = False) -> Outcome:
    """Go on once the conflicts of a squashed sync are resolved in its worktree; a dry run only tells."""
    place, *fields = entry.squash
    draft = Draft(*fields)
    merged = resolved_tree(git, place)
    if merged.conflicts:
        return _stopped(merged)
    if left := marked(place, entry.conflicted):
        raise RefusedError(
            "markers", "there are conflict markers in files that were in conflict", details=several(left)
        )
    outcome = finish_squash(repo, git, draft, merged.tree, tell, dry_run=dry_run)
    if dry_run:
        return outcome
    if outcome.status == "nothing to do":
        journal.write(repo, entry._replace(state="abandoned"))
    worktree.remove(git, place)
    return outcome


def abandon_squash(repo: Repo, git: Git, entry: Entry, *, dry_run: bool = False) -> Outcome:
    """Drop the worktree of a squashed sync; what was being resolved there is copied first. A dry run only tells."""
    import shutil

    place = Path(entry.squash[0])
    if dry_run:
        return Outcome("abort", "planned", Exit.DONE, f"would give up the sync, and drop {shown(str(place))}")
    kept = Path(journal.place_of(repo, entry.id), "kept")
    for path in entry.conflicted:
        if (place / path).is_file() and not (place / path).is_symlink():
            (kept / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(place / path, kept / path)
    worktree.remove(git, str(place))
    journal.write(repo, entry._replace(state="abandoned"))
    return Outcome(
        "abort", "done", Exit.DONE, "the sync is given up; nothing else was changed", (f"copies: {shown(str(kept))}",)
    )


def _stopped(merged: Merged) -> Outcome:
    return Outcome(
        command="sync",
        status="stopped",
        exit=Exit.STOPPED,
        summary=f"upstream conflicts with what the fork has of its own; resolve it in {shown(merged.worktree)}",
        conflicts=merged.conflicts,
        next=(
            Next("resolve the files there and add them", ("git", "-C", merged.worktree, "status")),
            Next("then", ("mergeready", "continue")),
            Next("or give it up", ("mergeready", "abort")),
        ),
    )
