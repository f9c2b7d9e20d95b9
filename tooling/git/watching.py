"""Say how far a long rebase is while git runs it: its own files tell."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tooling.git.read import read_operation

if TYPE_CHECKING:
    from threading import Event

_EVERY = 2.0
"""Seconds between two looks."""


@contextmanager
def watched(git_dir: str, tell: Callable[[str], None], *, every: float = _EVERY) -> Iterator[None]:
    """Tell at a terminal, every two seconds, at which commit the rebase of this worktree is."""
    if not sys.stderr.isatty():
        yield
        return
    from threading import Event, Thread

    ended = Event()
    thread = Thread(target=_watch, args=(git_dir, tell, ended, every), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _watch(git_dir: str, tell: Callable[[str], None], ended: Event, every: float) -> None:
    told = 0
    while not ended.wait(every):
        operation = read_operation(git_dir)
        if operation and operation.total and operation.step != told:
            told = operation.step
            tell(f"commit {operation.step} of {operation.total}")
