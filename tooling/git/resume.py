"""Go on with, skip in, or give up what stopped."""

from __future__ import annotations

from typing import Literal

from tooling.errors import Exit
from tooling.git import edits, journal
from tooling.git.command import Git
from tooling.git.conflicts import marked, read_conflicts
from tooling.git.execute import Way, execute, go_on
from tooling.git.journal import Entry
from tooling.git.outcome import Outcome, planned
from tooling.git.plan import Next, Plan, RefusedError
from tooling.git.pushing import push_outcome
from tooling.git.read import read_repo
from tooling.git.rebased import rebase_outcome
from tooling.git.report import Tell
from tooling.git.restore import Restored, restore
from tooling.git.settle import by_hand, cut_off, in_progress
from tooling.git.state import HEADS, Repo
from tooling.git.text import count, several, short, shown


def resume(way: Way, entry: Entry, command: Literal["continue", "skip"], tell: Tell) -> Outcome:
    """Go on with a rebase of ours from wherever it stands."""
    repo, git = way.repo, way.git
    if entry.state == "undoing":
        raise RefusedError("undoing", "taking it back had begun", next=[Next("finish that", ("mergeready", "undo"))])
    if cut_off(repo, entry):
        return _begin_again(way, entry, command, tell)
    if in_progress(repo, entry):
        if command == "continue":
            _check_resolved(repo, git, entry)
        ended = go_on(way, journal.write(repo, entry._replace(state="running")), command, tell)
        if ended.stop:
            stopped = journal.write(repo, ended.entry._replace(state="stopped"))
            return rebase_outcome(repo, git, command, ended._replace(entry=stopped))
        entry = ended.entry._replace(done=entry.done + 1)
    else:
        entry = _after_git(repo, git, entry)
        if entry.state == "abandoned":
            return Outcome(
                command, "done", Exit.DONE, "the rebase was given up with git: edits are back, nothing is open"
            )
    ended = execute(way, entry, tell)
    if entry.command == "push":
        return push_outcome(ended)
    return rebase_outcome(repo, git, command, ended)


def foretell(repo: Repo, git: Git, entry: Entry, command: Literal["continue", "skip", "abort"]) -> Outcome:
    """What the command would do, step by step; RefusedError where it would be refused."""
    name = f"{entry.command} of {shown(entry.ref.removeprefix(HEADS))}"
    if command == "abort":
        return taken_back(command, entry)
    lines = []
    if cut_off(repo, entry):
        _check_from_start(entry, command)
        lines.append("git was cut off in the middle of a commit: take it back, and begin again")
        entry = entry._replace(done=0)
    elif in_progress(repo, entry):
        if command == "continue":
            _check_resolved(repo, git, entry)
        doing = "leave out" if command == "skip" else "go on after"
        lines.append(f"{doing} {shown(git.line('log', '-1', '--format=%h %s', 'REBASE_HEAD'))}")
    plan = Plan(entry.command, f"would go on with the {name}", entry.remaining, entry.moves, entry.backup)
    return planned(plan, lines=tuple(lines))._replace(command=command, status="planned")


def taken_back(command: str, entry: Entry) -> Outcome:
    """What taking an entry back would do: where its branches would go, and what would come back to the files."""
    summary = f"would take back the {entry.command} of {shown(entry.ref.removeprefix(HEADS))}"
    moves = tuple(move._replace(old=move.new, new=move.old) for move in entry.moves)
    lines = [
        f"{shown(move.ref)}: {f'{short(move.old)} to ' if move.old else 'to '}{short(move.new) or 'gone'}"
        for move in moves
        if move.old != move.new
    ]
    lines += [f"edits come back: {', '.join(several([edit.path for edit in entry.edits]))}"] if entry.edits else []
    lines += [f"files come back: {', '.join(several(entry.aside))}"] if entry.aside else []
    return Outcome(command, "planned", Exit.DONE, summary, tuple(lines), refs=moves, backup=entry.backup)


def give_up(repo: Repo, git: Git, entry: Entry, command: str) -> Outcome:
    """Take back a run that has not ended."""
    restored = restore(repo, git, entry, "abandoned")
    name = shown(entry.ref.removeprefix(HEADS))
    summary = f"{name} is as it was before the {entry.command}"
    return Outcome(command, "done", Exit.DONE, summary, tuple(_kept(restored)), refs=entry.moves, backup=entry.backup)


def nothing_open(repo: Repo, command: str) -> Outcome:
    """The outcome where no run of ours is open; RefusedError where git has begun something itself."""
    if operation := repo.operation:
        raise RefusedError(
            "not-ours",
            f"the {operation.kind} in progress was not started by mergeready",
            next=[Next("use git itself", argv) for argv in operation.ways_out],
        )
    return Outcome(command, "nothing to do", Exit.DONE, f"there is nothing to {command}")


def _begin_again(way: Way, entry: Entry, command: Literal["continue", "skip"], tell: Tell) -> Outcome:
    """Take a rebase back that git was killed in, and run it from its start."""
    _check_from_start(entry, command)
    tell("git was cut off in the middle of a commit: beginning again")
    restored = restore(way.repo, way.git, entry, "running")
    way = way._replace(repo=read_repo(way.repo.root))
    outcome = rebase_outcome(way.repo, way.git, command, execute(way, restored.entry._replace(done=0), tell))
    return outcome._replace(lines=(*outcome.lines, *_kept(restored)))


def _check_from_start(entry: Entry, command: str) -> None:
    """Refuse where beginning again would not do what was asked for, or lose what somebody has resolved."""
    give_up = Next("take all of it back", ("mergeready", "abort"))
    if command == "skip":
        again = Next("begin again", ("mergeready", "continue"))
        raise RefusedError(
            "cut-off", "git was cut off: the rebase stands at no commit to leave out", next=[again, give_up]
        )
    if entry.conflicted:
        raise RefusedError(
            "cut-off",
            "git was cut off in the middle of a commit, and would drop it if it went on",
            details=["to begin again would drop how you resolved conflicts; HEAD has that, look at it first"],
            next=[give_up],
        )


def _kept(restored: Restored) -> list[str]:
    return [f"what you had changed since is kept in {shown(restored.kept)}"] if restored.kept else []


def _after_git(repo: Repo, git: Git, entry: Entry) -> Entry:
    """The entry as it stands where git has nothing in progress: step forward over what is done."""
    if repo.head.ref != entry.ref:
        name = entry.ref.removeprefix(HEADS)
        back = Next("go back there", ("git", "switch", name)), Next("or take it back", ("mergeready", "abort"))
        raise RefusedError(
            "elsewhere", f"that run was on {shown(name)}", next=back if entry.ref in repo.refs else back[1:]
        )
    if not entry.remaining:
        return entry
    step = entry.remaining[0]
    if step.action == "rebase":
        done = by_hand(repo, git, entry)
        if done == "finished":
            return entry._replace(done=entry.done + 1)
        if done == "aborted" and entry.state == "stopped":
            return restore(repo, git, entry, "abandoned").entry
    if step.action == "put-back":
        if entry.state == "stopped":
            _check_resolved(repo, git, entry)
            return entry._replace(done=entry.done + 1)
        edits.put_away(git, entry.edits)
    return entry


def _check_resolved(repo: Repo, git: Git, entry: Entry) -> None:
    """Refuse to go on over a file that is in conflict, or was and still holds the markers."""
    conflicts = read_conflicts(git)
    left = marked(repo.root, entry.conflicted)
    if conflicts:
        ready = [conflict.path for conflict in conflicts if conflict.path not in left]
        raise RefusedError(
            "unresolved",
            f"{count(len(conflicts), 'file')} still in conflict",
            details=several([f"{conflict.path}: {conflict.kind}" for conflict in conflicts]),
            next=[Next("once it is as you want it", ("git", "add", "--", repo.from_here(path))) for path in ready[:1]],
            exit=Exit.STOPPED,
        )
    if left:
        raise RefusedError(
            "markers", "there are conflict markers in files that were in conflict", details=several(left)
        )
