"""The values that flow through the checklist: what an item decides, on what evidence, and how to mend it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from tooling.pr.pull import PullRequest


class Verdict(StrEnum):
    """How an item ends; a published name. Only `pass` means that something was looked at and found in order."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    FAIL = "fail"
    WARN = "warn"
    MANUAL = "manual"
    """No machine can decide it; a person ticks it."""
    SKIP = "skip"
    """It does not apply here."""
    UNKNOWN = "unknown"
    """It applies, and the data to decide it is missing."""


class Evidence(NamedTuple):
    """What a decision rests on: some text, and where it stands. The text may come from anyone, so no report trusts it.

    `line` counts from 1, 0 where there is none. `commit` is a full object id or empty.
    """

    text: str
    path: str = ""
    line: int = 0
    commit: str = ""


class Decision(NamedTuple):
    """What an item says of a pull request.

    `code` is `item/what`, a published name. `message` and `mend` are our own words and numbers alone: whatever comes
    from the pull request stands in `evidence`, which every report escapes.
    """

    verdict: Verdict
    code: str
    message: str
    evidence: tuple[Evidence, ...] = ()
    mend: str = ""

    @property
    def item(self) -> str:
        """The name of the item that decided."""
        return self.code.partition("/")[0]


class Item(Protocol):
    """A module of `tooling.pr.checklist`; its docstring is its page, its file name with dashes its name.

    `CODES` says in one sentence what each code means. `BOX` is the sentence of its box in a pull request template,
    empty where there is nothing for the author to claim; `ALIASES` are sentences of other projects that mean the same.
    `OPTIONS` are the keys of `[tool.mergeready.pr.<name>]` with their defaults. `READS` is `change` for an item that
    needs the commits, `request` for one that needs what is written on the pull request, `runs` for one that needs both
    or neither. `judge` is called only where what it reads is there.
    """

    __name__: str
    __doc__: str | None

    @property
    def CODES(self) -> Mapping[str, str]: ...
    @property
    def BOX(self) -> str: ...
    @property
    def ALIASES(self) -> tuple[str, ...]: ...
    @property
    def OPTIONS(self) -> Mapping[str, object]: ...
    @property
    def READS(self) -> str: ...
    def judge(self, pull: PullRequest, /) -> Decision:
        """Decide the item."""
        ...
