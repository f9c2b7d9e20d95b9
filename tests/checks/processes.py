"""Run our code in a process of its own: under limits, without the rights of root, or to be interrupted."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

# Root may read and write what permissions forbid; without these two capabilities the same user may not.
_DROP = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search", "--inh-caps", "-all")


def start(code: str, *words: str, cwd: Path | None = None, bound: bool = False) -> subprocess.Popen[str]:
    """A process that runs Python code with arguments; permissions hold for it if `bound` is true."""
    prefix = bounds() if bound else ()
    return subprocess.Popen(
        [*prefix, sys.executable, "-c", code, *words],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def run(code: str, *words: str, cwd: Path | None = None, bound: bool = False) -> subprocess.CompletedProcess[str]:
    """The same, waited for."""
    process = start(code, *words, cwd=cwd, bound=bound)
    output, errors = process.communicate(timeout=60)
    return subprocess.CompletedProcess(process.args, process.returncode, output, errors)


def bounds() -> tuple[str, ...]:
    """What to put before the argv of a process so that permissions of files hold for it, even if we are root."""
    if sys.platform == "win32":
        pytest.skip("permissions of files are not what they are elsewhere")
    if os.geteuid() != 0:
        return ()
    if shutil.which("setpriv") is None:
        pytest.skip("root may write everything, and there is no setpriv to take that from it")
    return _DROP
