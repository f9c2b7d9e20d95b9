"""Make a branch, its index and its files what they were before a command, whatever state a kill has left.

What the user has changed since is copied first. Nothing else is spared: call it where a command was cut off, or on a
worktree that had nothing uncommitted.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from tooling.git import aside, edits, journal, parse
from tooling.git.blob import content_of, id_of
from tooling.git.command import Git, failed
from tooling.git.folders import files_on_the_way
from tooling.git.journal import Entry
from tooling.git.plan import Move
from tooling.git.read import read_operation
from tooling.git.state import Repo
from tooling.git.strays import left_behind


def rewind(repo: Repo, git: Git, entry: Entry, move: Move) -> str:
    """Check out what a branch was before it moved; the folder with what was changed since, where something was."""
    passing = _passing_paths(git, entry, move, repo.head.oid)
    strays = left_behind(git, entry)
    edited = {edit.path for edit in entry.edits}
    kept = _keep(repo, git, entry, move, passing | strays | edited)
    _end_rebase(repo, git)
    before = set(parse.records(git.ask("ls-tree", "-r", "--name-only", "-z", move.old)))
    for path in strays | passing - before - aside.still_there(repo, entry):
        edits.remove(repo, path)
    for path in _standing(repo, edited):
        edits.remove(repo, path)
    git.ask("read-tree", "--reset", "-u", move.old)
    edits.write_anew(git, passing)
    git.ask("symbolic-ref", "-m", "mergeready: restore", "HEAD", move.ref)
    git.ask("update-ref", "-m", "mergeready: restore", move.ref, move.old)
    return kept


def _passing_paths(git: Git, entry: Entry, move: Move, head: str) -> set[str]:
    """All paths that the command may have written: where trees differ, and what commits add only to delete it later.

    None of them held an untracked file when the command began: that is refused, or the file was put aside.
    """
    paths: set[str] = set()
    names = ("--name-only", "-z", "--no-renames")
    targets = {step.argv[-2] for step in entry.steps if step.action == "rebase"}
    for other in {head, entry.onto, *targets, move.new} - {"", move.old}:
        paths.update(parse.records(git.ask("diff-tree", "-r", *names, move.old, other)))
    if entry.onto:
        log = ("log", "--format=", *names, "--diff-filter=A", f"{entry.onto}..{move.old}")
        paths.update(parse.records(git.ask(*log)))
    return paths


def _keep(repo: Repo, git: Git, entry: Entry, move: Move, passing: set[str]) -> str:
    """Copy what differs from all that git or the entry knows; return the folder, or nothing where nothing does."""
    import shutil

    place = Path(journal.place_of(repo, entry.id), "kept", journal.stamp())
    dirty = {change.path for change in repo.edits}
    replayed = git.line("rev-parse", "--verify", "--quiet", "REBASE_HEAD")
    known = set(_known_blobs(git, {move.old, entry.onto, repo.head.oid, entry.stash, replayed}))
    for path in sorted(_standing(repo, dirty | passing) - aside.still_there(repo, entry)):
        content = content_of(Path(repo.root, path))
        if content is None or id_of(content, len(move.old)) in known:
            continue
        if content == content_of(edits.kept_files(repo, entry) / path):
            continue
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(Path(repo.root, path), place / path, follow_symlinks=False)
    return str(place) if place.exists() else ""


def _standing(repo: Repo, paths: Iterable[str]) -> set[str]:
    """What stands at these paths, and above or below them where a file has become a folder or the other way round."""
    own = (path for path in paths if not os.path.lexists(os.path.join(repo.root, path, ".git")))
    return {file for path in own for file in files_on_the_way(repo.root, path)}


def _known_blobs(git: Git, commits: set[str]) -> Iterator[str]:
    for commit in commits - {""}:
        for record in parse.records(git.ask("ls-tree", "-r", "-z", commit)):
            yield record.partition("\t")[0].split(" ")[2]


def _end_rebase(repo: Repo, git: Git) -> None:
    """End git's rebase, also one that was killed before it had written down how to."""
    operation = read_operation(repo.git_dir)
    if operation is None or operation.kind != "rebase":
        return
    if git.attempt("rebase", "--abort").status:
        done = git.attempt("rebase", "--quit")
        if done.status:
            raise failed("rebase --quit", done)
