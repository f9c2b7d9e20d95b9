"""Take back what stopped: branch, index, files and edits become what they were before it.

What you have changed since is kept in a folder that it names. It works after a kill or a power cut too.

Examples:
  mergeready abort
  mergeready abort --dry-run    show what would be put back
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from tooling.console import Console
from tooling.git.command import Git
from tooling.git.lock import only_one
from tooling.git.options import add_options
from tooling.git.outcome import Outcome
from tooling.git.read import read_repo
from tooling.git.report import Tell, report
from tooling.git.resume import foretell, give_up, nothing_open
from tooling.git.settle import settle
from tooling.git.squashed import abandon_squash


def configure(parser: ArgumentParser) -> None:
    """Options of `mergeready abort`."""
    add_options(parser)


def run(options: Namespace, console: Console) -> int:
    """Take back what stopped."""
    return report("abort", options, console, lambda tell: _abort(options, tell))


def _abort(options: Namespace, tell: Tell) -> Outcome:
    repo = read_repo()
    with only_one(repo, "abort") as lock:
        git = Git(repo.root, lock=lock)
        entry = settle(repo, git)
        if entry is None:
            return nothing_open(repo, "abort")
        if entry.squash:
            return abandon_squash(repo, git, entry, dry_run=options.dry_run)
        if options.dry_run:
            return foretell(repo, git, entry, "abort")
        tell("putting everything back")
        return give_up(repo, git, entry, "abort")
