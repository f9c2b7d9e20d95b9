"""Push your branch to your fork, with force where a rebase needs it, and never over somebody's work.

Remote and branch are always given in full, so no setting can send it elsewhere. What is expected on the fork is what
you have last seen there; if it has moved, or holds a commit that your branch never held, nothing is pushed.

Examples:
  mergeready push              push the current branch to your fork
  mergeready push --dry-run    show the command
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from tooling.console import Console
from tooling.git import journal
from tooling.git.command import Git
from tooling.git.lock import only_one
from tooling.git.options import add_options
from tooling.git.outcome import Outcome, planned
from tooling.git.push import Allowed, plan_push
from tooling.git.pushing import push_branch, read_pushing, sent_outcome
from tooling.git.read import read_repo
from tooling.git.ready import check_idle, check_on_branch
from tooling.git.remotes import find_roles
from tooling.git.report import Tell, report
from tooling.git.state import tracking_ref


def configure(parser: ArgumentParser) -> None:
    """Options of `mergeready push`."""
    parser.add_argument("--allow-empty-branch", action="store_true", help="push a branch without commits of its own")
    parser.add_argument("--to-upstream", action="store_true", help="push to the project itself, where there is no fork")
    parser.add_argument("--no-verify", action="store_true", help="do not run the pre-push hook")
    add_options(parser)


def run(options: Namespace, console: Console) -> int:
    """Push the current branch to the fork."""
    return report("push", options, console, lambda tell: _push(options, tell))


def _push(options: Namespace, tell: Tell) -> Outcome:
    repo = read_repo()
    with only_one(repo, "push") as lock:
        git, roles = Git(repo.root, lock=lock), find_roles(repo)
        check_idle(repo)
        check_on_branch(repo)
        seen = repo.refs.get(tracking_ref(roles.fork.name, repo.head.branch), "") if roles.fork else ""
        tell("asking the fork")
        pushing = read_pushing(repo, git, roles, repo.head.ref, seen)
        allowed = Allowed(options.allow_empty_branch, options.to_upstream, options.no_verify)
        plan = plan_push(pushing, allowed)
        if options.dry_run or not plan.steps:
            return planned(plan)
        tell(plan.summary)
        entry = journal.write(repo, journal.begin(repo, plan))
        sent = push_branch(repo, git, pushing, allowed)
        closed = entry._replace(state="finished" if sent.pushed else "abandoned", done=1)
        journal.write(repo, closed._replace(pushed=(sent.pushed,) if sent.pushed else ()))
        return sent_outcome(repo.head.branch, sent)
