"""What Windows lacks taken away, and what only it has stood in for, so that its code paths run here with a real git."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

PRELUDE = """
import os, selectors, signal, socket, subprocess, sys, types
real = __import__("fcntl")
def locking(number, mode, count):
    real.flock(number, real.LOCK_EX | real.LOCK_NB)
for name in ("fcntl", "termios", "pty", "tty", "grp", "pwd", "resource", "readline", "syslog"):
    sys.modules[name] = None
for name in ("killpg", "getuid", "geteuid", "getgid", "setsid", "fork", "getpgid", "pathconf", "sync", "fchmod"):
    delattr(os, name)
for name in ("SIGKILL", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGPIPE", "SIGALRM", "pthread_sigmask"):
    delattr(signal, name)
sys.modules["msvcrt"] = types.SimpleNamespace(locking=locking, LK_NBLCK=2)
signal.CTRL_BREAK_EVENT, signal.CTRL_C_EVENT = signal.SIGTERM, signal.SIGINT
subprocess.CREATE_NEW_PROCESS_GROUP = 0
subprocess.Popen.kill = subprocess.Popen.terminate
sys.platform = "win32"
"""


def as_on_windows(
    script: str, *argv: str, at: Path, env: dict[str, str] | None = None, first: str = ""
) -> subprocess.CompletedProcess[bytes]:
    """Run a script in a Python that finds itself on Windows as far as our modules can tell.

    What runs `first` still finds itself here.
    """
    return subprocess.run(
        [sys.executable, "-c", first + PRELUDE + script, *argv],
        cwd=at,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=120,
    )


def mergeready_on_windows(argv: Sequence[str], at: Path) -> tuple[int, str]:
    """Run `mergeready` there: its exit code and all that it said."""
    done = as_on_windows("from tooling.cli import main; sys.exit(main())", *argv, at=at)
    return done.returncode, (done.stdout + done.stderr).decode()
