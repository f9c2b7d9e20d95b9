"""Fix small trees in memory, and damage them, for tests of rules that carry edits."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from hypothesis import strategies as st

from checks.fix import fix
from checks.model import Finding
from checks.tree import Tree
from tests.checks.trees import judge, tree_of


def mended(rule: str, texts: Mapping[str, str], settings: Mapping[str, object] = {}) -> dict[str, str]:
    """The texts of a tree after one rule's fix; the fix has to come to rest."""

    def find(tree: Tree) -> tuple[Finding, ...]:
        return judge(rule, tree, settings)

    fixed = fix(tree_of(texts), find)
    assert fixed.settled
    changes = {change.path: (change.after or b"").decode("utf-8", "surrogateescape") for change in fixed.changes}
    return {**texts, **changes}


def damaged(texts: Mapping[str, str]) -> st.SearchStrategy[dict[str, str]]:
    """The texts with a piece of one of them cut out, doubled, or replaced by what parsers stumble over."""
    return st.builds(
        partial(_damage, texts),
        path=st.sampled_from(sorted(texts)),
        start=st.integers(0, 600),
        length=st.integers(0, 40),
        instead=st.one_of(st.none(), st.sampled_from(_STUMBLING_BLOCKS), st.text(max_size=4)),
    )


_STUMBLING_BLOCKS = (
    "",
    "\n",
    "\t",
    "'",
    '"',
    '"""',
    "(",
    "]",
    "{",
    "#",
    "\\",
    "- ",
    ": ",
    "&a ",
    "*a",
    "\0",
    "\f",
    "é",
    "\udc80",
    "🧨",
)


def _damage(texts: Mapping[str, str], path: str, start: int, length: int, instead: str | None) -> dict[str, str]:
    text = texts[path]
    start = start % (len(text) + 1)
    piece = text[start : start + length]
    return {**texts, path: text[:start] + (piece * 2 if instead is None else instead) + text[start + length :]}
