"""Public functions, classes and methods that are new, or that the branch edits, have docstrings.

Public is what has no underscore in its path, in the packages of the library and not in tests or examples. Left out is
what a reader finds documented elsewhere or does not call: overloads, setters, overrides, nested functions, special
methods, members of a documented parent in the same file with the same name, stubs, and what a decorator documents.

In `[tool.mergeready.pr.docstrings]`, `documented_by` lists further names of such decorators.
"""

from __future__ import annotations

import re

from tooling.pr.model import Decision, Evidence, Verdict
from tooling.pr.pull import PullRequest
from tooling.pr.sources import Edited, is_library, python_changes
from tooling.pr.symbols import Symbol

CODES = {
    "new": "Something public that is new has no docstring.",
    "touched": "Something public that the branch edits has no docstring.",
    "none": "The branch touches nothing public.",
    "all": "All that is new or edited and public has a docstring.",
    "unreadable": "A file does not parse, or its content is not in this clone.",
}
BOX = "Public functions, classes and methods that are new or edited have docstrings."
ALIASES = ()
OPTIONS: dict[str, object] = {"documented_by": ("auto_docstring", "add_start_docstrings")}
READS = "change"

_EXEMPT = frozenset({"overload", "override", "setter", "deleter", "getter"})


def judge(pull: PullRequest) -> Decision:
    """Fail what is new without a docstring, warn of what was edited without one."""
    changes = [
        change for change in python_changes(pull.changed) if is_library(change.path, pull.settings.profile.packages)
    ]
    seen, bare, unreadable = 0, [], []
    for change in changes:
        text = pull.sources.text(change.id)
        if text is None or not change.path.endswith(".py"):
            unreadable += [Evidence("not in this clone", change.path)] if text is None else []
            continue
        edited = [each for each in pull.sources.edited(pull.changed, change) if _wants_docstring(each.symbol, pull)]
        seen += len(edited)
        bare += [each for each in edited if not _is_documented(each, pull)]
        unreadable += _syntax_error(text, change.path) if edited else []
    return _decide(seen, bare, unreadable)


def _decide(seen: int, bare: list[Edited], unreadable: list[Evidence]) -> Decision:
    for new, what, verdict in ((True, "new", Verdict.FAIL), (False, "touched", Verdict.WARN)):
        evidence = tuple(
            Evidence(each.symbol.name, each.change.path, each.symbol.line) for each in bare if each.new is new
        )
        if evidence:
            message = f"{len(evidence)} of {seen} public definitions that are new or edited have no docstring"
            return Decision(verdict, f"docstrings/{what}", message, evidence, "say what the caller gets")
    if unreadable:
        message = f"{len(unreadable)} files cannot be judged"
        return Decision(Verdict.UNKNOWN, "docstrings/unreadable", message, tuple(unreadable), "make them parse")
    if not seen:
        return Decision(Verdict.SKIP, "docstrings/none", "nothing public is new or edited")
    return Decision(Verdict.PASS, "docstrings/all", f"{seen} public definitions are new or edited, and documented")


def _wants_docstring(symbol: Symbol, pull: PullRequest) -> bool:
    decorators = {name.rpartition(".")[2] for name in symbol.decorators}
    if not symbol.is_public or decorators & _EXEMPT or not decorators.isdisjoint(_documenting(pull)):
        return False
    return not (symbol.inside is not None and _is_protocol(symbol.inside))


def _is_documented(edited: Edited, pull: PullRequest) -> bool:
    symbol = edited.symbol
    return symbol.documented or _is_stub(symbol) or _inherits(symbol, pull.sources.symbols(edited.change.id))


def _documenting(pull: PullRequest) -> tuple[str, ...]:
    return tuple(pull.option("docstrings", "documented_by"))


def _is_protocol(symbol: Symbol) -> bool:
    return "Protocol" in symbol.own.partition(":")[0]


def _is_stub(symbol: Symbol) -> bool:
    """Whether a function has no body but `...`: it states a shape for others to fill."""
    return not symbol.is_class and symbol.text.rstrip().endswith("...")


def _inherits(symbol: Symbol, others: tuple[Symbol, ...]) -> bool:
    """Whether a class of the same file that this one derives from documents a method of the same name."""
    if symbol.inside is None:
        return False
    bases = set(re.findall(r"\w+", symbol.inside.own.partition(":")[0].partition("(")[2]))
    return any(
        other.documented and other.short == symbol.short and other.inside is not None and other.inside.name in bases
        for other in others
    )


def _syntax_error(text: str, path: str) -> list[Evidence]:
    from checks.facts.syntax import Unparsable, parse

    found = parse(text)
    return [Evidence(found.why, path, found.line)] if isinstance(found, Unparsable) else []
