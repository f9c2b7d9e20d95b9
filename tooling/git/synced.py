"""What a sync came to, in words: which main branches moved, or why the fork would not take it."""

from __future__ import annotations

from collections.abc import Callable

from tooling.errors import Exit, UserError
from tooling.git import journal
from tooling.git.command import Git
from tooling.git.execute import Ended, Stop, Way, execute
from tooling.git.journal import Entry
from tooling.git.outcome import Outcome
from tooling.git.plan import Next, Plan, Pushed, RefusedError, Step
from tooling.git.pushing import send
from tooling.git.read import read_repo
from tooling.git.remotes import find_roles
from tooling.git.restore import restore
from tooling.git.state import HEADS, Repo, tracking_ref
from tooling.git.text import shown

_WAYS = {
    "push": Next("if main takes pull requests only", ("mergeready", "sync", "--via-pr", "--push")),
    "workflow-scope": Next(
        "log in with the right to change them, then sync again", ("gh", "auth", "refresh", "-s", "workflow")
    ),
    "unreachable": Next("once it can be reached, this is safe to run again", ("mergeready", "sync")),
}
"""What to run after a push that failed, by the reason."""
WAYS_ON = (
    Next("then go on", ("mergeready", "continue")),
    Next("or take it back", ("mergeready", "abort")),
)
UNDO = Next("take it back", ("mergeready", "undo"))


def push_of_sync(repo: Repo, git: Git, entry: Entry, step: Step) -> Ended:
    """Push what a sync brings to the fork; a failure leaves everything else as it is."""
    fork = find_roles(repo).fork
    assert fork
    source, _, target = step.argv[-1].partition(":")
    new = git.line("rev-parse", "--verify", source)
    old = git.line("rev-parse", "--verify", "--quiet", tracking_ref(fork.name, target.removeprefix(HEADS)))
    try:
        sent = send(repo, git, fork, step, Pushed(fork.name, target, old, new))
    except UserError as error:
        return Ended(entry, Stop("unreachable", str(error)))
    if sent.pushed is None:
        return Ended(entry, Stop("workflow-scope" if sent.code == "workflow-scope" else "push", sent.message))
    return Ended(entry._replace(pushed=(*entry.pushed, sent.pushed)))


def continue_sync(repo: Repo, git: Git, entry: Entry, tell: Callable[[str], None]) -> Outcome:
    """Finish a sync that was cut off."""
    way = Way(repo, git, lambda now, step: push_of_sync(repo, git, now, step))
    return sync_outcome(repo, Plan("sync", "the sync is finished"), execute(way, entry, tell))


def sync_outcome(repo: Repo, plan: Plan, ended: Ended) -> Outcome:
    """The outcome of a sync that has just run."""
    entry = ended.entry
    outcome = Outcome(
        command="sync",
        status="done",
        exit=Exit.DONE,
        summary=plan.summary,
        refs=entry.moves,
        pushed=entry.pushed,
        backup=entry.backup,
        warnings=plan.warnings,
        next=(UNDO,),
    )
    if ended.stop is None:
        return outcome
    if ended.stop.reason not in _WAYS:
        _take_back(repo, entry, ended.stop.message)
        return outcome._replace(
            status="error",
            exit=Exit.ENVIRONMENT,
            summary=f"{'the fork is up to date, but here ' if entry.pushed else ''}{ended.stop.message}",
            refs=(),
            next=(Next("once that is mended", ("mergeready", "sync")),),
        )
    # Nothing here has moved yet where main itself was to be pushed; a branch of ours stays for another try.
    abandoned, again = entry.done <= 1 and not entry.pushed, ("git", *entry.remaining[0].argv)
    if abandoned:
        journal.write(repo, entry._replace(state="abandoned"))
    first, *rest = ended.stop.message.split("\n")
    unreachable = ended.stop.reason == "unreachable"
    return outcome._replace(
        status="error" if unreachable else "remote refused",
        exit=Exit.ENVIRONMENT if unreachable else Exit.REMOTE_REFUSED,
        summary=shown(f"upstream was fetched, but the fork is as it was: {first}" if unreachable else first),
        lines=tuple(rest),
        next=(_WAYS[ended.stop.reason],) if abandoned else (Next("push it again", again), UNDO),
    )


def _take_back(repo: Repo, entry: Entry, message: str) -> None:
    """Take back what a checkout that failed half-way has left; where that is refused, say how it is done later."""
    try:
        restore(read_repo(repo.root), Git(repo.root), entry._replace(state="running"), "abandoned")
    except RefusedError as refused:
        raise RefusedError(
            refused.code,
            f"{message}; that cannot be taken back yet: {refused}",
            details=refused.details,
            next=(*refused.next, *WAYS_ON),
            exit=Exit.ENVIRONMENT,
        ) from refused
