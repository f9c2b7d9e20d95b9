"""What was begun: written under the git folder that all worktrees share before anything moves, closed when it is done.

An entry outlives our process, a kill and a power cut: the next run reads it and knows what to go on with or take back.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple, TextIO

from tooling.errors import Exit, UserError
from tooling.git.plan import Move, Plan, Pushed, RefusedError, Step
from tooling.git.state import Repo

State = Literal["running", "stopped", "finished", "undoing", "undone", "abandoned"]
OPEN = ("running", "stopped", "undoing")
KEPT = 50
"""Entries of commands that ended and are kept for `undo`; older ones go when a new one is written."""


class Edit(NamedTuple):
    """A path that was not committed: its lines of `git ls-files --stage`, and whether a copy of the file was kept."""

    path: str
    staged: tuple[str, ...]
    kept: bool


class Entry(NamedTuple):
    """One run of a command: what it moves, what it has done so far, and what it put away."""

    id: str
    command: str
    worktree: str
    state: State
    ref: str
    moves: tuple[Move, ...]
    steps: tuple[Step, ...]
    backup: str
    onto: str = ""
    done: int = 0
    edits: tuple[Edit, ...] = ()
    stash: str = ""
    conflicted: tuple[str, ...] = ()
    pushed: tuple[Pushed, ...] = ()
    squash: tuple[str, ...] = ()
    """Where and how a squashed sync goes on once its conflicts are resolved."""

    @property
    def old(self) -> str:
        """The tip that the branch had before."""
        return next((move.old for move in self.moves if move.ref == self.ref), "")

    @property
    def remaining(self) -> tuple[Step, ...]:
        """The steps that have not been done."""
        return self.steps[self.done :]


def folder(repo: Repo) -> Path:
    """Where the entries are."""
    return Path(repo.common_dir) / "mergeready" / "journal"


def stamp() -> str:
    """A name for now that sorts by time, down to the microsecond so that two runs never share it."""
    now = time.time_ns()
    return time.strftime("%Y%m%dT%H%M%S", time.gmtime(now // 1_000_000_000)) + f".{now // 1000 % 1_000_000:06d}Z"


def begin(repo: Repo, plan: Plan, edits: tuple[Edit, ...] = (), stash: str = "") -> Entry:
    """The entry of a plan that is about to run, not yet written."""
    name = plan.backup.rpartition("/")[2] or stamp()
    return Entry(
        id=name,
        command=plan.command,
        worktree=repo.git_dir,
        state="running",
        ref=repo.head.ref,
        moves=plan.moves,
        steps=plan.steps,
        backup=plan.backup,
        onto=plan.onto,
        edits=edits,
        stash=stash,
    )


def write(repo: Repo, entry: Entry) -> Entry:
    """Store an entry so that it is there whole or not at all; return it."""
    place = folder(repo) / entry.id
    try:
        place.mkdir(parents=True, exist_ok=True)
        draft = place / "entry.draft"
        with draft.open("w", encoding="ascii") as file:
            json.dump(entry._asdict(), file)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(place / "entry.json")
    except OSError as error:
        raise UserError(f"cannot write {place}: {error.strerror}", exit=Exit.ENVIRONMENT) from error
    return entry


def entries(repo: Repo) -> tuple[Entry, ...]:
    """All entries of this worktree, newest first; files that hold no entry are passed over."""
    return tuple(entry for entry in _all_entries(repo) if entry.worktree == repo.git_dir)


def worktrees(repo: Repo) -> Path:
    """Where we keep worktrees of our own."""
    return folder(repo).parent / "worktrees"


def stray_worktrees(repo: Repo) -> list[Path]:
    """Worktrees of ours that a run has left behind when it was killed: no open entry waits for them."""
    there = list(worktrees(repo).iterdir()) if worktrees(repo).is_dir() else []
    wanted = (
        {entry.squash[0] for entry in _all_entries(repo) if entry.state in OPEN and entry.squash} if there else set()
    )
    return [path for path in there if str(path) not in wanted]


def _all_entries(repo: Repo) -> Iterator[Entry]:
    for place in sorted(folder(repo).glob("*/entry.json"), reverse=True):
        try:
            yield _entry(json.loads(place.read_bytes()))
        except (OSError, ValueError, TypeError, KeyError):  # a file that somebody else put there, or half removed
            continue


def open_entry(repo: Repo) -> Entry | None:
    """The command that was begun in this worktree and has not ended."""
    return next((entry for entry in entries(repo) if entry.state in OPEN), None)


def prune(repo: Repo) -> None:
    """Forget the oldest ended entries of this worktree, with the files that they kept; the backup refs stay."""
    import shutil

    ended = [entry for entry in entries(repo) if entry.state not in OPEN]
    for entry in ended[KEPT:]:
        shutil.rmtree(folder(repo) / entry.id, ignore_errors=True)


def busy(repo: Repo) -> str:
    """Who is at work in this repository now, or nothing."""
    try:
        with only_one(repo, "status", patience=0):
            return ""
    except RefusedError as error:
        return str(error)


@contextmanager
def only_one(repo: Repo, command: str, *, patience: float = 2.0) -> Iterator[tuple[int]]:
    """Hold the lock of this repository; RefusedError where another run holds it for `patience` seconds and longer.

    It ends with the process. Yields the lock, for those that we start and that should hold it too.
    """
    place = folder(repo).parent
    try:
        place.mkdir(parents=True, exist_ok=True)
        file = (place / "lock").open("a+", encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot write {place}: {error.strerror}", exit=Exit.ENVIRONMENT) from error
    with file:
        deadline = time.monotonic() + patience
        while not _lock(file):
            if time.monotonic() >= deadline:
                file.seek(0)
                raise RefusedError("busy", f"another run is at work here: {file.read().strip()}")
            time.sleep(0.05)
        file.truncate(0)
        file.write(f"mergeready {command}, process {os.getpid()}\n")
        file.flush()
        yield (file.fileno(),)


def _lock(file: TextIO) -> bool:
    """Take the lock of an open file, if nobody has it."""
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _entry(fields: dict[str, Any]) -> Entry:
    """An entry from its JSON, with tuples where JSON has lists."""
    return Entry(
        **{
            **fields,
            "moves": tuple(Move(*move) for move in fields["moves"]),
            "steps": tuple(Step(action, tuple(argv), why) for action, argv, why in fields["steps"]),
            "edits": tuple(Edit(path, tuple(staged), kept) for path, staged, kept in fields["edits"]),
            "conflicted": tuple(fields["conflicted"]),
            "squash": tuple(fields["squash"]),
            "pushed": tuple(Pushed(*push) for push in fields["pushed"]),
        }
    )
