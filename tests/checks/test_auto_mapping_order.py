"""Auto mappings: what the examples do not show, and what the fix never does."""

from __future__ import annotations

import ast
from collections import Counter, OrderedDict

from hypothesis import given
from hypothesis import strategies as st

from tests.checks.mending import mended
from tests.checks.trees import judge, says, subjects, tree_of

RULE = "auto-mapping-order"
PATH = "src/lib/models/auto/modeling_auto.py"
LIBRARY = {"src/lib/__init__.py": ""}
KEYS = st.lists(st.sampled_from(["albert", "bert", "bert-generation", "BERT", "big_bird", "clip", "é"]), unique=True)
FORMS = (
    "        ({key!r}, {value!r}),\n",
    "        ({key!r}, {value!r}),  # b, ) and (\n",
    "        (\n            {key!r},\n            {value!r},\n        ),\n",
    "\n        # about {key}\n        ({key!r}, {value!r}),\n",
)


@st.composite
def mappings(draw: st.DrawFn) -> str:
    """The source of one mapping whose entries take all the forms that formatted code has."""
    entries = [draw(st.sampled_from(FORMS)).format(key=key, value=key.title()) for key in draw(KEYS)]
    return (
        f"M_MAPPING = OrderedDict(\n    [\n        # Add models here\n{''.join(entries)}        # The end\n    ]\n)\n"
    )


def value_of(source: str) -> OrderedDict[str, str]:
    """The mapping that a source makes."""
    (statement,) = ast.parse(source).body
    assert isinstance(statement, ast.Assign)
    assert isinstance(statement.value, ast.Call)
    return OrderedDict(ast.literal_eval(statement.value.args[0]))


@given(mappings())
def test_the_fix_sorts_entries_and_changes_no_line(source: str) -> None:
    after = mended(RULE, {**LIBRARY, PATH: source})[PATH]

    assert list(value_of(after).items()) == sorted(value_of(source).items())
    assert Counter(after.split("\n")) == Counter(source.split("\n"))
    assert judge(RULE, tree_of({**LIBRARY, PATH: after})) == ()


def test_the_subjects_are_the_entries_of_all_files() -> None:
    other = "src/lib/models/auto/tokenization_auto.py"
    texts = {**LIBRARY, PATH: 'A_MAPPING = {"a": 1, "b": 2}\n', other: 'B_MAPPING = {"a": 1}\nX = {"c": 1}\n'}

    assert subjects(RULE, tree_of(texts)) == 3


def test_the_settings_say_which_files_hold_mappings() -> None:
    settings = {"layout": {"auto_mappings": ["{package}/registry.py"]}}
    texts = {**LIBRARY, "src/lib/registry.py": 'A_MAPPING = {"b": 1, "a": 2}\n', PATH: 'A_MAPPING = {"b": 1, "a": 2}\n'}

    assert says(judge(RULE, tree_of(texts), settings)) == (f"src/lib/registry.py:1 {RULE}/order",)


def test_a_key_that_is_there_twice_is_found_across_another_mapping_between() -> None:
    text = 'A_MAPPING = {\n    "a": 1,\n    **OTHER,\n    "a": 1,\n}\n'

    (found,) = judge(RULE, tree_of({**LIBRARY, PATH: text}))

    assert (found.line, found.code, found.edits, found.source) == (4, f"{RULE}/duplicate", (), (PATH, 2))


def test_a_double_entry_under_a_comment_is_left_to_a_person() -> None:
    text = 'A_MAPPING = {\n    "a": 1,\n    # on purpose\n    "a": 1,\n}\n'

    assert mended(RULE, {**LIBRARY, PATH: text})[PATH] == text


def test_an_entry_without_a_comma_behind_it_is_not_moved() -> None:
    text = 'A_MAPPING = {\n    "b": 1,\n    "a": 2\n}\n'

    (found,) = judge(RULE, tree_of({**LIBRARY, PATH: text}))

    assert (found.line, found.code, found.edits) == (3, f"{RULE}/order", ())
