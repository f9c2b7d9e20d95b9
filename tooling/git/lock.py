"""One run at a time in a repository: a lock that ends with those who hold it, so that a kill leaves none behind."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from tooling.errors import Exit, UserError
from tooling.git.journal import home
from tooling.git.plan import RefusedError
from tooling.git.state import Repo


@contextmanager
def only_one(repo: Repo, command: str, *, patience: float = 2.0) -> Iterator[tuple[int, ...]]:
    """Hold the lock of this repository; RefusedError where another run holds it for `patience` seconds and longer.

    It ends with the process. Yields the lock, for those that we start and that should hold it too.
    """
    with _open(home(repo)) as file:
        deadline = time.monotonic() + patience
        while not _lock(file):
            if time.monotonic() >= deadline:
                file.seek(0)
                raise RefusedError("busy", f"another run is at work here: {file.read().strip()}")
            time.sleep(0.05)
        file.truncate(0)
        file.write(f"mergeready {command}, process {os.getpid()}\n")
        file.flush()
        try:
            yield _handed_on(file)
        finally:
            _unlock(file)


def _open(place: str) -> TextIO:
    try:
        os.makedirs(place, exist_ok=True)
        return open(os.path.join(place, "lock"), "a+", encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot write {place}: {error.strerror}", exit=Exit.ENVIRONMENT) from error


if sys.platform == "win32":
    # Nobody can read a byte that is locked there, so it is one far behind the words that name the holder.
    _FAR = 1 << 20

    def _lock(file: TextIO) -> bool:
        """Take the lock of an open file, if nobody has it."""
        import msvcrt

        file.seek(_FAR)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(file: TextIO) -> None:
        """Nothing: the lock ends as the file is closed."""

    def _handed_on(file: TextIO) -> tuple[int, ...]:
        """Files that the processes we start should hold: none, as a lock belongs to one process there."""
        return ()

else:

    def _lock(file: TextIO) -> bool:
        """Take the lock of an open file, if nobody has it."""
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def _unlock(file: TextIO) -> None:
        """Let go of it for all who hold it: git has ended, but a program that a hook has left behind may not."""
        import fcntl

        fcntl.flock(file, fcntl.LOCK_UN)

    def _handed_on(file: TextIO) -> tuple[int, ...]:
        """Files that the processes we start should hold, so that the lock ends with the last of them."""
        return (file.fileno(),)
