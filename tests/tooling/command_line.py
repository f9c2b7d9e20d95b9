"""Type a command line: in this process for most tests, in one of its own where the process matters."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

from tests.checks.processes import bounds
from tooling.cli import main

MAIN = "import sys; from tooling.cli import main; sys.exit(main())"


class Said(NamedTuple):
    """How a command ended, and what it wrote; the folder it ran in is called ROOT, and all times are 0.00 s."""

    code: int
    out: str
    err: str


def mergeready(folder: Path, *arguments: str) -> Said:
    """Run the command line in a folder, in this process."""
    out, err = io.StringIO(), io.StringIO()
    with chdir(folder), redirect_stdout(out), redirect_stderr(err):
        code = main(arguments)
    return Said(int(code), _still(out.getvalue(), folder), _still(err.getvalue(), folder))


def mergeready_process(
    folder: Path, *arguments: str, variables: Mapping[str, str] = {}, bound: bool = False
) -> subprocess.Popen[bytes]:
    """Start the command line in a folder, as a process of its own; permissions hold for it if `bound` is true."""
    return subprocess.Popen(
        [*(bounds() if bound else ()), sys.executable, "-c", MAIN, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **variables},
        start_new_session=True,  # a group of its own, to which a test can send what a terminal sends on Ctrl-C
    )


def typed(folder: Path, *arguments: str, variables: Mapping[str, str] = {}, bound: bool = False) -> Said:
    """The same, waited for."""
    process = mergeready_process(folder, *arguments, variables=variables, bound=bound)
    out, err = process.communicate(timeout=120)
    return Said(process.returncode, *(_still(text.decode("utf-8", "replace"), folder) for text in (out, err)))


def _still(text: str, folder: Path) -> str:
    return re.sub(r"\b\d+\.\d\d s\b", "0.00 s", text.replace(str(folder), "ROOT"))
