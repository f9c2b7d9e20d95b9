"""Folders that are there as a whole or not at all: written beside, brought to the disk, and renamed."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

UNFINISHED = ".saving"
_STEP = re.compile(r"step-(\d{8,})(?:-(\d+))?")


def steps(root: Path) -> list[Path]:
    """The checkpoints of a folder, the oldest first; of one step what was saved last comes last."""
    return sorted((path for path in root.glob("step-*") if _STEP.fullmatch(path.name)), key=_numbers)


def fresh(root: Path, step: int) -> Path:
    """A name for the checkpoint of a step that no other has."""
    last = max((_numbers(path)[1] for path in _of(step, root)), default=-1)
    return root / (f"step-{step:08d}" if last < 0 else f"step-{step:08d}-{last + 1}")


def begun(root: Path) -> Path:
    """An empty folder in which to write; what is left of a save that did not come to its end is deleted."""
    for left in root.glob(f"{UNFINISHED}*"):
        shutil.rmtree(left)
    unfinished = root / UNFINISHED
    unfinished.mkdir(parents=True)
    return unfinished


def finish(unfinished: Path, final: Path) -> None:
    """Give a folder, all of whose files are on the disk, its name."""
    flush(unfinished)
    unfinished.rename(final)
    flush(final.parent)


def keep_newest(root: Path, count: int | None, *, step: int) -> None:
    """Delete what was saved of this step before, and, given a count, all but so many of the newest steps."""
    same = _of(step, root)[:-1]
    others = [path for path in steps(root) if path not in same]
    for path in [*same, *(others[:-count] if count is not None else [])]:
        # By another name first: half of a checkpoint must not look like one.
        gone = root / f"{UNFINISHED}-{path.name}"
        path.rename(gone)
        shutil.rmtree(gone)


def flush(path: Path) -> None:
    """Have a file, or the list of a folder's files, on the disk."""
    if path.is_dir() and os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _of(step: int, root: Path) -> list[Path]:
    return [path for path in steps(root) if _numbers(path)[0] == step]


def _numbers(path: Path) -> tuple[int, int]:
    """The step, and how many of that step were there before."""
    step, _, nth = path.name.removeprefix("step-").partition("-")
    return int(step), int(nth or 0)
