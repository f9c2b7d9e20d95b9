"""Bring your fork's main branch up to date with upstream, without ringing anybody's bell.

By default a fast-forward, pushed without a checkout: no new commit, so hardly anything to notify about. GitHub may
still write "referenced" lines for commits that it sees in a fork for the first time; only --via-pr avoids that, with
one squashed commit on a branch, for a pull request, whose message names no issue, person or commit. `git pull` is
never run.

Examples:
  mergeready sync                      fast-forward main on your fork, and your own main
  mergeready sync --via-pr --push      one squashed commit on a new branch, pushed to your fork
  mergeready sync --realign            make main equal to upstream; what it was is kept on a branch
"""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace

from tooling.commands.rebase import check_unfinished
from tooling.commands.refs_check import style_of
from tooling.console import Console
from tooling.errors import Exit, UserError
from tooling.git import journal, worktree
from tooling.git.command import Git
from tooling.git.confirm import confirm
from tooling.git.draft import Asked, write_draft
from tooling.git.execute import Way, execute
from tooling.git.lock import only_one
from tooling.git.options import add_options
from tooling.git.outcome import Outcome, planned
from tooling.git.plan import Next, Plan, RefusedError
from tooling.git.read import read_repo
from tooling.git.ready import check_identity, check_idle
from tooling.git.remotes import Roles, find_roles
from tooling.git.report import Tell, report
from tooling.git.shallow import check_enough, deepen, is_enough, promised, refusal, sources
from tooling.git.squash import Record, count_commits, find_base, merge, read_records
from tooling.git.squashed import finish_squash, stopped_squash
from tooling.git.state import Repo
from tooling.git.sync import Syncing, check_forked, plan_realign, plan_sync
from tooling.git.synced import push_of_sync, sync_outcome
from tooling.git.syncing import fetch_mains, known_mains, read_syncing
from tooling.git.target import NOT_ASKED
from tooling.git.text import count, shown


def configure(parser: ArgumentParser) -> None:
    """Options of `mergeready sync`."""
    parser.add_argument(
        "--via-pr", action="store_true", help="make one squashed commit on a new branch, for a pull request"
    )
    parser.add_argument("--realign", action="store_true", help="make the fork's main branch equal to upstream's")
    parser.add_argument("--push", action="store_true", help="with --via-pr: push the new branch to the fork")
    parser.add_argument("-m", "--message", default="", metavar="TEXT", help="with --via-pr: the commit message")
    parser.add_argument(
        "--strip", action="store_true", help="take references out of that message instead of refusing it"
    )
    parser.add_argument(
        "--unshallow", action="store_true", help="in a shallow clone: fetch the rest of the history first"
    )
    parser.add_argument("--yes", action="store_true", help="with --realign: do not ask")
    add_options(parser, fetch=True)


def run(options: Namespace, console: Console) -> int:
    """Bring the fork's main branch up to date."""
    return report("sync", options, console, lambda tell: _sync(options, tell))


def _check_options(options: Namespace) -> None:
    """UserError for options that would be passed over without a word."""
    if options.via_pr and options.realign:
        raise UserError("--via-pr and --realign are two ways to sync: choose one")
    only_via_pr = {"--push": options.push, "--message": options.message, "--strip": options.strip}
    if given := [name for name, value in only_via_pr.items() if value and not options.via_pr]:
        raise UserError(f"{given[0]} goes with --via-pr only", hint="see: mergeready sync --help")


def _sync(options: Namespace, tell: Tell) -> Outcome:
    _check_options(options)
    repo = read_repo()
    with only_one(repo, "sync") as lock:
        git, roles = Git(repo.root, lock=lock), check_forked(find_roles(repo))
        check_unfinished(repo)
        worktree.sweep(repo, git)
        check_idle(repo)
        if not _is_comparable(repo, git, roles):
            wanted = sources(repo, git, roles)
            if not options.unshallow:
                raise refusal("sync", repo, git, wanted)
            if options.dry_run:
                return promised("sync", repo, git, wanted)
            repo = deepen(repo, git, wanted, tell)
        if options.dry_run and not options.fetch:
            outcome = _bring(repo, git, roles, known_mains(repo, roles), options=options, tell=tell)
            return outcome._replace(warnings=(*outcome.warnings, NOT_ASKED))
        tell("asking both remotes")
        return _bring(repo, git, roles, fetch_mains(repo, git, roles), options=options, tell=tell)


def _bring(
    repo: Repo, git: Git, roles: Roles, mains: tuple[str, str, str, str], *, options: Namespace, tell: Tell
) -> Outcome:
    """Compare the main branches, and bring the fork's up to date in the way that was asked for."""
    check_enough(repo, git, mains[1], mains[3])
    records = read_records(repo, git, roles.fork.name) if roles.fork else ()
    syncing = read_syncing(repo, git, roles, mains, records)
    if options.via_pr:
        return _via_pr(repo, git, syncing, records=records, options=options, tell=tell)
    now = journal.stamp()
    plan = plan_realign(syncing, now=now) if options.realign else plan_sync(repo, syncing, now=now)
    if options.dry_run or not plan.steps:
        return planned(plan)
    if options.realign and not options.yes and (syncing.own or syncing.synced):
        _confirm(syncing)
    return _act(repo, git, plan, tell)


def _is_comparable(repo: Repo, git: Git, roles: Roles) -> bool:
    """Whether enough history is here to compare the main branches as they were last seen."""
    remotes = (roles.upstream, roles.fork)
    one, other = (repo.refs.get(repo.main_ref(remote.name), "") if remote else "" for remote in remotes)
    return is_enough(repo, git, one, other)


def _act(repo: Repo, git: Git, plan: Plan, tell: Tell) -> Outcome:
    entry = journal.write(repo, journal.begin(repo, plan))
    way = Way(repo, git, lambda now, step: push_of_sync(repo, git, now, step))
    return sync_outcome(repo, plan, execute(way, entry, tell))


def _via_pr(
    repo: Repo, git: Git, syncing: Syncing, *, records: tuple[Record, ...], options: Namespace, tell: Tell
) -> Outcome:
    if syncing.same_tree or not syncing.missing:
        return Outcome("sync", "nothing to do", Exit.DONE, "the fork has all of upstream already")
    check_identity(git)
    today = time.strftime("%Y-%m-%d", time.gmtime())
    asked = Asked(options.message, strip=options.strip, push=options.push)
    base = find_base(repo, git, syncing, records)
    syncing = syncing._replace(missing=count_commits(git, base, syncing.new))
    draft = write_draft(repo, syncing, asked, style_of(git), now=journal.stamp(), today=today)
    tell("merging upstream")
    merged = merge(repo, git, syncing, base, draft.id)
    if merged.conflicts:
        return stopped_squash(repo, git, draft, merged, dry_run=options.dry_run)
    return finish_squash(repo, git, draft, merged.tree, tell, dry_run=options.dry_run)


def _confirm(syncing: Syncing) -> None:
    """Have the user type the branch's name; RefusedError where nobody can, or it is another."""
    lost = len(syncing.own) + syncing.synced
    name = f"{syncing.fork}/{syncing.fork_main}"
    refusal = RefusedError(
        "confirm",
        f"this takes {count(lost, 'commit')} off {shown(name)}, and nobody is here to confirm it",
        next=[Next("if that is what you mean", ("mergeready", "sync", "--realign", "--yes"))],
    )
    confirm(f"This takes {count(lost, 'commit')} off {name}.", name, refusal)
