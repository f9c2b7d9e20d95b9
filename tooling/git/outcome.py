"""How a run ended, as a value: the same one is printed for people and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tooling.errors import Exit, UserError
from tooling.git.plan import Move, Next, Plan, Pushed, RefusedError, Warned
from tooling.git.state import Commit
from tooling.git.text import encoded, shown

if TYPE_CHECKING:
    from tooling.git.conflicts import Conflict

SCHEMA = "mergeready.git/1"


class Outcome(NamedTuple):
    """What happened, what it left behind, and what to run next. `lines` are for people only."""

    command: str
    status: str
    exit: Exit
    summary: str
    lines: tuple[str, ...] = ()
    refs: tuple[Move, ...] = ()
    pushed: tuple[Pushed, ...] = ()
    backup: str = ""
    stash: str = ""
    conflicts: tuple[Conflict, ...] = ()
    dropped: tuple[Commit, ...] = ()
    warnings: tuple[Warned, ...] = ()
    next: tuple[Next, ...] = ()
    items: tuple[dict[str, Any], ...] = ()


def planned(plan: Plan, *, lines: tuple[str, ...] = (), conflicts: tuple[Conflict, ...] = ()) -> Outcome:
    """The outcome of a dry run: the plan itself, and what its rehearsal showed."""
    items = tuple(
        {"action": step.action, "argv": ["git", *map(shown, step.argv)], "why": step.why} for step in plan.steps
    )
    return Outcome(
        command=plan.command,
        status="planned" if plan.steps else "nothing to do",
        exit=Exit.DONE,
        summary=plan.summary,
        lines=lines,
        refs=plan.moves,
        backup=plan.backup,
        conflicts=conflicts,
        warnings=plan.warnings,
        items=items,
    )


def refused(command: str, error: UserError) -> Outcome:
    """The outcome of a refusal or another error that the user can mend; nothing was changed."""
    status = {Exit.REFUSED: "refused", Exit.REMOTE_REFUSED: "remote refused", Exit.ENVIRONMENT: "error"}
    return Outcome(
        command=command,
        status=status.get(error.exit, "error"),
        exit=error.exit,
        summary=str(error),
        lines=(error.details if isinstance(error, RefusedError) else ()) + ((error.hint,) if error.hint else ()),
        next=error.next if isinstance(error, RefusedError) else (),
        items=({"code": error.code},) if isinstance(error, RefusedError) else (),
    )


def as_json(outcome: Outcome) -> dict[str, Any]:
    """The outcome for programs; the names of its fields are a published surface."""
    return {
        "schema": SCHEMA,
        "command": outcome.command,
        "status": outcome.status,
        "exit": int(outcome.exit),
        "summary": shown(outcome.summary),
        "details": [shown(line) for line in outcome.lines],
        "refs": [_shown(move._asdict()) for move in outcome.refs],
        "pushed": [_shown(pushed._asdict()) for pushed in outcome.pushed],
        "backup": shown(outcome.backup),
        "stash": outcome.stash,
        "conflicts": [_conflict(conflict) for conflict in outcome.conflicts],
        "dropped": [{"oid": commit.oid, "subject": shown(commit.subject)} for commit in outcome.dropped],
        "warnings": [_shown(warned._asdict()) for warned in outcome.warnings],
        "next": [{"why": step.why, "argv": [shown(word) for word in step.argv]} for step in outcome.next],
        "items": list(outcome.items),
    }


def _conflict(conflict: Conflict) -> dict[str, Any]:
    return {**encoded(conflict.path), "kind": conflict.kind, "remembered": conflict.remembered}


def _shown(fields: dict[str, str]) -> dict[str, str]:
    return {name: shown(value) for name, value in fields.items()}
