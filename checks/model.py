"""The values that flow through a run: edits, findings, examples, and what a rule is.

They are named tuples rather than dataclasses: a warm run has 60 ms, and importing `dataclasses` takes 10 of them.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from checks.index import Index


class Edit(NamedTuple):
    """Put `text` in place of the lines `first` to `last` of `path`.

    Lines count from 1 and both ends are included. `last == first - 1` inserts before line `first`; `first == 1` and
    `last == 0` on a file that does not exist creates it. `text` is whole lines with LF ends; the file's own line
    ends, encoding and mode are kept when it is written. `text` empty deletes the lines.
    """

    path: str
    first: int
    last: int
    text: str


class Finding(NamedTuple):
    """One thing that is wrong, where it is, why we think so, and how to mend it.

    `path` is relative to the root with forward slashes; `line` and `column` count from 1. `code` is
    `rule-name/what` and is a published name. `message` never holds a line number of its own file, so that a finding
    keeps its identity when lines move. `reason` says what was compared with what.

    `anchors` are further lines of the same file where a suppression comment counts too (a marker, a `def`).
    `accepted` is the text whose hash a baseline stores: the divergence itself; the same message with another
    divergence is a new finding. `follows` names the finding `(path, line, code)` whose fix brings
    this one about; there is none where that one is let pass.
    `source` is where the other side of the comparison stands, as (path, line).
    """

    path: str
    line: int
    code: str
    message: str
    reason: str = ""
    column: int = 1
    edits: tuple[Edit, ...] = ()
    anchors: tuple[int, ...] = ()
    accepted: str = ""
    follows: tuple[str, int, str] | None = None
    source: tuple[str, int] | None = None
    detail: str = ""

    @property
    def rule(self) -> str:
        """The name of the rule that found it."""
        return self.code.partition("/")[0]


Findings = Generator[Finding, None, int]
"""What a rule's `check` is: it yields findings and returns how many subjects it looked at."""


class Example(NamedTuple):
    """A small tree and what the rule must say of it: a test, and a part of the rule's page.

    `tree` maps paths to texts. `says` lists `path:line code` of every finding, sorted. `mended` maps paths to their
    texts after the fix; files it does not name are unchanged, and None means that the file is gone. `settings` is
    what `[tool.mergeready]` would hold.
    """

    title: str
    tree: Mapping[str, str]
    says: tuple[str, ...] = ()
    mended: Mapping[str, str | None] | None = None
    settings: Mapping[str, object] = {}


class Rule(Protocol):
    """A module of `checks.rules`: its docstring is its page, its file name with dashes its name.

    `CODES` says what each code of the rule means, in one sentence that starts with a capital letter. `FIXABLE` lists
    the codes whose findings can carry edits. `OPTIONS` are the keys of the rule's own settings table with their
    defaults, whose types the settings must have.
    """

    __name__: str
    __doc__: str | None

    @property
    def CODES(self) -> Mapping[str, str]: ...
    @property
    def FIXABLE(self) -> tuple[str, ...]: ...
    @property
    def OPTIONS(self) -> Mapping[str, object]: ...
    @property
    def EXAMPLES(self) -> tuple[Example, ...]: ...
    def check(self, index: Index, /) -> Findings: ...


def rule_name(rule: Rule) -> str:
    """The name of a rule on the command line and in its codes: `copied-code` for `checks.rules.copied_code`.

    >>> from types import ModuleType
    >>> rule_name(ModuleType("checks.rules.copied_code"))
    'copied-code'
    """
    return rule.__name__.rpartition(".")[2].replace("_", "-")
