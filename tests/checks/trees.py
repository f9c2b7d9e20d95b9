"""Judge small trees in memory, for rules' examples and for tests of rules."""

from __future__ import annotations

from collections.abc import Mapping

from checks.cache import Cache
from checks.edits import Change
from checks.engine import collect, load_rule
from checks.fix import Fixed, fix
from checks.index import Index
from checks.model import Example, Finding
from checks.settings import parse
from checks.store import Store
from checks.tree import MemoryTree, Tree


def tree_of(texts: Mapping[str, str]) -> MemoryTree:
    """A tree that holds these texts, as UTF-8."""
    return MemoryTree({path: text.encode("utf-8", "surrogateescape") for path, text in texts.items()})


def index_of(tree: Tree, settings: Mapping[str, object] = {}) -> Index:
    """An index over a tree without any cache."""
    store = Store(tree, Cache(None), 1)
    return Index(store, parse(settings, store.paths, store.text, source="pyproject.toml"))


def judge(rule: str, tree: Tree, settings: Mapping[str, object] = {}) -> tuple[Finding, ...]:
    """The findings of one rule on a tree."""
    return collect(load_rule(rule).check(index_of(tree, settings)))[1]


def subjects(rule: str, tree: Tree, settings: Mapping[str, object] = {}) -> int:
    """How many subjects one rule looked at in a tree."""
    return collect(load_rule(rule).check(index_of(tree, settings)))[0]


def says(findings: tuple[Finding, ...]) -> tuple[str, ...]:
    """Findings in the short form of examples: `path:line code`."""
    return tuple(f"{found.path}:{found.line} {found.code}" for found in findings)


def mend(rule: str, example: Example) -> tuple[Fixed, dict[str, str | None]]:
    """Fix an example: the outcome, and the texts of the files that it changed (None for a deleted one)."""
    tree = tree_of(example.tree)
    fixed = fix(tree, lambda present: judge(rule, present, example.settings))
    return fixed, {change.path: _text(change) for change in fixed.changes}


def _text(change: Change) -> str | None:
    return None if change.after is None else change.after.decode("utf-8", "surrogateescape")
