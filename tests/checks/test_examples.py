"""Every rule's examples, and what is asked of every rule."""

from __future__ import annotations

import pytest

from checks.engine import load_rule
from checks.model import Example
from checks.settings import RULE_NAMES
from tests.checks.trees import judge, mend, says, subjects, tree_of

CASES = [(name, example) for name in RULE_NAMES for example in load_rule(name).EXAMPLES]
FIXABLE = [(name, example) for name, example in CASES if example.mended is not None]


def title(value: object) -> str:
    """How a case is called in the report."""
    return value.title if isinstance(value, Example) else str(value)


@pytest.mark.parametrize(("name", "example"), CASES, ids=title)
def test_a_rule_says_exactly_what_its_example_states(name: str, example: Example) -> None:
    assert says(judge(name, tree_of(example.tree), example.settings)) == example.says


@pytest.mark.parametrize(("name", "example"), FIXABLE, ids=title)
def test_the_fix_gives_exactly_the_mended_tree_and_then_nothing_more_to_fix(name: str, example: Example) -> None:
    fixed, texts = mend(name, example)

    assert texts == example.mended
    assert fixed.settled
    assert [found for found in fixed.remaining if found.edits] == []


@pytest.mark.parametrize("name", RULE_NAMES)
def test_every_rule_has_faulty_and_clean_examples_and_looks_at_something_in_each_faulty_one(name: str) -> None:
    examples = load_rule(name).EXAMPLES
    faulty = [example for example in examples if example.says]

    assert faulty
    assert [example for example in examples if not example.says]
    assert [e.title for e in faulty if subjects(name, tree_of(e.tree), e.settings) == 0] == []


@pytest.mark.parametrize("name", RULE_NAMES)
def test_every_code_of_a_rule_is_documented_and_shown_by_an_example(name: str) -> None:
    rule = load_rule(name)
    shown = {line.rpartition(" ")[2] for example in rule.EXAMPLES for line in example.says}
    mended = {
        line.rpartition(" ")[2] for example in rule.EXAMPLES if example.mended is not None for line in example.says
    }

    assert shown == {f"{name}/{what}" for what in rule.CODES}
    assert {f"{name}/{what}" for what in rule.FIXABLE} <= mended
    assert (rule.__doc__ or "").strip()
