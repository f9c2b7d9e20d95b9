"""New public functions, classes and methods come with tests that name them, or with new tests of their module.

A test that was edited counts as much as one that was added; one whose imports alone changed doesn't. What only moved is
not new, nor is a copy that a marker declares, nor a file that a tool writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from tooling.pr.model import Decision, Evidence, Verdict
from tooling.pr.pull import PullRequest
from tooling.pr.sources import Edited, is_test, library_changes, python_changes

CODES = {
    "module": "A whole new module has no test.",
    "untested": "Something public that is new is named in no test that the branch adds or edits.",
    "tested": "All that is new and public is tested.",
    "none": "The branch adds nothing public.",
}
BOX = "New features have new tests, which fail without this change, and whose names say what is promised."
ALIASES = ("Did you write any new necessary tests?",)
OPTIONS: dict[str, object] = {}
READS = "change"

SHORTEST = 5
"""Letters that the name of a module must have to be recognised within the name of a test."""
_IMPORT = re.compile(r"^(?:from\s+\S+\s+)?import\s+(?:\([^)]*\)|(?:\\\n|[^\n(])*)", re.MULTILINE)


def judge(pull: PullRequest) -> Decision:
    """Fail a new module that no test knows, warn of new things that none names."""
    new = list(_new(pull))
    if not new:
        return Decision(Verdict.SKIP, "new-tests/none", "nothing public is new")
    tests = _tested(pull)
    judged = [(each, _is_tested(each, tests)) for each in new]
    bare = _outermost([each for each, tested in judged if not tested])
    modules = {each.change.path for each in new if not each.change.old_id}
    whole = modules - {each.change.path for each, tested in judged if tested}
    message = f"in no new or edited test: {len(bare)} of {len(new)} public definitions that are new"
    evidence = tuple(Evidence(each.symbol.name, each.change.path, each.symbol.line) for each in bare)
    if whole:
        lonely = tuple(row for row in evidence if row.path in whole)
        message = f"new modules without a test: {len(whole)}"
        return Decision(Verdict.FAIL, "new-tests/module", message, lonely, "add a test module that uses them")
    if bare:
        return Decision(Verdict.WARN, "new-tests/untested", message, evidence, "add a test that uses them")
    return Decision(Verdict.PASS, "new-tests/tested", f"new public definitions, all tested: {len(new)}")


def _new(pull: PullRequest) -> Iterator[Edited]:
    """What is new and public in the library, and asks for a test."""
    for change in library_changes(pull.changed, pull.sources, pull.settings.profile.packages):
        for edited in pull.sources.edited(pull.changed, change):
            decorators = {name.rpartition(".")[2] for name in edited.symbol.decorators}
            wanted = edited.new and edited.symbol.is_public and not decorators & {"overload", "setter", "deleter"}
            if wanted and not pull.sources.is_copy(edited):
                yield edited


def _outermost(found: list[Edited]) -> list[Edited]:
    """Without the members of a class that is there itself: whoever tests the class will name it."""
    inside = {(each.change.path, each.symbol.name) for each in found}
    return [
        each
        for each in found
        if each.symbol.inside is None or (each.change.path, each.symbol.inside.name) not in inside
    ]


class Tested(NamedTuple):
    """What the tests say that the branch adds or edits.

    `words` are all words outside of imports, `files` those with new tests, `names` of new tests without underscores.
    """

    words: frozenset[str]
    files: frozenset[str]
    names: frozenset[str]


def _tested(pull: PullRequest) -> Tested:
    words: set[str] = set()
    new: set[tuple[str, str]] = set()
    for change in python_changes(pull.changed):
        if not is_test(change.path):
            continue
        words |= _module_words(pull, change.id) - _module_words(pull, change.old_id)
        for edited in pull.sources.edited(pull.changed, change):
            words.update(re.findall(r"\w+", edited.symbol.own))
            if edited.new and edited.symbol.short.startswith(("test", "Test")):
                new.add((change.path, edited.symbol.short.replace("_", "").casefold()))
    return Tested(frozenset(words), frozenset(path for path, _ in new), frozenset(name for _, name in new))


def _module_words(pull: PullRequest, key: str) -> set[str]:
    """Words of a test file that stand in no definition and in no import: tables of what is tested, say."""
    text = _IMPORT.sub("", pull.sources.text(key) or "")
    for symbol in pull.sources.symbols(key):
        if symbol.inside is None:
            text = text.replace(symbol.text, "")
    return set(re.findall(r"\w+", text))


def _is_tested(edited: Edited, tests: Tested) -> bool:
    symbol, path = edited.symbol, edited.change.path
    around = {symbol.inside.short} if symbol.inside is not None else set()
    if not tests.words.isdisjoint({symbol.short} | around) or ">>> " in symbol.own:
        return True
    # A new test may be called after a new module; after an old one, it may be about what was there before.
    stem = "" if edited.change.old_id else _stem(path).replace("_", "").casefold()
    named = len(stem) >= SHORTEST and any(stem in name for name in tests.names)
    return named or any(_is_test_of(test, path) for test in tests.files)


def _stem(module: str) -> str:
    return module.removesuffix(".py").removesuffix("/__init__").rpartition("/")[2]


def _is_test_of(test: str, module: str) -> bool:
    """Whether a test file is, by its name, that of a module: `tests/models/bert/test_modeling_bert.py` for `bert`.

    >>> [_is_test_of("tests/a/test_b.py", path) for path in ("src/lib/a/b.py", "src/lib/a/__init__.py", "src/lib/c.py")]
    [True, True, False]
    """
    *folders, name = test.removesuffix(".py").split("/")
    return _stem(module) in (name.removeprefix("test_"), name.removesuffix("_test"), *folders[-1:])
