"""Run tests, and record how it went for exactly this tree, so that `mergeready pr` can tell that they pass.

The command runs as it is, and its exit code is the exit code. pytest is asked for a report by PYTEST_ADDOPTS, through
make or nox too; of several pytest runs the last one's counts are kept. Every RUN_* variable is recorded.

Examples:
  mergeready tests -- pytest
  RUN_SLOW=1 mergeready tests -- pytest tests/models/bert
  mergeready tests --report report.xml -- make test      a report that the command writes itself
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from checks import git
from tooling import ledger
from tooling.console import Console
from tooling.errors import Exit, UserError
from tooling.junit import read_report
from tooling.ledger import Run
from tooling.trees import tree_now


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `tests`."""
    parser.add_argument("--root", metavar="DIR", default=".", help="a folder of the checkout (default: this one)")
    parser.add_argument("--report", metavar="FILE", help="the JUnit report that the command writes")
    parser.add_argument("--env", metavar="NAME", action="append", default=[], help="record this variable as well")
    parser.add_argument("words", metavar="COMMAND", nargs="+", help="what to run, after --")


def run(options: argparse.Namespace, console: Console) -> int:
    """Run the command between two looks at the tree, record it, and end as it ends."""
    repository = git.find_repository(os.path.abspath(options.root))
    before = tree_now(repository)
    started, at = time.monotonic(), datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    with tempfile.TemporaryDirectory(prefix="mergeready-") as folder:
        report = options.report or os.path.join(folder, "report.xml")
        stale = _written(report)
        status = _call(options.words, None if options.report else report)
        found = read_report(report) if _written(report) != stale else None
    entry = Run(
        tree=before,
        command=tuple(options.words),
        exit=status,
        partial=is_partial(options.words),
        environment=_flags(os.environ, options.env),
        seconds=round(time.monotonic() - started, 3),
        at=at,
    )
    if found is not None:
        entry = entry._replace(**found._asdict())
    if tree_now(repository) != before:
        console.note("the files changed while the tests ran, so this run is not recorded", "yellow")
    else:
        _record(repository, entry, console)
    return status


def is_partial(words: Sequence[str]) -> bool:
    """Whether a command line picks some of the tests: a file, a folder in `tests`, an expression, those that failed.

    >>> [is_partial(words.split()) for words in ("pytest -q", "pytest tests/a.py", "nox -s tests -- -k x", "tox")]
    [False, True, True, False]
    """
    first = 2 if words[1:2] == ["-m"] and os.path.basename(words[0]).startswith("python") else 0
    arguments = words[first + 1 :]
    return any(
        _PICKS.fullmatch(word) or _is_folder(before, word)
        for before, word in zip(("", *arguments), arguments, strict=False)
    )


_PICKS = re.compile(r"-[km].*|--(?:lf|ff|last-failed|deselect|ignore|keyword|markexpr)(?:=.*)?|.*::.*|.*\.py")


def _is_folder(before: str, word: str) -> bool:
    """Whether a word is a folder inside of the tests, and not the value of the option before it."""
    is_value = before.startswith("-") and before != "--"
    whole = os.path.basename(word.rstrip("/")) in ("tests", "test", ".")
    return "/" in word and not word.startswith("-") and not is_value and not whole


def _call(words: Sequence[str], report: str | None) -> int:
    environment = dict(os.environ)
    if report:
        added = f"{environment.get('PYTEST_ADDOPTS', '')} --junit-xml={shlex.quote(report)}"
        environment["PYTEST_ADDOPTS"] = added.strip()
    try:
        status = subprocess.run(words, env=environment, check=False).returncode
    except OSError as error:
        raise UserError(f"cannot run {words[0]}: {error.strerror}", exit=Exit.ENVIRONMENT) from error
    # A process that a signal ends has no exit code; shells count from 128.
    return 128 - status if status < 0 else status


def _written(path: str) -> int:
    """When a file was last written, 0 where there is none: the report of an earlier run tells nothing of this one."""
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def _flags(environment: Mapping[str, str], asked: Sequence[str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith("RUN_") or name in asked}


def _record(repository: git.Repository, entry: Run, console: Console) -> None:
    try:
        ledger.record(repository.common_dir, entry)
    except OSError as error:
        console.note(f"this run is not recorded: {error.strerror}", "yellow")
        return
    console.note(f"recorded for tree {entry.tree[:12]}: {entry.counts}, exit {entry.exit}")
