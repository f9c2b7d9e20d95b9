"""Run a git command of ours and say how it ended: in words on the terminal, or as JSON and nothing but JSON."""

from __future__ import annotations

import errno
import sys
from argparse import Namespace
from collections.abc import Callable

from tooling.console import Console
from tooling.errors import Exit, UserError
from tooling.git.outcome import Outcome, as_json, refused
from tooling.git.plan import Next
from tooling.git.text import command_line, shown

Tell = Callable[[str], None]
_OUT_OF_OUR_HANDS = (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.EROFS, errno.EIO)
_COLOURS = {Exit.DONE: "green", Exit.FINDINGS: "yellow", Exit.STOPPED: "yellow"}


def report(command: str, options: Namespace, console: Console, work: Callable[[Tell], Outcome]) -> int:
    """Do the work, print its outcome, return its exit code; `work` gets a function that says what is being done now."""
    try:
        outcome = work(_teller(console))
    except UserError as error:
        outcome = refused(command, error)
    except KeyboardInterrupt:
        outcome = _interrupted(command)
    except OSError as error:
        if error.errno not in _OUT_OF_OUR_HANDS:
            raise
        outcome = refused(command, _cannot_write(error))
    if options.json:
        import json

        console.data(json.dumps(as_json(outcome), indent=2))
    else:
        _print(outcome, console)
    return int(outcome.exit)


def _cannot_write(error: OSError) -> UserError:
    return UserError(
        f"cannot write {error.filename or 'a file'}: {error.strerror}",
        hint="mend that, then see where things stand with: mergeready status",
        exit=Exit.ENVIRONMENT,
    )


def _teller(console: Console) -> Tell:
    """Say each step on a line of its own at a terminal: git may ask for a password there, so no spinner may run."""
    if sys.stderr.isatty():
        return lambda step: console.note(f"{step} …", "dim")
    return lambda _: None


def _print(outcome: Outcome, console: Console) -> None:
    failed = outcome.exit not in (Exit.DONE, Exit.FINDINGS, Exit.STOPPED, Exit.INTERRUPTED)
    say = console.note if failed else console.print
    prefix = "error: " if failed else ""
    say(prefix + outcome.summary, _COLOURS.get(outcome.exit, "red"))
    for line in outcome.lines:
        say(f"  {line}")
    for conflict in outcome.conflicts if outcome.status == "stopped" else ():
        say(f"  {shown(conflict.path)}: {conflict.kind}{' (resolved as before)' if conflict.remembered else ''}")
    for commit in outcome.dropped:
        say(f"  dropped, as upstream has it or it was left out: {shown(commit.subject)}")
    for item in outcome.items:
        if "argv" in item:
            say(f"  {item['why']}")
            say(f"    {command_line(item['argv'])}", "dim")
    for warned in outcome.warnings:
        console.note(f"warning: {warned.message}", "yellow")
    if outcome.exit == Exit.REFUSED:
        say("Nothing was changed.")
    for step in outcome.next:
        say(f"{step.why}:")
        say(f"    {command_line(step.argv)}", "bold")


def _interrupted(command: str) -> Outcome:
    return Outcome(
        command,
        "interrupted",
        Exit.INTERRUPTED,
        "interrupted; nothing is lost",
        next=(Next("see where things stand", ("mergeready", "status")), *_ways_on(command)),
    )


def _ways_on(command: str) -> tuple[Next, ...]:
    if command in ("abort", "undo"):
        return (Next("finish taking it back", ("mergeready", command)),)
    return (Next("go on", ("mergeready", "continue")), Next("or take it back", ("mergeready", "abort")))
