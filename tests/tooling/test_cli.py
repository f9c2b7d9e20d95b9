"""How the command line starts: what it imports for what it is asked, and that completion works in a shell."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checks.library import LIBRARY
from tests.checks.processes import run
from tests.checks.repositories import make_repository
from tests.tooling.command_line import MAIN, mergeready, typed
from tooling.commands import COMMANDS
from tooling.version import VERSION

IMPORTED = """
import json, sys
before = set(sys.modules)
from tooling.cli import main
code = main(sys.argv[1:])
print(json.dumps(sorted(set(sys.modules) - before)), file=sys.stderr)
sys.exit(code)
"""


def imported(folder: Path, *arguments: str) -> set[str]:
    """The modules that a command line imports beyond those that Python starts with."""
    done = run(IMPORTED, *arguments, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_the_version_is_one_line_and_imports_nothing_but_itself(tmp_path: Path, option: str) -> None:
    said = mergeready(tmp_path, option)

    assert said == (0, f"mergeready {VERSION}\n", "")
    assert imported(tmp_path, option) <= {
        *("tooling", "tooling.cli", "tooling.version", "__future__", "collections.abc", "gc")
    }


HEAVY = """
ast asyncio black concurrent dataclasses difflib git importlib.metadata inspect logging multiprocessing nox packaging
rich ruamel ruff shutil tempfile tokenize tomllib torch transformers unittest urllib.parse
"""


def test_a_warm_clean_run_imports_no_parser_no_formatter_and_no_rule(tmp_path: Path) -> None:
    make_repository(tmp_path, LIBRARY)
    typed(tmp_path, "check")

    warm = imported(tmp_path, "check")

    assert set(HEAVY.split()) & warm == set()
    unneeded = ("checks.rules.", "checks.parallel", "checks.facts.syntax")
    assert {name for name in warm if name.startswith(unneeded)} == set()


def test_status_imports_nothing_that_only_acting_needs(tmp_path: Path) -> None:
    make_repository(tmp_path, LIBRARY)

    shown = imported(tmp_path, "status")

    assert {*HEAVY.split(), "base64", "hashlib", "json", "pathlib", "random", "tooling.git.execute"} & shown == set()


def test_another_command_is_not_imported(tmp_path: Path) -> None:
    commands = {name for name in imported(tmp_path, "rules") if name.startswith("tooling.commands.")}

    assert commands == {"tooling.commands.rules"}


def complete(line: str) -> set[str]:
    """What a shell is told when the tab key is pressed at the end of a line."""
    reader, writer = os.pipe()
    variables = {
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_IFS": "\n",
        "_ARGCOMPLETE_SUPPRESS_SPACE": "1",
        "_ARGCOMPLETE_COMP_WORDBREAKS": " \t\n\"'><=;|&(:",
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
        "COMP_TYPE": "9",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    # The completer writes to file descriptor 8, as the shell's function arranges it.
    script = f"exec {sys.executable} -c '{MAIN}' 8>&{writer} 9>/dev/null"
    subprocess.run(
        ("bash", "-c", script), env={**os.environ, **variables}, pass_fds=(writer,), check=False, capture_output=True
    )
    os.close(writer)
    with open(reader, encoding="utf-8") as answers:
        return {word.strip() for word in answers.read().split("\n") if word}


@pytest.mark.skipif(sys.platform == "win32", reason="completion is for POSIX shells")
def test_commands_and_options_can_be_completed() -> None:
    assert complete("mergeready ") >= {*COMMANDS, "--version"}
    assert complete("mergeready ba") == {"baseline"}
    assert complete("mergeready check --merge") == {"--merge-base-check"}
    assert complete("mergeready check --format ") == {"human", "json", "github", "sarif"}
    assert complete("mergeready baseline ") >= {"accept", "prune"}
    assert complete("mergeready rebase --u") == {"--update-refs", "--unshallow"}
    assert complete("mergeready rebase --backup") == {"--backup-ignored"}
    assert complete("mergeready sync --un") == {"--unshallow"}


def test_an_installed_command_line_needs_no_terminal_no_home_and_no_locale(tmp_path: Path) -> None:
    make_repository(tmp_path, LIBRARY)

    said = typed(tmp_path, "check", variables={"HOME": "/nowhere", "TERM": "", "LC_ALL": "C", "LANG": ""})

    assert (said.code, said.err) == (0, "")
