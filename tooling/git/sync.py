"""Plan how a fork's main branch catches up with upstream: by fast-forward, or by starting over.

A fast-forward brings no new commit hashes, so it is the quietest way and the default.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tooling.git.plan import Move, Next, Plan, RefusedError, Step, Warned
from tooling.git.remotes import Roles
from tooling.git.safety import begin_apart
from tooling.git.state import BACKUPS, HEADS, Commit, Repo
from tooling.git.text import command_line, count, several, short, shown

_FOLLOW = ("merge", "--ff-only", "--quiet", "--no-squash", "--no-verify-signatures")
"""What moves a branch that is checked out forward, whatever options it has in the configuration."""


class Syncing(NamedTuple):
    """The two main branches and what lies between them."""

    upstream: str
    """Name of upstream's remote."""
    fork: str
    upstream_main: str
    """Name of upstream's main branch, without refs/heads."""
    fork_main: str
    new: str
    """Upstream's tip."""
    old: str
    """The fork's tip."""
    roots: tuple[Commit, ...] = ()
    """Where fork and upstream begin, if they have no common history."""
    missing: int = 0
    """How many commits of upstream the fork does not have."""
    own: tuple[Commit, ...] = ()
    """Commits that only the fork has, squashed syncs of ours left aside."""
    synced: int = 0
    """How many of its commits are squashed syncs."""
    same_tree: bool = False
    in_the_way: tuple[str, ...] = ()
    unfit: tuple[str, ...] = ()
    """Paths that this file system cannot hold, with the reason."""
    local_follows: bool = True
    """Whether upstream holds all of the local main branch, so that it can move forward."""
    movable_elsewhere: bool = False
    """Whether the local main branch is checked out in another worktree, and may be moved there."""


def check_forked(roles: Roles) -> Roles:
    """The same roles; RefusedError where there is no fork to bring up to date."""
    if not roles.forked:
        raise RefusedError(
            "no-fork",
            f"{shown(roles.upstream.name)} is the project itself and there is no fork beside it: nothing to sync",
            next=[Next("if you have a fork, add it", ("git", "remote", "add", "origin", "URL"))],
        )
    return roles


def plan_sync(repo: Repo, syncing: Syncing, *, now: str) -> Plan:
    """Fast-forward the fork's main branch, and the local one where that is safe.

    RefusedError where the fork's has commits of its own.
    """
    main, upstream = shown(syncing.fork_main), f"{shown(syncing.upstream)}/{shown(syncing.upstream_main)}"
    _check_related(syncing)
    if syncing.same_tree and syncing.old != syncing.new:
        history = count(len(syncing.own) + syncing.synced, "commit")
        told = Warned("realign", f"to make the histories equal too: mergeready sync --realign ({history} would go)")
        return Plan("sync", f"already in sync: contents are equal, the history differs by {history}", warnings=(told,))
    if syncing.own or syncing.synced:
        raise _diverged(syncing)
    ref = f"{HEADS}{syncing.fork_main}"
    steps = (_fast_forward(syncing, ref),) if syncing.missing else ()
    moves, local, warnings = _local(repo, syncing, ref)
    if not steps and not local:
        return Plan("sync", f"{main} on {shown(syncing.fork)} is level with {upstream}", warnings=warnings)
    backup = f"{BACKUPS}{syncing.fork_main}/{now}"
    keep = tuple(Step("back-up", ("update-ref", backup, move.old), f"keep {main} as it is now") for move in moves)
    figures = f": {count(syncing.missing, 'commit')}" if syncing.missing else ", as your fork's is"
    summary = f"bring {main if syncing.missing else f'your own {main}'} up to date with {upstream}{figures}"
    return Plan("sync", summary, (*keep, *steps, *local), moves, backup, syncing.new, (*_renamed(syncing), *warnings))


def plan_realign(syncing: Syncing, *, now: str) -> Plan:
    """Make the fork's main branch equal to upstream's; what it was stays on a branch there, and under a ref here."""
    if syncing.old == syncing.new:
        return Plan("sync", f"{shown(syncing.fork_main)} is upstream's already")
    ref, kept = f"{HEADS}{syncing.fork_main}", f"{HEADS}mergeready-backup/{syncing.fork_main}-{now}"
    backup = f"{BACKUPS}{syncing.fork_main}/{now}"
    lease = f"--force-with-lease={ref}:{syncing.old}"
    refspecs = (f"{syncing.old}:{kept}", f"{syncing.new}:{ref}")
    argv = ("push", "--porcelain", "--progress", "--atomic", lease, "--end-of-options", syncing.fork, *refspecs)
    lost = len(syncing.own) + syncing.synced
    stay = f"{count(lost, 'commit')} stay on {shown(kept.removeprefix(HEADS))}"
    why = f"move {shown(syncing.fork_main)} to upstream's {short(syncing.new)}; {stay}"
    steps = (
        Step("back-up", ("update-ref", backup, syncing.old), "keep the fork's branch here too"),
        Step("push", argv, why),
    )
    return Plan("sync", why, steps, (), backup, syncing.new)


def _fast_forward(syncing: Syncing, ref: str) -> Step:
    argv = ("push", "--porcelain", "--progress", "--end-of-options", syncing.fork, f"{syncing.new}:{ref}")
    missing = count(syncing.missing, "commit")
    return Step("push", argv, f"fast-forward {shown(syncing.fork_main)} on {shown(syncing.fork)} by {missing}")


def _local(repo: Repo, syncing: Syncing, ref: str) -> tuple[tuple[Move, ...], tuple[Step, ...], tuple[Warned, ...]]:
    """How the local main branch follows: not at all where it has gone its own way or somebody works on it."""
    now, name = repo.refs.get(ref, ""), shown(syncing.fork_main)
    if not now or now == syncing.new:
        return (), (), ()
    if not syncing.local_follows:
        return (), (), (Warned("local-main", f"your own {name} is left as it is: it has commits of its own"),)
    move, why = (Move(ref, now, syncing.new),), f"fast-forward your own {name}"
    if place := repo.elsewhere(ref):
        go = ("-C", place, *_FOLLOW, syncing.new)
        if syncing.movable_elsewhere:
            return move, (Step("fast-forward", go, f"{why} in {shown(place)}"),), ()
        said = f"your own {name} is checked out in {shown(place)}, with work in it or gone, and left as it is"
        return (), (), (Warned("local-main", f"{said}; to move it: {command_line(('git', *go))}"),)
    if repo.head.ref != ref:
        return move, (Step("move", ("update-ref", ref, syncing.new, now), why),), ()
    if repo.edits or syncing.in_the_way or syncing.unfit:
        reason = f"cannot be held here: {shown(syncing.unfit[0])}" if syncing.unfit else "that are not committed"
        return (), (), (Warned("local-main", f"your own {name} is left as it is: there are files {reason}"),)
    return move, (Step("fast-forward", (*_FOLLOW, syncing.new), why),), ()


def _check_related(syncing: Syncing) -> None:
    if syncing.roots:
        raise RefusedError(
            "unrelated",
            f"{shown(syncing.fork)} and {shown(syncing.upstream)} have no common history: is it the right remote?",
            details=begin_apart((syncing.fork, syncing.upstream), syncing.roots),
            next=[Next("see where they point", ("git", "remote", "-v"))],
        )


def _diverged(syncing: Syncing) -> RefusedError:
    name = f"{shown(syncing.fork_main)} on {shown(syncing.fork)}"
    if not syncing.own:
        message = f"{name} holds {count(syncing.synced, 'squashed sync')}, so it cannot be fast-forwarded"
    else:
        message = f"{name} has {count(len(syncing.own), 'commit')} of its own, so it cannot be fast-forwarded"
    return RefusedError(
        "diverged",
        message,
        details=several([f"{short(commit.oid)} {commit.subject} ({commit.author})" for commit in syncing.own]),
        next=[
            Next("bring upstream in by a pull request", ("mergeready", "sync", "--via-pr")),
            Next("or make it equal to upstream, keeping what it was on a branch", ("mergeready", "sync", "--realign")),
        ],
    )


def _renamed(syncing: Syncing) -> Iterator[Warned]:
    if syncing.fork_main != syncing.upstream_main:
        names = f"upstream calls its main branch {shown(syncing.upstream_main)}, your fork {shown(syncing.fork_main)}"
        yield Warned("main-renamed", names)
