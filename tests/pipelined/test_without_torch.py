"""Without torch there is one clear message; the command line does not need it to start."""

from __future__ import annotations

import subprocess
import sys


def test_importing_without_torch_says_how_to_get_it() -> None:
    code = "import sys; sys.modules['torch'] = None; import pipelined"

    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, encoding="utf-8")

    message = "ImportError: pipelined needs torch and transformers: pip install 'mergeready[models]'"
    assert ended.stderr.splitlines()[-1] == message


def test_the_command_line_starts_without_torch() -> None:
    code = "import sys; sys.modules['torch'] = None; from tooling.cli import main; sys.exit(main(['--help']))"

    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, encoding="utf-8")

    assert (ended.returncode, ended.stderr) == (0, "")
