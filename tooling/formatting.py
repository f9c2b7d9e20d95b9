"""Lint and format files with the tools a repository is configured for, in the version of the user's environment."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from checks.formatter import formatter_of
from checks.index import Index

_BATCH = 20_000  # characters of file names a process gets: Windows takes 32,767 in all


class Step(NamedTuple):
    """A program and its options, to which names of files are added, and what it does."""

    title: str
    command: tuple[str, ...]


class Ran(NamedTuple):
    """A step that ran: whether it was content, and what it said."""

    step: Step
    content: bool
    said: str


def plan_steps(index: Index) -> tuple[Step, ...]:
    """Ruff's fixes where ruff is configured, then the formatter that is; nothing for a repository that states none."""
    steps = []
    if any(index.exists(path) for path in ("ruff.toml", ".ruff.toml")) or "[tool.ruff" in index.text("pyproject.toml"):
        steps.append(
            Step("ruff check --fix", (*_program("ruff"), "check", "--fix", "--quiet", "--force-exclude", "--"))
        )
    formatter = formatter_of(index).name
    if formatter == "ruff":
        steps.append(Step("ruff format", (*_program("ruff"), "format", "--quiet", "--force-exclude", "--")))
    elif formatter == "black":
        steps.append(Step("black", (*_program("black"), "--quiet", "--")))
    return tuple(steps)


def run_steps(root: str, steps: Sequence[Step], files: Sequence[str]) -> Iterator[Ran]:
    """Run each step on the files, in as many processes as their names need."""
    for step in steps:
        for batch in _batches(files):
            done = subprocess.run(
                [*step.command, *batch],
                cwd=root,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                env={**os.environ, "NO_COLOR": "1"},
                check=False,
            )
            yield Ran(step, done.returncode == 0, f"{done.stdout}{done.stderr}".strip())


def _program(name: str) -> tuple[str, ...]:
    """The program of the user's environment, or the one that came with us."""
    found = shutil.which(name)
    return (found,) if found else (sys.executable, "-m", name)


def _batches(files: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for name in files:
        if batch and size + len(name) > _BATCH:
            yield batch
            batch, size = [], 0
        batch.append(name)
        size += len(name) + 1
    if batch:
        yield batch
