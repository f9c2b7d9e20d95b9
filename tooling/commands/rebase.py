"""Rebase your branch on upstream, so that it can be merged without a conflict.

Fetches upstream's main branch, replays your commits on it and puts your edits back. Before anything moves the
branch is kept under refs/mergeready/backup, and `mergeready undo` takes all of it back. It refuses, and changes
nothing, where something could get lost.

Examples:
  mergeready rebase                     replay your commits on upstream's main branch
  mergeready rebase --dry-run           show what would conflict, commit by commit, with upstream as last fetched
  mergeready rebase --dry-run --fetch   ask upstream first
  mergeready rebase --autostash --push  with edits that are not committed, and push the result
  mergeready rebase --update-refs       move the branches below this one along with it
  mergeready rebase --backup-ignored    put untracked and ignored files out of upstream's way
  mergeready rebase --unshallow         in a shallow clone, fetch the rest of the history first
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from tooling.console import Console
from tooling.git import edits, journal, worktree
from tooling.git.command import Git
from tooling.git.confirm import confirm
from tooling.git.execute import Way, execute
from tooling.git.fetch import prefetch
from tooling.git.lock import only_one
from tooling.git.many import question, too_many
from tooling.git.options import add_options
from tooling.git.outcome import Outcome, planned
from tooling.git.plan import Next, Plan, RefusedError, Step
from tooling.git.push import Allowed, push_step
from tooling.git.pushing import push_of_entry
from tooling.git.read import read_repo
from tooling.git.ready import check_identity, check_state
from tooling.git.rebase import plan_rebase
from tooling.git.rebased import rebase_outcome
from tooling.git.rehearse import rehearsed
from tooling.git.remotes import Roles, find_roles
from tooling.git.replay import read_replay
from tooling.git.report import Tell, report
from tooling.git.safety import Wishes
from tooling.git.shallow import check_enough, deepen, is_enough, promised, refusal, sources
from tooling.git.signing import check_signing
from tooling.git.state import HEADS, Repo, tracking_ref
from tooling.git.strays import read_beside
from tooling.git.target import NOT_ASKED, Target, branch_of_upstream, find_target, known_target, known_tip
from tooling.git.text import shown


def configure(parser: ArgumentParser) -> None:
    """Options of `mergeready rebase`."""
    parser.add_argument(
        "--onto", metavar="REF", default="", help="another branch of upstream, or any commit that is here"
    )
    parser.add_argument("--autostash", action="store_true", help="put edits away for the while, then put them back")
    parser.add_argument(
        "--backup-ignored",
        action="store_true",
        help="put files that git does not track, ignored ones too, out of upstream's way; undo brings them back",
    )
    parser.add_argument(
        "--ignore-line-ends",
        action="store_true",
        help="take files as they are that git calls changed only because attributes ask for other line ends",
    )
    parser.add_argument("--push", action="store_true", help="push the branch to your fork afterwards")
    parser.add_argument("--flatten", action="store_true", help="replay a branch that has merge commits, without them")
    parser.add_argument("--adopt", action="store_true", help="first take in what others pushed to your branch")
    parser.add_argument("--update-refs", action="store_true", help="move the branches below this one along with it")
    parser.add_argument("--rerere-continue", action="store_true", help="go on where git remembers your resolution")
    parser.add_argument("--no-verify", action="store_true", help="push without running the pre-push hook")
    parser.add_argument(
        "--unshallow", action="store_true", help="in a shallow clone: fetch the rest of the history first"
    )
    parser.add_argument("--yes", action="store_true", help="replay very many commits without asking")
    add_options(parser, fetch=True)


def run(options: Namespace, console: Console) -> int:
    """Rebase the current branch on upstream."""
    return report("rebase", options, console, lambda tell: _with_ways_out(options, tell))


def _with_ways_out(options: Namespace, tell: Tell) -> Outcome:
    """Rebase; a way out of a refusal that is another rebase keeps what was asked for."""
    try:
        return _rebase(options, tell)
    except RefusedError as refusal:
        asked = [f"--{name.replace('_', '-')}" for name, value in vars(options).items() if value is True]
        asked += ["--onto", options.onto] if options.onto else []
        kept = [word for word in asked if word not in ("--json", "--dry-run", "--fetch")]
        refusal.next = tuple(
            (
                step._replace(argv=(*step.argv, *(word for word in kept if word not in step.argv)))
                if step.argv[:2] == ("mergeready", "rebase")
                else step
            )
            for step in refusal.next
        )
        raise


def _rebase(options: Namespace, tell: Tell) -> Outcome:
    repo = read_repo()
    with only_one(repo, "rebase") as lock:
        git, roles = Git(repo.root, lock=lock), find_roles(repo)
        check_unfinished(repo)
        worktree.sweep(repo, git)
        check_state(repo)
        if not is_enough(repo, git, repo.head.oid, known_tip(repo, git, roles, options.onto)):
            wanted = sources(repo, git, roles, branch_of_upstream(roles, options.onto))
            if not options.unshallow:
                raise refusal("rebase", repo, git, wanted)
            if options.dry_run:
                return promised("rebase", repo, git, wanted)
            repo = deepen(repo, git, wanted, tell)
        if options.dry_run and not options.fetch:
            target = known_target(repo, git, roles, options.onto)
        else:
            target = find_target(repo, git, roles, options.onto, tell)
        check_enough(repo, git, repo.head.oid, target.oid)
        tell("comparing")
        plan = _plan(repo, git, roles, target, options)
        if options.dry_run:
            return rehearsed(repo, git, plan if options.fetch else plan._replace(warnings=(*plan.warnings, NOT_ASKED)))
        if not plan.steps:
            return planned(plan)._replace(status="nothing to do")
        entry = _begin(repo, git, plan)
        outcome = rebase_outcome(repo, git, "rebase", execute(_way(repo, git, roles, options), entry, tell))
        return outcome._replace(warnings=(*plan.warnings, *outcome.warnings))


def _way(repo: Repo, git: Git, roles: Roles, options: Namespace) -> Way:
    allowed, expected = Allowed(no_verify=options.no_verify), _seen(repo, roles)
    return Way(
        repo,
        git,
        lambda entry, _: push_of_entry(repo, git, roles, entry, expected=expected, allowed=allowed),
        options.rerere_continue,
    )


def check_unfinished(repo: Repo) -> None:
    """Refuse to start on top of a run of ours that has not ended."""
    if entry := journal.open_entry(repo):
        raise RefusedError(
            "unfinished",
            f"a {entry.command} of {shown(entry.ref.removeprefix(HEADS))} has not ended",
            next=[
                Next("go on with it", ("mergeready", "continue")),
                Next("or take it back", ("mergeready", "abort")),
            ],
        )


def _plan(repo: Repo, git: Git, roles: Roles, target: Target, options: Namespace) -> Plan:
    replay = read_replay(repo, git, target.oid, ref=target.ref, known=target.known, tracking=_seen(repo, roles))
    wishes = Wishes(
        autostash=options.autostash,
        flatten=options.flatten,
        adopt=options.adopt,
        backup_ignored=options.backup_ignored,
        update_refs=options.update_refs,
        ignore_line_ends=options.ignore_line_ends,
    )
    check_identity(git)
    stash = edits.make_stash(git, repo.edits) if options.autostash and not replay.line_ends else ""
    push = _push(repo, roles, options)
    plan = plan_rebase(repo, replay, shown(target.name), wishes, now=journal.stamp(), stash=stash, push=push)
    if plan.steps and not (options.yes or options.dry_run) and (asked := question(repo, replay)):
        confirm(asked, "yes", too_many(repo, replay))
    if plan.steps and any(remote.promisor for remote in repo.remotes):
        prefetch(repo, git, replay.base, replay.tip, replay.onto)
    if plan.steps:
        check_signing(repo, git)
    return plan


def _push(repo: Repo, roles: Roles, options: Namespace) -> Step | None:
    if not options.push:
        return None
    if roles.fork is None or not roles.forked:
        raise RefusedError(
            "no-fork", "there is no fork to push to", next=[Next("push by itself", ("mergeready", "push"))]
        )
    return push_step(roles.fork.name, repo.head.ref, _seen(repo, roles), no_verify=options.no_verify)


def _seen(repo: Repo, roles: Roles) -> str:
    """What the fork's branch was when it was last seen: recorded before anything is fetched."""
    return repo.refs.get(tracking_ref(roles.fork.name, repo.head.branch), "") if roles.fork else ""


def _begin(repo: Repo, git: Git, plan: Plan) -> journal.Entry:
    """Write down what is about to happen, with copies of the edits that are put away."""
    stash = next((step.argv[-1] for step in plan.steps if step.action == "put-back"), "")
    entry = journal.begin(repo, plan, stash=stash)._replace(beside=read_beside(repo, git))
    if stash:
        entry = entry._replace(edits=edits.copy(repo, git, repo.edits, edits.kept_files(repo, entry)))
    journal.prune(repo)
    return journal.write(repo, entry)
