"""Show where things stand: upstream, your fork, your branch, what has stopped, and what to run next.

It asks no remote and changes nothing; it works in the middle of a rebase and after a kill.

Examples:
  mergeready status
  mergeready status --json
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from tooling.console import Console
from tooling.git.command import Git
from tooling.git.outcome import Outcome
from tooling.git.read import read_repo
from tooling.git.report import add_options, report
from tooling.git.standing import read_standing, standing_outcome


def configure(parser: ArgumentParser) -> None:
    """Options of `mergeready status`."""
    add_options(parser, dry_run=False)


def run(options: Namespace, console: Console) -> int:
    """Show where things stand."""
    return report("status", options, console, lambda _: _status())


def _status() -> Outcome:
    repo = read_repo()
    return standing_outcome(repo, read_standing(repo, Git(repo.root)))
