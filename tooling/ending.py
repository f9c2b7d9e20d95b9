"""End a process that we started: asked first, then by force, with all that it started itself; on Windows too."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import Any

PATIENCE = 10.0
"""Seconds that a process has to end in order once it was asked to."""


def own_group() -> dict[str, Any]:
    """What makes Popen start a process as the head of a group, so that `end` reaches all of it."""
    options: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        options = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return options


def end(process: subprocess.Popen[bytes], *, interrupted: bool = False, group: bool = False) -> None:
    """Ask a process to end, wait ten seconds for it, then end it.

    With `interrupted` it is told of a Ctrl-C, and with `group`, everything that it started is ended too.
    """
    if sys.platform == "win32":
        _ask_on_windows(process, interrupted=interrupted, group=group)
    else:
        _send(process, signal.SIGINT if interrupted else signal.SIGTERM, group=group)
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        if sys.platform == "win32":
            _force_on_windows(process)
        else:
            _send(process, signal.SIGKILL, group=group)
        process.wait()


if sys.platform != "win32":

    def _send(process: subprocess.Popen[bytes], number: int, *, group: bool) -> None:
        try:
            if group:
                os.killpg(process.pid, number)
            else:
                process.send_signal(number)
        except ProcessLookupError:  # it has just ended
            pass

else:

    def _ask_on_windows(process: subprocess.Popen[bytes], *, interrupted: bool, group: bool) -> None:
        """Ask where it can be asked: a group of its own by Ctrl-Break; the others have heard our own Ctrl-C already."""
        if group:
            process.send_signal(signal.CTRL_BREAK_EVENT)
        elif not interrupted:
            _force_on_windows(process)

    def _force_on_windows(process: subprocess.Popen[bytes]) -> None:
        """End a process and all below it: git for Windows is a chain of them, and the last one holds our pipes."""
        tree = ["taskkill", "/T", "/F", "/PID", str(process.pid)]
        subprocess.run(tree, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        process.kill()
