"""Listen to a process: all that it writes, for as long as it keeps writing.

Pipes cannot be waited for on Windows, so a thread reads each stream.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from queue import SimpleQueue

_TURN = 0.2
"""Seconds between two looks at the clock: on Windows nothing else lets a Ctrl-C through."""
_MOMENT = 0.5
"""Seconds for which what a process has started may still hold its pipes open once it has ended itself."""


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
        # A number of its own: that of a stream which was closed might be another's while the thread still reads it.
        Thread(target=_read, args=(os.dup(stream.fileno()), number, pieces), daemon=True).start()
    deadline, still_open, last = time.monotonic() + silence, 2, inf
    while still_open and time.monotonic() < last:
        if last == inf and process.poll() is not None:
            last = time.monotonic() + _MOMENT
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


def _read(stream: int, number: int, pieces: SimpleQueue[tuple[int, bytes]]) -> None:
    """Hand on what comes from an open file, and in the end an empty piece."""
    try:
        while piece := os.read(stream, 1 << 16):
            pieces.put((number, piece))
    finally:
        os.close(stream)
        pieces.put((number, b""))
