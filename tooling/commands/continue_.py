"""Go on with what stopped: resolve the files in conflict, `git add` them, then run this.

It also works where you have gone on with plain git in the meantime, or the machine went down.

Examples:
  mergeready continue
  mergeready continue --dry-run    show what is still in conflict, or what would be done
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Literal

from tooling.console import Console
from tooling.git import journal
from tooling.git.command import Git
from tooling.git.execute import Ended, Way
from tooling.git.lock import only_one
from tooling.git.options import add_options
from tooling.git.outcome import Outcome
from tooling.git.plan import Next, RefusedError, Step
from tooling.git.push import Allowed
from tooling.git.pushing import push_of_entry
from tooling.git.read import read_repo
from tooling.git.remotes import find_roles
from tooling.git.report import Tell, report
from tooling.git.resume import foretell, nothing_open, resume
from tooling.git.settle import settle
from tooling.git.squashed import continue_squash
from tooling.git.state import Repo
from tooling.git.synced import continue_sync


def configure(parser: ArgumentParser) -> None:
    """Options of `mergeready continue`."""
    add_options(parser)


def run(options: Namespace, console: Console) -> int:
    """Go on with what stopped."""
    return report("continue", options, console, lambda tell: go_on("continue", options, tell))


def go_on(command: Literal["continue", "skip"], options: Namespace, tell: Tell) -> Outcome:
    """Go on with the run that is open in this worktree."""
    repo = read_repo()
    with only_one(repo, command) as lock:
        git = Git(repo.root, lock=lock)
        entry = settle(repo, git)
        if entry is None:
            return nothing_open(repo, command)
        if command == "skip" and entry.command != "rebase":
            ways = [Next("go on", ("mergeready", "continue")), Next("or give it up", ("mergeready", "abort"))]
            raise RefusedError("nothing-to-skip", f"a {entry.command} has no commit to leave out", next=ways)
        if entry.squash:
            return continue_squash(repo, git, entry, tell, dry_run=options.dry_run)
        if options.dry_run:
            return foretell(repo, git, entry, command)
        if entry.command == "sync":
            return continue_sync(repo, git, entry, tell)
        return resume(Way(repo, git, lambda now, step: _push(repo, git, now, step)), entry, command, tell)


def _push(repo: Repo, git: Git, entry: journal.Entry, step: Step) -> Ended:
    """Push as the plan of the first run says: what it expects to find is in its lease."""
    lease = next((word for word in step.argv if word.startswith("--force-with-lease=")), "")
    allowed = Allowed(no_verify="--no-verify" in step.argv)
    return push_of_entry(repo, git, find_roles(repo), entry, expected=lease.rpartition(":")[2], allowed=allowed)
