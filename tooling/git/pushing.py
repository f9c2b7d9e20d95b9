"""Carry out a push: ask the remote what it has, let the plan decide, push by full names, say why where it failed."""

from __future__ import annotations

import os
from typing import NamedTuple

from tooling.errors import Exit, UserError
from tooling.git.command import Git, text
from tooling.git.execute import Ended, Stop
from tooling.git.fetch import ask_remote, patience, unreachable
from tooling.git.journal import Entry
from tooling.git.outcome import Outcome
from tooling.git.plan import Next, Pushed, RefusedError, Step
from tooling.git.push import Allowed, Pushing, moved_meanwhile, plan_push, push_step, refusal
from tooling.git.remotes import Roles
from tooling.git.replay import foreign_commits
from tooling.git.state import HEADS, Remote, Repo, tracking_ref
from tooling.git.text import shown


class Sent(NamedTuple):
    """How a push ended: what moved, or why nothing did (a stable code and a sentence)."""

    pushed: Pushed | None = None
    code: str = ""
    message: str = ""
    next: tuple[Next, ...] = ()


def read_pushing(repo: Repo, git: Git, roles: Roles, ref: str, expected: str) -> Pushing:
    """The facts of a push of a branch to the fork, where `expected` was last seen; RefusedError without a fork."""
    fork = roles.fork
    if fork is None:
        raise RefusedError(
            "no-fork",
            "there is no remote to push to",
            next=[Next("add your fork", ("git", "remote", "add", "origin", "URL"))],
        )
    there = ask_remote(repo, git, fork, ref)
    project = ask_remote(repo, git, roles.upstream) if roles.forked else there
    tip, actual = git.line("rev-parse", "--verify", ref), there.refs.get(ref, "")
    if not expected and actual and _was_ours(git, ref, tip, actual):
        expected = actual
    return Pushing(
        remote=fork,
        ref=ref,
        tip=tip,
        expected=expected,
        actual=actual,
        mains=(there.main.removeprefix(HEADS), project.main.removeprefix(HEADS)),
        ahead=_ahead(git, tip, project.main_oid, tracking_ref(roles.upstream.name, project.main.removeprefix(HEADS))),
        foreign=foreign_commits(git, ref, tip, expected),
        forked=roles.forked,
    )


def push_branch(repo: Repo, git: Git, pushing: Pushing, allowed: Allowed) -> Sent:
    """Push where the plan allows it; RefusedError where it does not. The lease is looked at before a slow hook runs."""
    plan = plan_push(pushing, allowed)
    if not plan.steps:
        return Sent()
    if wrong := moved_meanwhile(pushing):
        ways = (look_at(pushing.remote.name, pushing.ref),) if pushing.actual else ()
        return Sent(code="stale" if pushing.actual else "gone", message=wrong, next=ways)
    step = push_step(pushing.remote.name, pushing.ref, pushing.actual and pushing.expected, no_verify=allowed.no_verify)
    return send(repo, git, pushing.remote, step, Pushed(pushing.remote.name, pushing.ref, pushing.actual, pushing.tip))


def send(repo: Repo, git: Git, remote: Remote, step: Step, wanted: Pushed) -> Sent:
    """Run a push step; UserError where the remote cannot be reached."""
    done = git.speak(*step.argv, silence=max(patience(repo), 600.0 if _has_hook(git) else 0.0))
    if done.status == 0:
        return Sent(wanted)
    hook = done.status == 1 and _has_hook(git) and "--no-verify" not in step.argv
    code, message = refusal(text(done.out), text(done.err), hook)
    if code == "unreachable":
        raise unreachable(shown(remote.name), done)
    ways = {
        "stale": (look_at(remote.name, wanted.ref),),
        "workflow-scope": (Next("log in with the right to change them", ("gh", "auth", "refresh", "-s", "workflow")),),
    }
    return Sent(code=code, message=message, next=ways.get(code, ()))


def look_at(remote: str, ref: str) -> Next:
    """How to see what a remote's branch has; all of it is named, as not every clone follows every branch."""
    return Next("look at what is there", ("git", "fetch", remote, f"+{ref}:{tracking_ref(remote, ref[len(HEADS):])}"))


def push_of_entry(repo: Repo, git: Git, roles: Roles, entry: Entry, *, expected: str, allowed: Allowed) -> Ended:
    """The push at the end of a rebase: whatever is wrong with it, what was done here stays done."""
    try:
        sent = push_branch(repo, git, read_pushing(repo, git, roles, entry.ref, expected), allowed)
    except UserError as error:
        return Ended(entry, Stop("push", str(error)))
    if sent.code:
        return Ended(entry, Stop("push", sent.message))
    return Ended(entry._replace(pushed=(*entry.pushed, *([sent.pushed] if sent.pushed else []))))


def push_outcome(ended: Ended) -> Outcome:
    """The outcome of a push that was cut off and has run again."""
    pushed = ended.entry.pushed[-1] if ended.entry.pushed else None
    sent = Sent(pushed, *(("refused", ended.stop.message) if ended.stop else ()))
    return sent_outcome(ended.entry.ref.removeprefix(HEADS), sent)


def sent_outcome(branch: str, sent: Sent) -> Outcome:
    """The outcome of a push by itself."""
    name = shown(branch)
    if sent.pushed:
        summary = f"{name} is on {shown(sent.pushed.remote)}"
        return Outcome("push", "done", Exit.DONE, summary, pushed=(sent.pushed,))
    if not sent.code:
        return Outcome("push", "nothing to do", Exit.DONE, f"{name} is on the fork already")
    first, *rest = sent.message.split("\n")
    return Outcome(
        command="push",
        status="remote refused",
        exit=Exit.REMOTE_REFUSED,
        summary=f"{name} was not pushed: {first}",
        lines=tuple(rest),
        next=sent.next,
        items=({"code": sent.code},),
    )


def _was_ours(git: Git, ref: str, tip: str, actual: str) -> bool:
    """Whether a branch held all that is on the remote, which nobody has followed: pushed from here, then rewritten."""
    here = git.attempt("cat-file", "-e", f"{actual}^{{commit}}").status == 0
    return here and not foreign_commits(git, ref, tip, actual)


def _ahead(git: Git, tip: str, *bases: str) -> int:
    """How many commits the branch has beyond upstream; 1 where upstream's commits are not here to compare with."""
    for base in filter(None, bases):
        done = git.attempt("rev-list", "--count", tip, f"^{base}")
        if done.status == 0:
            return int(done.out)
    return 1


def _has_hook(git: Git) -> bool:
    return os.access(os.path.join(git.folder, git.line("rev-parse", "--git-path", "hooks/pre-push")), os.X_OK)
