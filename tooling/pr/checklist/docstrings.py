"""Public functions, classes and methods that are new, or that the branch edits, have docstrings.

Public is what has no underscore in its path, in the packages of the library and not in tests or examples. Left out is
what a reader finds documented elsewhere or does not call: overloads, setters, overrides, nested functions, special
methods, stubs, what a decorator documents, what a marker declares to be a copy, files that a tool writes, and methods
that a class above documents, in the same file or in another of the library.

In `[tool.mergeready.pr.docstrings]`, `documented_by` are names of such decorators, and `said_by_class` names of methods
that the docstring of their class speaks for.
"""

from __future__ import annotations

from collections.abc import Iterator

from tooling.pr.ancestors import inherits_docstring
from tooling.pr.model import Decision, Evidence, Verdict
from tooling.pr.pull import PullRequest
from tooling.pr.sources import Edited, library_changes
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
OPTIONS: dict[str, object] = {
    "documented_by": ("auto_docstring", "add_start_docstrings"),
    "said_by_class": ("forward",),
}
READS = "change"

_EXEMPT = frozenset({"overload", "override", "setter", "deleter", "getter"})


def judge(pull: PullRequest) -> Decision:
    """Fail what is new without a docstring, warn of what was edited without one."""
    seen, bare, missing, touched = 0, [], [], []
    for change in library_changes(pull.changed, pull.sources, pull.settings.profile.packages):
        if not change.path.endswith(".py"):
            continue
        text = pull.sources.text(change.id)
        if text is None:
            missing.append(Evidence("not in this clone", change.path))
            continue
        edited = [each for each in pull.sources.edited(pull.changed, change) if _wants_docstring(each.symbol, pull)]
        seen += len(edited)
        bare += [each for each in edited if not _is_documented(each, pull)]
        touched += [(change.path, text)] if edited else []
    # Parsing is slow, and needed only to be sure that what looks right can be read at all.
    return _decide(seen, bare, missing if bare else [*missing, *_syntax_errors(touched)])


def _decide(seen: int, bare: list[Edited], unreadable: list[Evidence]) -> Decision:
    for new, what, verdict in ((True, "new", Verdict.FAIL), (False, "touched", Verdict.WARN)):
        evidence = tuple(
            Evidence(each.symbol.name, each.change.path, each.symbol.line) for each in bare if each.new is new
        )
        if evidence:
            message = f"without a docstring: {len(evidence)} of {seen} public definitions that are new or edited"
            return Decision(verdict, f"docstrings/{what}", message, evidence, "say what the caller gets")
    if unreadable:
        message = f"files that cannot be judged: {len(unreadable)}"
        return Decision(Verdict.UNKNOWN, "docstrings/unreadable", message, tuple(unreadable), "make them parse")
    if not seen:
        return Decision(Verdict.SKIP, "docstrings/none", "nothing public is new or edited")
    return Decision(Verdict.PASS, "docstrings/all", f"new or edited public definitions, all documented: {seen}")


def _wants_docstring(symbol: Symbol, pull: PullRequest) -> bool:
    decorators = {name.rpartition(".")[2] for name in symbol.decorators}
    if not symbol.is_public or decorators & _EXEMPT or not decorators.isdisjoint(_documenting(pull)):
        return False
    return not (symbol.inside is not None and _is_protocol(symbol.inside))


def _is_documented(edited: Edited, pull: PullRequest) -> bool:
    symbol, change = edited.symbol, edited.change
    return (
        symbol.documented
        or _is_stub(symbol)
        or pull.sources.is_copy(edited)
        or (symbol.inside is not None and symbol.short in pull.option("docstrings", "said_by_class"))
        or inherits_docstring(pull, change.path, change.id, symbol)
    )


def _documenting(pull: PullRequest) -> tuple[str, ...]:
    return tuple(pull.option("docstrings", "documented_by"))


def _is_protocol(symbol: Symbol) -> bool:
    return "Protocol" in symbol.own.partition(":")[0]


def _is_stub(symbol: Symbol) -> bool:
    """Whether a function has no body but `...`: it states a shape for others to fill."""
    return not symbol.is_class and symbol.text.rstrip().endswith("...")


def _syntax_errors(files: list[tuple[str, str]]) -> Iterator[Evidence]:
    """Where files, as paths and texts, do not parse."""
    from checks.facts.syntax import Unparsable, parse

    for path, text in files:
        found = parse(text)
        if isinstance(found, Unparsable):
            yield Evidence(found.why, path, found.line)
