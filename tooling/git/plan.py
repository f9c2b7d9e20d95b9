"""A plan: what will be done, step by step, as a value. Also what stands instead of one: a refusal, with the way out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from tooling.errors import Exit, UserError

Action = Literal[
    "back-up", "set-aside", "line-ends", "put-away", "rebase", "put-back", "move", "fast-forward", "push", "fetch"
]


class Step(NamedTuple):
    """One git command (without the word git) and why it is run; `action` says who runs it."""

    action: Action
    argv: tuple[str, ...]
    why: str


class Move(NamedTuple):
    """A ref and the object ids that it leaves and gets; empty is a ref that is not there, or not known yet."""

    ref: str
    old: str
    new: str = ""


class Pushed(NamedTuple):
    """A ref of a remote that moved; empty ids as in a move."""

    remote: str
    ref: str
    old: str
    new: str


class Next(NamedTuple):
    """What to run next, and why."""

    why: str
    argv: tuple[str, ...]


class Warned(NamedTuple):
    """Something that the user should know and that stops nothing; `code` is stable."""

    code: str
    message: str


class Plan(NamedTuple):
    """What a command will do. `moves` are the refs that it changes here; each is kept under `backup` first."""

    command: str
    summary: str
    steps: tuple[Step, ...] = ()
    moves: tuple[Move, ...] = ()
    backup: str = ""
    onto: str = ""
    warnings: tuple[Warned, ...] = ()


class RefusedError(UserError):
    """Nothing was changed, and why; `code` is stable, `details` name the things, `next` are the ways out."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        details: Iterable[str] = (),
        next: Iterable[Next] = (),  # noqa: A002 - the name it has in the report
        exit: Exit = Exit.REFUSED,
    ) -> None:
        super().__init__(message, exit=exit)
        self.code = code
        self.details = tuple(details)
        self.next = tuple(next)
