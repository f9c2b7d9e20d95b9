"""Take a command back: branches, index and files become what they were before it, whatever state a kill has left.

Nothing is thrown away on the way: what the user changed since is copied first, and git's own guard stays in force
where the command had ended and the user may have gone on working.
"""

from __future__ import annotations

from typing import NamedTuple

from tooling.git import aside, edits, journal, lineends
from tooling.git.beside import check_lock, check_move_back, check_step_back, move_back_at
from tooling.git.command import Git
from tooling.git.journal import Entry, State
from tooling.git.plan import Move, Next, RefusedError
from tooling.git.read import read_repo
from tooling.git.ready import check_idle
from tooling.git.replay import differences
from tooling.git.rewind import rewind
from tooling.git.settle import in_progress
from tooling.git.state import BACKUPS, HEADS, Repo
from tooling.git.strays import drop_unchanged
from tooling.git.text import shown


class Restored(NamedTuple):
    """The entry as it is closed now, and the folder with copies of what was changed since, where something was."""

    entry: Entry
    kept: str = ""


def restore(repo: Repo, git: Git, entry: Entry, closed: State) -> Restored:
    """Bring everything back to where it was before the entry; `closed` is how the entry is closed."""
    if entry.state == "finished" or not in_progress(repo, entry):
        check_idle(repo)
    check_lock(repo, [move.ref for move in entry.moves])
    _check_moves(repo, git, entry)
    kept = ""
    own = next((move for move in entry.moves if move.ref == entry.ref and move.old), None)
    if own and (entry.state != "finished" or entry.edits):
        entry = journal.write(repo, entry._replace(state="undoing"))
        aside.set_aside(repo, entry, aside.in_place_of_edits(repo, entry))
        kept = rewind(repo, git, entry, own)
        edits.write(repo, git, entry.edits, edits.kept_files(repo, entry))
        git.attempt("update-index", "-q", "--refresh")
    elif own and repo.head.ref == entry.ref:
        entry = _step_back(repo, git, entry, own)
    kept = _move_others(repo, git, entry) or kept
    drop_unchanged(repo, git, entry)
    kept = aside.put_back(repo, entry) or kept
    entry = journal.write(repo, entry._replace(state=closed))
    lineends.let_go(repo)
    return Restored(entry, kept)


def _step_back(repo: Repo, git: Git, entry: Entry, move: Move) -> Entry:
    """Move a branch back under work that went on: what is not committed stays, or git refuses and nothing changes."""
    check_step_back(repo, git, move)
    now = edits.copy(repo, git, repo.edits, edits.kept_files(repo, entry))
    # From here on the edits of now belong to the entry: should we be killed, the next try gives them back.
    entry = journal.write(repo, entry._replace(state="undoing", edits=now))
    moved = [change.path for change in differences(git, repo.head.oid, move.old)]
    git.ask("read-tree", "-m", "-u", repo.head.oid, move.old)
    edits.write_anew(git, moved, [edit.path for edit in now])
    git.ask("update-ref", "-m", "mergeready: undo", move.ref, move.old, repo.head.oid)
    git.attempt("update-index", "-q", "--refresh")
    return entry


def _check_moves(repo: Repo, git: Git, entry: Entry) -> None:
    """Refuse where a branch has moved since the command ended, so that nothing made in the meantime is dropped.

    Also where it could not be moved back in another worktree that has it checked out: all goes back, or nothing.
    """
    if entry.state != "finished":
        return
    for move in entry.moves:
        if repo.refs.get(move.ref, "") not in (move.new or move.old, move.old):
            ways = [Next("see what it was before", ("git", "log", entry.backup))] if entry.backup else []
            raise _moved_since(move.ref, *ways)
        if move.old and (place := repo.elsewhere(move.ref)):
            check_move_back(place, git, move)
    if entry.holds_work and entry.ref and repo.head.ref != entry.ref:
        name = entry.ref.removeprefix(HEADS)
        raise RefusedError(
            "elsewhere",
            "that run put work of yours away on another branch",
            next=[Next("go there", ("git", "switch", name))],
        )


def _move_others(repo: Repo, git: Git, entry: Entry) -> str:
    """Move back what is not back yet, also where another worktree has it checked out by now."""
    repo = read_repo(repo.root) if entry.moves else repo
    kept = ""
    for move in reversed(entry.moves):
        place = repo.root if repo.head.ref == move.ref else repo.elsewhere(move.ref)
        if not place or not move.old:
            _move_back(git, entry, move)
        elif move.ref != entry.ref or repo.refs.get(move.ref) != move.old:
            kept = move_back_at(place, git, entry, move) or kept
    return kept


def _move_back(git: Git, entry: Entry, move: Move) -> None:
    now = git.line("rev-parse", "--verify", "--quiet", move.ref)
    if now == move.old:
        return
    known = move.new not in ("", move.old)
    if known and now != move.new:
        raise _moved_since(move.ref)
    if not known and now:
        # It was cut off before it could write down where the branch went: whatever that is, it stays to be found.
        name = move.ref.removeprefix(HEADS)
        git.ask("update-ref", f"{BACKUPS}{name}/{journal.stamp()}", now)
    back = ("update-ref", "-m", "mergeready: undo", move.ref, move.old, now)
    git.ask(*(back if move.old else ("update-ref", "-d", move.ref, now)))


def _moved_since(ref: str, *ways: Next) -> RefusedError:
    name = shown(ref.removeprefix(HEADS))
    return RefusedError("moved-since", f"{name} has moved since; to take it back would drop what was added", next=ways)
