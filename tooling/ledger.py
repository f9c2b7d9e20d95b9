"""What was tested, and how it went: one small file for each run, under the git folder that all worktrees share.

A run belongs to exactly one tree. Files are written whole and replaced at once, so the ledger is safe to race and to
delete; what cannot be read is passed over, and only the newest runs are kept.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

KEPT = 200


class Run(NamedTuple):
    """A command that ran tests, on one tree.

    `tree` is the id of the tree of all files that git would carry, before and after. `exit` is the exit code.
    The counts are -1 where nothing told them. `partial` says that the command line picks some of the tests.
    `environment` holds the variables that change what is tested, such as RUN_SLOW. `ran` and `unrun` (skipped) name
    tests as `package.module.Class.test`, without parameters. `seconds` is how long it took, `at` when it began, in
    UTC as ISO 8601 writes it.
    """

    tree: str
    command: tuple[str, ...]
    exit: int
    passed: int = -1
    failed: int = -1
    skipped: int = -1
    partial: bool = False
    environment: Mapping[str, str] = {}
    ran: tuple[str, ...] = ()
    unrun: tuple[str, ...] = ()
    seconds: float = 0.0
    at: str = ""

    @property
    def counts(self) -> str:
        """The counts in words."""
        if self.passed < 0:
            return "no counts"
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def record(common_dir: str, run: Run) -> str:
    """Keep a run; return the path of its file. OSError where the folder cannot be written."""
    folder = _folder(common_dir)
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"{run.tree}.{time.time_ns():020}.{os.getpid()}.json")
    with open(f"{path}.tmp", "w", encoding="utf-8") as file:
        json.dump(run._asdict(), file)
    os.replace(f"{path}.tmp", path)
    _forget(folder)
    return path


def runs_of(common_dir: str, tree: str) -> tuple[Run, ...]:
    """The runs on a tree, oldest first."""
    try:
        names = [name for name in os.listdir(_folder(common_dir)) if name.startswith(f"{tree}.")]
    except OSError:
        return ()
    found = (_read(os.path.join(_folder(common_dir), name)) for name in sorted(names) if name.endswith(".json"))
    return tuple(run for run in found if run is not None and run.tree == tree)


def _folder(common_dir: str) -> str:
    return os.path.join(common_dir, "mergeready", "tests")


def _read(path: str) -> Run | None:
    try:
        with open(path, encoding="utf-8") as file:
            stored: dict[str, Any] = json.load(file)
        tuples = {key: tuple(stored[key]) for key in ("command", "ran", "unrun")}
        return Run(**{**stored, **tuples})
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _forget(folder: str) -> None:
    """Drop all but the newest runs; another process may do the same at the same time."""
    entries = sorted((entry.stat().st_mtime, entry.path) for entry in os.scandir(folder) if entry.is_file())
    for _, path in entries[:-KEPT]:
        try:
            os.unlink(path)
        except FileNotFoundError:
            pass
