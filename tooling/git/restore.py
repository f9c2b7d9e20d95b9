"""Take a command back: branch, index and files become what they were before it, whatever state a kill has left.

Nothing is thrown away on the way: what the user changed since is copied first, and git's own guard stays in force
where the command had ended and the user may have gone on working.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tooling.git import edits, journal, parse
from tooling.git.command import Git, failed
from tooling.git.journal import Entry, State
from tooling.git.plan import Next, RefusedError
from tooling.git.read import read_operation
from tooling.git.state import Repo
from tooling.git.text import several, shown


class Restored(NamedTuple):
    """The entry as it is closed now, and the folder with copies of what was changed since, where something was."""

    entry: Entry
    kept: str = ""


def restore(repo: Repo, git: Git, entry: Entry, closed: State) -> Restored:
    """Bring everything back to where it was before the entry; `closed` is how the entry is closed."""
    _check_lock(repo)
    if entry.ref in {move.ref for move in entry.moves} and entry.old:
        return _restore_branch(repo, git, entry, closed)
    for move in reversed(entry.moves):
        _move_back(git, move.ref, move.old, move.new)
    return Restored(journal.write(repo, entry._replace(state=closed)))


def _restore_branch(repo: Repo, git: Git, entry: Entry, closed: State) -> Restored:
    _check_branch(repo, entry)
    if entry.state == "finished" and repo.head.ref != entry.ref:
        _move_back(git, entry.ref, entry.old, repo.refs.get(entry.ref, ""))
        return Restored(journal.write(repo, entry._replace(state=closed)))
    if entry.state == "finished" and not entry.edits:
        return _step_back(repo, git, entry, closed)
    entry = journal.write(repo, entry._replace(state="undoing"))
    passing = _passing_paths(git, entry, repo.head.oid)
    kept = _keep(repo, git, entry, passing)
    _end_rebase(repo, git)
    before = set(parse.records(git.ask("ls-tree", "-r", "--name-only", "-z", entry.old)))
    for path in passing - before:
        edits.remove(Path(repo.root, path))
    git.ask("read-tree", "--reset", "-u", entry.old)
    git.ask("symbolic-ref", "-m", "mergeready: restore", "HEAD", entry.ref)
    git.ask("update-ref", "-m", "mergeready: restore", entry.ref, entry.old)
    edits.write(repo, git, entry.edits, edits.kept_files(repo, entry))
    git.attempt("update-index", "-q", "--refresh")
    return Restored(journal.write(repo, entry._replace(state=closed)), kept)


def _step_back(repo: Repo, git: Git, entry: Entry, closed: State) -> Restored:
    """Move a branch back under work that went on: what is not committed stays, or git refuses and nothing changes."""
    now = edits.copy(repo, git, repo.edits, edits.kept_files(repo, entry))
    done = git.attempt("read-tree", "-m", "-u", "--dry-run", repo.head.oid, entry.old)
    if done.status:
        raise RefusedError(
            "overlap",
            "files that you have changed since would have to change back",
            details=several(sorted(edits.changed_paths(git, repo.head.oid, entry.old, [edit.path for edit in now]))),
            next=[Next("commit or stash them, then", ("mergeready", "undo"))],
        )
    # From here on the edits of now belong to the entry: should we be killed, the next try gives them back.
    entry = journal.write(repo, entry._replace(state="undoing", edits=now))
    git.ask("read-tree", "-m", "-u", repo.head.oid, entry.old)
    git.ask("update-ref", "-m", "mergeready: undo", entry.ref, entry.old, repo.head.oid)
    git.attempt("update-index", "-q", "--refresh")
    return Restored(journal.write(repo, entry._replace(state=closed)))


def _check_branch(repo: Repo, entry: Entry) -> None:
    """Refuse where the branch has moved since, so that nothing made in the meantime is dropped."""
    known = {move.new or move.old for move in entry.moves if move.ref == entry.ref} | {entry.old}
    now = repo.refs.get(entry.ref, "")
    if entry.state == "finished" and now not in known:
        raise _moved_since(entry.ref, Next("see what it was before", ("git", "log", entry.backup)))
    if entry.state == "finished" and entry.edits and repo.head.ref != entry.ref:
        name = entry.ref.removeprefix("refs/heads/")
        raise RefusedError(
            "elsewhere", "that run put edits away on another branch", next=[Next("go there", ("git", "switch", name))]
        )


def _moved_since(ref: str, *ways: Next) -> RefusedError:
    name = shown(ref.removeprefix("refs/heads/"))
    return RefusedError("moved-since", f"{name} has moved since; to take it back would drop what was added", next=ways)


def _check_lock(repo: Repo) -> None:
    for path in (Path(repo.git_dir, "index.lock"), Path(repo.git_dir, "HEAD.lock")):
        if path.exists():
            raise RefusedError(
                "locked",
                f"{shown(str(path))} is there: another git is at work, or was killed",
                next=[Next("if none is at work, remove it", ("rm", str(path)))],
            )


def _move_back(git: Git, ref: str, old: str, new: str) -> None:
    now = git.line("rev-parse", "--verify", "--quiet", ref)
    if now == old:
        return
    if now != new:
        raise _moved_since(ref)
    git.ask(*(("update-ref", "-m", "mergeready: undo", ref, old, now) if old else ("update-ref", "-d", ref, now)))


def _end_rebase(repo: Repo, git: Git) -> None:
    """End git's rebase, also one that was killed before it had written down how to."""
    operation = read_operation(repo.git_dir)
    if operation is None or operation.kind != "rebase":
        return
    if git.attempt("rebase", "--abort").status:
        done = git.attempt("rebase", "--quit")
        if done.status:
            raise failed("rebase --quit", done)


def _passing_paths(git: Git, entry: Entry, head: str) -> set[str]:
    """All paths that the command may have written: where trees differ, and what commits add only to delete it later.

    None of them held an untracked file when the command began: that is refused.
    """
    paths: set[str] = set()
    names = ("--name-only", "-z", "--no-renames")
    targets = {step.argv[-2] for step in entry.steps if step.action == "rebase"}
    for other in {head, entry.onto, *targets, *(move.new for move in entry.moves)} - {"", entry.old}:
        paths.update(parse.records(git.ask("diff-tree", "-r", *names, entry.old, other)))
    if entry.onto:
        log = ("log", "--format=", *names, "--diff-filter=A", f"{entry.onto}..{entry.old}")
        paths.update(parse.records(git.ask(*log)))
    return paths


def _keep(repo: Repo, git: Git, entry: Entry, passing: set[str]) -> str:
    """Copy what differs from all that git or the entry knows; return the folder, or nothing where nothing does."""
    import shutil

    place = Path(journal.place_of(repo, entry.id), "kept", journal.stamp())
    dirty = {change.path for change in repo.edits}
    known = set(_known_blobs(git, entry, repo.head.oid))
    for path in sorted(dirty | passing):
        source = Path(repo.root, path)
        copied = edits.kept_files(repo, entry) / path
        if source.is_symlink() or not source.is_file() or _blob(source, len(entry.old)) in known:
            continue
        if copied.is_file() and copied.read_bytes() == source.read_bytes():
            continue
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, place / path)
    return str(place) if place.exists() else ""


def _known_blobs(git: Git, entry: Entry, head: str) -> Iterator[str]:
    for tree in {entry.old, entry.onto, head} - {""}:
        for record in parse.records(git.ask("ls-tree", "-r", "-z", tree)):
            yield record.partition("\t")[0].split(" ")[2]


def _blob(path: Path, width: int) -> str:
    """The object id that git gives a file's bytes."""
    import hashlib

    content = path.read_bytes()
    digest = hashlib.sha1 if width == 40 else hashlib.sha256  # the hash is git's, by the width of its ids
    return digest(b"blob %d\0" % os.path.getsize(path) + content).hexdigest()
