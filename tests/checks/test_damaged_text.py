"""What the rules on lists and tables do with text that something is wrong with."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.edits import parses
from checks.engine import load_rule
from checks.text import decode
from tests.checks.mending import damaged, mended
from tests.checks.trees import judge, tree_of

SORTING = ("auto-mapping-order", "doc-toc", "doctest-list")
RULES = (*SORTING, "dependency-table", "import-direction")


@pytest.mark.parametrize("name", RULES)
@given(data=st.data())
def test_damaged_text_gives_findings_in_lines_that_are_there_and_a_fix_that_comes_to_rest(
    name: str, data: st.DataObject
) -> None:
    example = data.draw(st.sampled_from(load_rule(name).EXAMPLES))
    texts = data.draw(damaged(example.tree))
    tree = tree_of(texts)

    findings = judge(name, tree, example.settings)
    after = mended(name, texts, example.settings)

    lines = {path: len(decode(tree.read(path)).split("\n")) for path in texts}
    assert [found for found in findings if not 1 <= found.line <= lines.get(found.path, 1)] == []
    assert mended(name, after, example.settings) == after
    assert [path for path in texts if path.endswith(".py") and _parses(texts[path]) and not _parses(after[path])] == []


@pytest.mark.parametrize("name", SORTING)
@given(data=st.data())
def test_sorting_damaged_text_neither_invents_nor_changes_a_line(name: str, data: st.DataObject) -> None:
    example = data.draw(st.sampled_from(load_rule(name).EXAMPLES))
    texts = data.draw(damaged(example.tree))

    after = mended(name, texts, example.settings)

    assert [path for path in texts if _lines(after[path]) - _lines(texts[path])] == []


def _parses(text: str) -> bool:
    return parses(text.encode("utf-8", "surrogateescape"))


def _lines(text: str) -> Counter[str]:
    """The lines of a text, how often each; a last line that had no line end may get one."""
    return Counter(filter(None, decode(text.encode("utf-8", "surrogateescape")).split("\n")))
