"""Run `mergeready` at a terminal, and type at it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

from tests.tooling.git.repositories import COMMAND, Bench


def typed(bench: Bench, argv: Sequence[str], words: str) -> tuple[int, str]:
    """The exit code of a run to which these words are typed, and all that the terminal showed."""
    import pty  # not on Windows

    terminal, theirs = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [*COMMAND, *argv], cwd=bench.work, env=environment, stdin=theirs, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        os.write(terminal, words.encode() + b"\n")
        shown = b"".join(iter(lambda: _read(terminal), b""))
        code = process.wait(60)
    os.close(terminal)
    return code, shown.decode("utf-8", "replace").replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 12)
    except OSError:  # nobody holds the other end any more
        return b""
