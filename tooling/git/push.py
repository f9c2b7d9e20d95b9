"""Plan a push: one branch, one remote, one full refspec, and a lease on what was last seen there.

A lease alone does not protect a rebase, because the fetch before it renews the lease. So the commit that is expected on
the remote is the one seen before, and nothing is pushed unless the branch held that commit at some time.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tooling.git.plan import Next, Plan, RefusedError, Step
from tooling.git.state import HEADS, Commit, Remote
from tooling.git.text import count, several, short, shown

_WORKFLOW = re.compile("workflow.*scope|scope.*workflow", re.IGNORECASE)
_FLAG = re.compile(r"^([ +\-*!=])\t([^\t]*)\t(.*)$", re.MULTILINE)


class Pushing(NamedTuple):
    """A branch that should go to the fork. `expected` is what was last seen there, empty for a new branch."""

    remote: Remote
    ref: str
    tip: str
    expected: str
    actual: str = ""
    """What the remote has now."""
    mains: tuple[str, ...] = ()
    ahead: int = 0
    foreign: tuple[Commit, ...] = ()
    forked: bool = True

    @property
    def branch(self) -> str:
        """The branch's own name."""
        return self.ref.removeprefix(HEADS)


class Allowed(NamedTuple):
    """What the user has said is meant."""

    empty: bool = False
    to_upstream: bool = False
    no_verify: bool = False


def push_step(remote: str, ref: str, expected: str, *, no_verify: bool = False) -> Step:
    """Push a branch to where it belongs, by full names; with a lease where it is there already."""
    lease = (f"--force-with-lease={ref}:{expected}",) if expected else ("--set-upstream",)
    hooks = ("--no-verify",) if no_verify else ()
    argv = ("push", "--porcelain", "--progress", *hooks, *lease, "--end-of-options", remote, f"{ref}:{ref}")
    why = f"only if {short(expected)} is still there" if expected else "a new branch there"
    return Step("push", argv, f"push {shown(ref.removeprefix(HEADS))} to {shown(remote)}, {why}")


def plan_push(pushing: Pushing, allowed: Allowed) -> Plan:
    """Bring the fork's branch to this one's tip.

    RefusedError where that would drop somebody's work or close a pull request.
    """
    name, remote = shown(pushing.branch), shown(pushing.remote.name)
    if pushing.branch in pushing.mains:
        raise RefusedError("to-main", f"{name} is a main branch: push a branch of your own, or use mergeready sync")
    if not pushing.forked and not allowed.to_upstream:
        raise RefusedError(
            "no-fork",
            f"{remote} is the project itself, not a fork of yours",
            next=[Next("if that is what you mean", ("mergeready", "push", "--to-upstream"))],
        )
    if pushing.foreign:
        raise foreign_commits(pushing)
    if pushing.actual == pushing.tip:
        return Plan("push", f"{name} is on {remote} already")
    if not pushing.ahead and not allowed.empty:
        raise empty_branch(pushing)
    step = push_step(pushing.remote.name, pushing.ref, pushing.expected, no_verify=allowed.no_verify)
    return Plan("push", step.why, (step,))


def moved_meanwhile(pushing: Pushing) -> str:
    """What is wrong where the remote is not as it was last seen, nothing where it is."""
    name, remote = shown(pushing.branch), shown(pushing.remote.name)
    if pushing.actual == pushing.expected:
        return ""
    if pushing.actual:
        return f"stale: {name} on {remote} has moved to {short(pushing.actual)}, which you have not seen yet"
    return f"{name} is gone on {remote}: was its pull request merged or closed?"


def foreign_commits(pushing: Pushing) -> RefusedError:
    """The refusal to drop commits of others."""
    return RefusedError(
        "foreign-commits",
        f"{shown(pushing.remote.name)} has {count(len(pushing.foreign), 'commit')} that this branch never held",
        details=several([f"{short(commit.oid)} {commit.subject} ({commit.author})" for commit in pushing.foreign]),
        next=[Next("take them in", ("mergeready", "rebase", "--adopt"))],
    )


def empty_branch(pushing: Pushing) -> RefusedError:
    """The refusal to push a branch without commits of its own."""
    return RefusedError(
        "empty-branch",
        f"{shown(pushing.branch)} has no commit of its own left: pushing it would close its pull request for good",
        next=[Next("if that is what you mean", ("mergeready", "push", "--allow-empty-branch"))],
    )


def refusal(porcelain: str, errors: str, hook: bool) -> tuple[str, str]:  # noqa: FBT001 - a fact, not a switch
    r"""Why a push failed, from `git push --porcelain`: a stable code and a sentence.

    >>> refusal("!\trefs/heads/x:refs/heads/x\t[rejected] (stale info)\n", "", False)[0]
    'stale'
    """
    lines = _FLAG.findall(porcelain)
    reason = next((summary for flag, _, summary in lines if flag == "!"), "")
    said = "\n".join(line[len("remote: ") :].rstrip() for line in errors.splitlines() if line.startswith("remote: "))
    if "[remote rejected]" in reason and _WORKFLOW.search(f"{reason}\n{said}"):
        return "workflow-scope", f"your login may not change workflows: {reason.partition('] ')[2]}\n{said}".strip()
    if "[remote rejected]" in reason:
        return "protected", f"the remote refused it: {reason.partition('] ')[2]}\n{said}".strip()
    if "stale info" in reason or "remote ref updated since checkout" in reason:
        return "stale", "the remote has moved since it was last seen"
    if reason:
        return "rejected", f"the remote has commits that are not here: {reason}"
    if hook:
        return "hook", "your pre-push hook refused it"
    return "unreachable", ""
