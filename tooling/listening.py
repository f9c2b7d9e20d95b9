"""Listen to a process: all that it writes, for as long as it keeps writing.

Pipes cannot be waited for on Windows, so a thread reads each stream.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from queue import SimpleQueue

_TURN = 0.2
"""Seconds between two looks at the clock: on Windows nothing else lets a Ctrl-C through."""


def listen(
    process: subprocess.Popen[bytes], silence: float, hear: Callable[[bytes], None] | None = None
) -> tuple[bytes, bytes]:
    """What a process writes to its two streams; TimeoutError once that was nothing for `silence` seconds.

    `hear` is given each piece of its errors as it comes.
    """
    from queue import Empty, SimpleQueue
    from threading import Thread

    assert process.stdout
    assert process.stderr
    heard: tuple[list[bytes], list[bytes]] = ([], [])
    pieces: SimpleQueue[tuple[int, bytes]] = SimpleQueue()
    for number, stream in enumerate((process.stdout, process.stderr)):
        Thread(target=_read, args=(stream, number, pieces), daemon=True).start()
    deadline, still_open = time.monotonic() + silence, 2
    while still_open:
        try:
            number, piece = pieces.get(timeout=max(0.0, min(_TURN, deadline - time.monotonic())))
        except Empty:
            if time.monotonic() >= deadline:
                raise TimeoutError from None
            continue
        deadline = time.monotonic() + silence
        still_open -= not piece
        heard[number].append(piece)
        if hear and number == 1:
            hear(piece)
    return b"".join(heard[0]), b"".join(heard[1])


def _read(stream: IO[bytes], number: int, pieces: SimpleQueue[tuple[int, bytes]]) -> None:
    """Hand on what comes, and in the end an empty piece."""
    try:
        while piece := os.read(stream.fileno(), 1 << 16):
            pieces.put((number, piece))
    except (OSError, ValueError):  # it was closed: nobody waits any more
        pass
    pieces.put((number, b""))
