"""What was begun: written under the git folder that all worktrees share before anything moves, closed when it is done.

An entry outlives our process, a kill and a power cut: the next run reads it and knows what to go on with or take back.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Literal, NamedTuple

from tooling.errors import Exit, UserError
from tooling.git.folders import files_below
from tooling.git.plan import Move, Plan, Pushed, Step
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
    beside: tuple[str, ...] | None = None
    """Files of the user's that git could have named in a conflict; None where git takes away all that it names."""

    @property
    def old(self) -> str:
        """The tip that the branch had before."""
        return next((move.old for move in self.moves if move.ref == self.ref), "")

    @property
    def aside(self) -> tuple[str, ...]:
        """Files that git does not track and that are put out of upstream's way."""
        steps = (step.argv for step in self.steps if step.action == "set-aside")
        return next((argv[argv.index("--") + 1 :] for argv in steps), ())

    @property
    def holds_work(self) -> bool:
        """Whether it puts away what no commit holds."""
        return bool(self.edits or self.aside)

    @property
    def remaining(self) -> tuple[Step, ...]:
        """The steps that have not been done."""
        return self.steps[self.done :]


def home(repo: Repo) -> str:
    """Our own folder, under the git folder that all worktrees share."""
    return os.path.join(repo.common_dir, "mergeready")


def place_of(repo: Repo, name: str) -> str:
    """The folder of an entry and of the files that it keeps."""
    return os.path.join(home(repo), "journal", name)


def aside_folder(repo: Repo, entry: Entry) -> str:
    """Where an entry keeps the files that it put out of the way, each under its own path."""
    return os.path.join(place_of(repo, entry.id), "aside")


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
        worktree=_worktree(repo),
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
    import json

    place = place_of(repo, entry.id)
    draft, final = os.path.join(place, "entry.draft"), os.path.join(place, "entry.json")
    try:
        os.makedirs(place, exist_ok=True)
        with open(draft, "w", encoding="ascii") as file:
            json.dump(entry._asdict(), file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, final)
    except OSError as error:
        raise UserError(f"cannot write {place}: {error.strerror}", exit=Exit.ENVIRONMENT) from error
    return entry


def entries(repo: Repo) -> tuple[Entry, ...]:
    """All entries of this worktree, newest first; files that hold no entry are passed over."""
    return tuple(entry for entry in _all_entries(repo) if entry.worktree == _worktree(repo))


def worktrees(repo: Repo) -> str:
    """Where we keep worktrees of our own."""
    return os.path.join(home(repo), "worktrees")


def stray_worktrees(repo: Repo) -> list[str]:
    """Worktrees of ours that a run has left behind when it was killed: no open entry waits for them."""
    there = [os.path.join(worktrees(repo), name) for name in sorted({*_names(worktrees(repo)), *_registered(repo)})]
    if not there:
        return []
    wanted = {os.path.basename(entry.squash[0]) for entry in all_open(repo) if entry.squash}
    return [path for path in there if os.path.basename(path) not in wanted]


def _registered(repo: Repo) -> Iterator[str]:
    """The names under which git knows worktrees of ours: one whose folder is gone is what a killed removal leaves."""
    known = os.path.join(repo.common_dir, "worktrees")
    for name in _names(known):
        with suppress(OSError), open(os.path.join(known, name, "gitdir"), "rb") as file:
            place = os.path.dirname(os.fsdecode(file.read()).rstrip("\n"))
            if os.path.dirname(place) == os.path.realpath(worktrees(repo)):
                yield os.path.basename(place)


def all_open(repo: Repo) -> list[Entry]:
    """The commands that were begun and have not ended, those of other worktrees too."""
    return [entry for entry in _all_entries(repo) if entry.state in OPEN]


def open_entry(repo: Repo) -> Entry | None:
    """The command that was begun in this worktree and has not ended."""
    return next((entry for entry in entries(repo) if entry.state in OPEN), None)


def last_entry(repo: Repo) -> Entry | None:
    """The newest command of this worktree that `undo` would take back."""
    return next((entry for entry in entries(repo) if entry.state not in ("undone", "abandoned")), None)


def prune(repo: Repo) -> None:
    """Forget the oldest ended entries of this worktree, with copies of edits; the backup refs stay.

    An entry stays while it holds the only copy of files that were put aside.
    """
    import shutil

    ended = [entry for entry in entries(repo) if entry.state not in OPEN]
    for entry in ended[KEPT:]:
        if not files_below(aside_folder(repo, entry)):
            shutil.rmtree(place_of(repo, entry.id), ignore_errors=True)


def _worktree(repo: Repo) -> str:
    """Which worktree this is, by a name that stays when the repository is moved."""
    return os.path.relpath(repo.git_dir, repo.common_dir).replace(os.sep, "/")


def _all_entries(repo: Repo) -> Iterator[Entry]:
    names = sorted(_names(os.path.join(home(repo), "journal")), reverse=True)
    if names:
        import json

        for name in names:
            try:
                with open(os.path.join(place_of(repo, name), "entry.json"), "rb") as file:
                    yield _entry(json.load(file))
            except (OSError, ValueError, TypeError, KeyError):  # a file that somebody else put there, or half removed
                continue


def _names(folder: str) -> list[str]:
    return os.listdir(folder) if os.path.isdir(folder) else []


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
            "beside": None if fields.get("beside") is None else tuple(fields["beside"]),
            "pushed": tuple(Pushed(*push) for push in fields["pushed"]),
        }
    )
