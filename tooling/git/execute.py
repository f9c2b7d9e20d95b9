"""Act: run the steps of an entry one after another, write down each that is done, and stop where the user is needed."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from tooling.git import aside, edits, journal, lineends
from tooling.git.command import Git, text
from tooling.git.conflicts import Conflict, read_conflicts, remembers
from tooling.git.fetch import last_words
from tooling.git.hint import drop_hint
from tooling.git.journal import Entry
from tooling.git.plan import Step
from tooling.git.read import read_operation
from tooling.git.state import Operation, Repo
from tooling.git.strays import drop_unchanged
from tooling.git.text import to_git
from tooling.git.watching import watched
from tooling.git.wordless import past_wordless
from tooling.process import Done

_STATES: dict[str, journal.State] = {
    "push": "finished",
    "unreachable": "finished",
    "workflow-scope": "finished",
}
_PAUSES = (0.1, 0.6, 1.3)


class Stop(NamedTuple):
    """Why a run stands still: `reason` is stable, the rest is for people."""

    reason: str
    message: str
    conflicts: tuple[Conflict, ...] = ()


class Ended(NamedTuple):
    """What became of an entry; without a stop all of it is done."""

    entry: Entry
    stop: Stop | None = None


Pusher = Callable[[Entry, Step], Ended]
"""Runs a push step: it asks the remote first, so it needs more than git here."""


class Way(NamedTuple):
    """How to act: in which repository, with which git, who pushes, and whether to go on past recorded resolutions."""

    repo: Repo
    git: Git
    push: Pusher
    recall: bool = False


def execute(way: Way, entry: Entry, tell: Callable[[str], None]) -> Ended:
    """Run the steps of an entry that are left, and close it when all are done."""
    entry = journal.write(way.repo, entry._replace(state="running"))
    for step in entry.remaining:
        tell(step.why)
        with watched(way.repo.git_dir, tell):
            ended = _run(way, entry, step)
        if ended.stop:
            return ended._replace(entry=_close(way, ended.entry, _state(entry, ended.stop)))
        entry = journal.write(way.repo, ended.entry._replace(done=entry.done + 1))
    aside.put_back(way.repo, entry)
    return Ended(_close(way, entry, "finished"))


def go_on(way: Way, entry: Entry, command: str, tell: Callable[[str], None]) -> Ended:
    """Go on with a rebase that git has in progress: `command` is continue or skip."""
    if command == "skip":
        drop_unchanged(way.repo, way.git, entry)
    with watched(way.repo.git_dir, tell):
        done = _again(way, command)
    return _rebased(way, entry, done)


def _run(way: Way, entry: Entry, step: Step) -> Ended:
    if step.action == "set-aside":
        aside.set_aside(way.repo, entry, entry.aside)
    elif step.action == "line-ends":
        lineends.take_as_they_are(way.repo, way.git, entry, step.argv[step.argv.index("--") + 1 :])
    elif step.action == "put-away":
        edits.put_away(way.git, entry.edits)
    elif step.action == "put-back":
        return _put_back(way, entry)
    elif step.action == "rebase":
        return _rebased(way, entry, _patient(way.git, step.argv))
    elif step.action == "push":
        return way.push(entry, step)
    else:
        done = _patient(way.git, step.argv)
        if done.status and not _is_done(way.git, step):
            return Ended(entry, Stop("failed", last_words(done)))
    return Ended(entry)


def _is_done(git: Git, step: Step) -> bool:
    """Whether a ref is where the step moves it: an earlier try got that far."""
    return step.action == "move" and git.line("rev-parse", "--verify", "--quiet", step.argv[1]) == step.argv[2]


def _put_back(way: Way, entry: Entry) -> Ended:
    refusal = edits.put_back(way.repo, way.git, entry, way.git.line("rev-parse", "HEAD"))
    if refusal:
        return Ended(entry, Stop("edits", f"the rebase is done, but your edits are not back: {refusal}"))
    conflicts = read_conflicts(way.git)
    if not conflicts:
        return Ended(entry)
    conflicted = tuple(conflict.path for conflict in conflicts)
    message = "the rebase is done, but your edits conflict with it"
    return Ended(entry._replace(conflicted=conflicted), Stop("edits", message, conflicts))


def _rebased(way: Way, entry: Entry, done: Done) -> Ended:
    """What a rebase came to: git's exit status alone does not tell."""
    while True:
        operation = read_operation(way.repo.git_dir)
        if operation is None:
            return Ended(entry, Stop("refused", last_words(done)) if done.status else None)
        conflicts = read_conflicts(way.git, rerere=remembers(way.repo))
        entry = entry._replace(conflicted=tuple({*entry.conflicted, *(conflict.path for conflict in conflicts)}))
        stop = _why_it_stands(done, conflicts, _place(operation))
        if stop.reason != "remembered" or not way.recall:
            return Ended(entry, stop)
        if conflicts:
            paths = "\0".join(conflict.path for conflict in conflicts)
            way.git.ask(
                "--literal-pathspecs", "add", "--pathspec-from-file=-", "--pathspec-file-nul", stdin=to_git(paths)
            )
        done = _again(way, "continue")


def _place(operation: Operation) -> str:
    return f"at commit {operation.step} of {operation.total}" if operation.total else "before the first commit"


def _why_it_stands(done: Done, conflicts: tuple[Conflict, ...], where: str) -> Stop:
    said = text(done.err)
    if conflicts and all(conflict.remembered for conflict in conflicts):
        return Stop("remembered", f"{where}: resolved as you resolved it before; look at it, then go on", conflicts)
    if conflicts:
        return Stop("conflict", f"conflict {where}", conflicts)
    if "gpg failed to sign" in said or "failed to write commit object" in said:
        return Stop("signing", f"git could not sign {where}: {last_words(done)}")
    if "cannot lock ref" in said or ".lock" in said:
        return Stop("locked", f"git could not take a lock {where}: {last_words(done)}")
    if "Resolved '" in said or "using previous resolution" in said:
        return Stop("remembered", f"{where}: resolved as you resolved it before; look at it, then go on")
    return Stop("stopped", f"git stopped {where}: {last_words(done)}")


def _again(way: Way, command: str) -> Done:
    """Go on with a rebase: after a conflict the message is what it was, with nothing added, and no line a comment."""
    drop_hint(way.repo.git_dir, way.git)
    verbatim = way.git._replace(extra=(*way.git.extra, "core.commentChar=\1", "commit.status=false"))
    return past_wordless(verbatim, _patient(verbatim, ("rebase", f"--{command}")))


def _patient(git: Git, argv: tuple[str, ...]) -> Done:
    """Run a command, again after a moment where another git held the index."""
    done = git.attempt(*argv)
    for pause in _PAUSES:
        if done.status == 0 or b"index.lock': File exists" not in done.err:
            break
        time.sleep(pause)
        done = git.attempt(*argv)
    return done


def _state(entry: Entry, stop: Stop) -> journal.State:
    """How an entry is left: what came to nothing stays open until what git did on the way is taken back."""
    if stop.reason in ("refused", "failed"):
        return "undoing" if entry.command in ("rebase", "sync") else "abandoned"
    return _STATES.get(stop.reason, "stopped")


def _close(way: Way, entry: Entry, state: journal.State) -> Entry:
    """Write down how a run ended, and where its refs are now."""
    moves = tuple(move._replace(new=way.git.line("rev-parse", "--verify", "--quiet", move.ref)) for move in entry.moves)
    entry = journal.write(way.repo, entry._replace(state=state, moves=moves))
    lineends.let_go(way.repo)
    return entry
