"""Take back the last command: branch, edits and index become what they were before it.

What you did since stays where it does not overlap; where it does, nothing is changed. What was pushed stays pushed
unless you ask for --push, which puts the fork back too if nobody has pushed there since.

Examples:
  mergeready undo              take back the last command of this worktree
  mergeready undo --push       put the fork's branch back too
  mergeready undo --list       show what can be taken back
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from tooling.console import Console
from tooling.errors import Exit, UserError
from tooling.git import journal
from tooling.git.command import Git
from tooling.git.journal import Entry
from tooling.git.lock import only_one
from tooling.git.options import add_options
from tooling.git.outcome import Outcome
from tooling.git.plan import Next, Pushed, Step
from tooling.git.pushing import Sent, send
from tooling.git.read import read_repo
from tooling.git.report import Tell, report
from tooling.git.restore import restore
from tooling.git.resume import taken_back
from tooling.git.settle import settle
from tooling.git.squashed import abandon_squash
from tooling.git.state import HEADS, Remote, Repo
from tooling.git.text import short, shown


def configure(parser: ArgumentParser) -> None:
    """Options of `mergeready undo`."""
    parser.add_argument("--list", action="store_true", help="show what can be taken back, newest first")
    parser.add_argument("--push", action="store_true", help="put back on the fork, too, what the command pushed there")
    add_options(parser)


def run(options: Namespace, console: Console) -> int:
    """Take back the last command."""
    return report("undo", options, console, lambda tell: _undo(options, tell))


def _undo(options: Namespace, tell: Tell) -> Outcome:
    repo = read_repo()
    with only_one(repo, "undo") as lock:
        git = Git(repo.root, lock=lock)
        settle(repo, git)
        entries = [entry for entry in journal.entries(repo) if entry.state not in ("undone", "abandoned")]
        if options.list:
            return _listed(entries)
        if not entries:
            return Outcome("undo", "nothing to do", Exit.DONE, "there is nothing to undo")
        entry = entries[0]
        if entry.squash and entry.state in journal.OPEN:
            return abandon_squash(repo, git, entry, dry_run=options.dry_run)._replace(command="undo")
        if options.dry_run:
            return taken_back("undo", entry)
        tell(f"taking back {entry.command}")
        restored = restore(repo, git, entry, "undone")
        kept = [f"what you had changed since is kept in {shown(restored.kept)}"] if restored.kept else []
        outcome = Outcome(
            "undo",
            "done",
            Exit.DONE,
            _summary(entry),
            tuple(kept),
            refs=taken_back("undo", entry).refs,
            backup=entry.backup,
        )
        return _push_back(repo, git, entry, outcome, push=options.push)


def _summary(entry: Entry) -> str:
    if entry.command == "push":
        return f"the push of {shown(entry.ref.removeprefix(HEADS))} has changed nothing here"
    return f"{entry.command} is undone"


def _push_back(repo: Repo, git: Git, entry: Entry, outcome: Outcome, *, push: bool) -> Outcome:
    """Put back on the fork what was pushed there, where nobody has pushed since; or say how."""
    for pushed in entry.pushed:
        step = _reverse(pushed)
        later = Next(f"{shown(pushed.remote)} still has it; to put that back", ("git", *step.argv))
        if not push:
            outcome = outcome._replace(next=(*outcome.next, later))
            continue
        sent = _send_back(repo, git, pushed, step)
        if sent.pushed is None:
            outcome = outcome._replace(
                status="remote refused",
                exit=Exit.REMOTE_REFUSED,
                summary=f"{_summary(entry)}, and {shown(pushed.remote)} is as it was: {sent.message}",
                next=(*outcome.next, later),
            )
        else:
            outcome = outcome._replace(pushed=(*outcome.pushed, sent.pushed))
    return outcome


def _send_back(repo: Repo, git: Git, pushed: Pushed, step: Step) -> Sent:
    """Push what was there before; a remote that cannot be reached leaves what is undone here as it is."""
    back = Pushed(pushed.remote, pushed.ref, pushed.new, pushed.old)
    try:
        return send(repo, git, Remote(pushed.remote, ""), step, back)
    except UserError as error:
        return Sent(code="unreachable", message=str(error))


def _reverse(pushed: Pushed) -> Step:
    """Push the old commit back, only where the one that we pushed is still there; a branch that we made goes."""
    lease = f"--force-with-lease={pushed.ref}:{pushed.new}"
    argv = ("push", "--porcelain", lease, "--end-of-options", pushed.remote, f"{pushed.old}:{pushed.ref}")
    return Step("push", argv, f"put {shown(pushed.ref)} on {shown(pushed.remote)} back")


def _listed(entries: list[Entry]) -> Outcome:
    lines = []
    for entry in entries:
        name = shown(entry.ref.removeprefix(HEADS))
        before = f"; before: {short(entry.old)}" if entry.old else ""
        lines.append(f"{entry.id}  {entry.command} of {name}, {entry.state}{before}")
    items = tuple(
        {"id": entry.id, "command": entry.command, "state": entry.state, "ref": shown(entry.ref)} for entry in entries
    )
    summary = "can be taken back, newest first:" if entries else "there is nothing to undo"
    return Outcome("undo", "done", Exit.DONE, summary, tuple(lines), items=items)
