"""Show where things stand: upstream, your fork, your branch, what has stopped, and what to run next.

It asks no remote and changes nothing; it works in the middle of a rebase and after a kill.

Examples:
  mergeready status
  mergeready status --json
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tooling.git.asking import asking
from tooling.git.options import add_options

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from tooling.console import Console
    from tooling.git.asking import Asked
    from tooling.git.outcome import Outcome


def configure(parser: ArgumentParser) -> None:
    """Options of `mergeready status`."""
    add_options(parser, dry_run=False)


begin = asking


def run(options: Namespace, console: Console) -> int:
    """Show where things stand; what shows it is imported while git is reading."""
    from tooling.git.report import report

    return report("status", options, console, lambda _: _status(options.begun))


def _status(asked: Asked) -> Outcome:
    from tooling.git.standing import read_standing, standing_outcome

    return standing_outcome(*read_standing(asked))
