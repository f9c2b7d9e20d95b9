"""Leave out the commit that a rebase stands at, and go on with the next one. `mergeready undo` brings it back.

Examples:
  mergeready skip
  mergeready skip --dry-run    show which commit would be left out
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from tooling.commands.continue_ import go_on
from tooling.console import Console
from tooling.git.options import add_options
from tooling.git.report import report


def configure(parser: ArgumentParser) -> None:
    """Options of `mergeready skip`."""
    add_options(parser)


def run(options: Namespace, console: Console) -> int:
    """Leave out a commit and go on."""
    return report("skip", options, console, lambda tell: go_on("skip", options, tell))
