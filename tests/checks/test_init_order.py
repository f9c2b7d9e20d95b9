"""The order of keys and names in an init, and that sorting loses nothing."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.edits import parses
from checks.facts.inits import INIT
from checks.inits.model import Init
from checks.text import decode
from tests.checks.mending import damaged, mended
from tests.checks.trees import judge, says, subjects, tree_of

RULE = "init-order"


def lines_of(text: str) -> tuple[str, ...]:
    """The findings of an init, as `line code`."""
    return tuple(line.partition(":")[2] for line in says(judge(RULE, tree_of({"lib/__init__.py": text}))))


def sort(text: str) -> str:
    """An init after the fix."""
    return mended(RULE, {"lib/__init__.py": text})["lib/__init__.py"]


def content(text: str) -> Counter[tuple[str, str, str, tuple[str, ...]]]:
    """What an init exports lazily, whatever the order."""
    init: Init = INIT.load(INIT.extract(text))
    return Counter((init.blocks[one.block].key, one.how, one.module, tuple(sorted(one.names))) for one in init.listings)


def test_lists_and_rows_of_keys_are_the_subjects() -> None:
    text = '_import_structure = {"a": ["A"], "b": []}\nif x:\n    _import_structure["c"] = ["C"]\n'

    assert subjects(RULE, tree_of({"lib/__init__.py": text})) == 5


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["BERT_MAP", "AlbertModel", "_load", "load"], ()),
        (["AlbertModel", "BERT_MAP"], ("1 init-order/names",)),
        (["load", "AlbertModel"], ("1 init-order/names",)),
        (["Bert_Model", "BertModels"], ()),
        (["bert_b", "BERTA"], ("1 init-order/names",)),
        (["VAE", "Autoencoder"], ()),
        (["Bert", "Bert"], ()),
        (["Alpha"], ()),
        ([], ()),
    ],
)
def test_constants_come_before_classes_and_classes_before_functions(
    names: list[str], expected: tuple[str, ...]
) -> None:
    assert lines_of(f"_import_structure = {{'a': {names!r}}}\n") == expected


def test_keys_are_sorted_as_text_within_a_dict_and_within_a_row_of_statements() -> None:
    text = """\
_import_structure = {"b": [], "_a": []}
if is_torch_available():
    _import_structure["d"] = ["D"]
    _import_structure["c"].append("C")
    if is_vision_available():
        _import_structure["a"] = ["A"]
    _import_structure["b"] = ["B"]
"""
    assert lines_of(text) == ("1 init-order/keys", "4 init-order/keys")


def test_statements_under_one_key_keep_their_order() -> None:
    opening, first = "_import_structure = {}\n", '_import_structure["a"] = []\n'
    others = '_import_structure["b"] = []\n_import_structure["b"].append("B")\n'

    assert sort(opening + others + first) == opening + first + others


def test_a_block_is_never_sorted_into_the_block_around_it() -> None:
    text = """\
_import_structure = {}
if is_torch_available():
    _import_structure["c"] = ["C"]
    if is_vision_available():
        _import_structure["b"] = ["B"]
        _import_structure["a"] = ["A"]
"""
    assert sort(text) == text.replace('["b"] = ["B"]', "X").replace('["a"] = ["A"]', '["b"] = ["B"]').replace(
        "X", '["a"] = ["A"]'
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("['B', \"A\"]", "[\"A\", 'B']"),
        ("[\n    'B',\n    'A'\n]", "[\n    'A',\n    'B'\n]"),
        ("[\n    'B', 'C',\n    'A',\n]", "[\n    'A', 'B',\n    'C',\n]"),
        (
            "[\n    'B',\n\n    # a\n    'A',  # one\n    # end\n]",
            "[\n    # a\n    'A',  # one\n\n    'B',\n    # end\n]",
        ),
        ("[  # all\n    'B',\n    'A',\n]", "[  # all\n    'A',\n    'B',\n]"),
        ("[\n    'B',\n    'A',\n]  # note", "[\n    'A',\n    'B',\n]  # note"),
    ],
    ids=["line", "comma", "layout", "comments", "opening", "note"],
)
def test_names_move_with_their_quotes_and_comments(before: str, after: str) -> None:
    assert sort(f"_import_structure = {{'x': {before}\n}}\n") == f"_import_structure = {{'x': {after}\n}}\n"


@pytest.mark.parametrize(
    "names",
    [
        "[\n    'B', 'A',  # both\n]",
        "[\n    # both\n    'B', 'A',\n]",
        "[\n    'B',  # no comma behind the other\n    'A'\n]",
    ],
)
def test_nothing_moves_where_a_comment_could_change_hands(names: str) -> None:
    text = f"_import_structure = {{'x': {names}}}\n"

    assert lines_of(text) != ()
    assert sort(text) == text


def test_names_that_cannot_be_read_leave_their_list_alone() -> None:
    assert lines_of("_import_structure = {'x': ['B', *more, 'A']}\n") == ()


def test_line_ends_stay_and_lines_outside_what_moves_are_not_touched() -> None:
    text = "x = 1  \r\n_import_structure = {\r\n    'a': [],\r\n    'c': [],\r\n    'b': [],\r\n    'd': [],\r\n}\r\n"
    tree = tree_of({"lib/__init__.py": text})

    (found,) = judge(RULE, tree)

    assert [(edit.first, edit.last, edit.text) for edit in found.edits] == [(4, 5, "    'b': [],\n    'c': [],\n")]


NAMES = st.lists(st.sampled_from(["BERT", "Bert", "load", "_x", "é"]), max_size=4)
COMMENTS = st.sampled_from(["", "", "  # behind", "\n{0}# above", "\n\n{0}# apart\n"])


@st.composite
def inits(draw: st.DrawFn) -> str:
    """An init whose keys and names stand in any order, with comments and blank lines between them."""
    lines = ["_import_structure = {"]
    keys = draw(st.lists(st.sampled_from("abc"), max_size=3))
    lines += [f"    '{key}': {draw(lists(' ' * 4))},{draw(COMMENTS).format(' ' * 4)}" for key in keys]
    lines += ["}", "if is_torch_available():", "    pass"]
    for key in draw(st.lists(st.sampled_from("abc"), max_size=3)):
        how = draw(st.sampled_from(["[{0!r}] = {1}", "[{0!r}].extend({1})", "[{0!r}] += {1}"]))
        statement = "_import_structure" + how.format(key, draw(lists(" " * 4)))
        lines.append(f"    {statement}{draw(COMMENTS).format(' ' * 4)}")
    return "\n".join([*lines, ""])


@st.composite
def lists(draw: st.DrawFn, indent: str) -> str:
    """A list of names on one line, or on several with comments."""
    names = [draw(st.sampled_from("'\"")).join(["", name, ""]) for name in draw(NAMES)]
    if draw(st.booleans()):
        return f"[{', '.join(names)}]"
    inner = "".join(f"{indent}    {name},{draw(COMMENTS).format(indent + ' ' * 4)}\n" for name in names)
    return f"[\n{inner}{indent}]"


@given(inits())
def test_sorting_parses_keeps_every_character_and_meaning_and_is_done_in_one_run(text: str) -> None:
    after = sort(text)

    assert parses(after.encode())
    assert Counter(after) == Counter(text)
    assert content(after) == content(text)
    assert sort(after) == after


@given(inits())
def test_a_comment_behind_an_entry_stays_behind_it(text: str) -> None:
    lines = [f"{line}  # {number}" if line.endswith(",") else line for number, line in enumerate(text.split("\n"))]

    after = sort("\n".join(lines))

    # The names of one line may have changed places, nothing else.
    assert Counter("".join(sorted(line)) for line in after.split("\n")) == Counter(
        "".join(sorted(line)) for line in lines
    )


SAMPLE = """\
_import_structure = {
    'b': ['B', 'A'],
    # a
    'a': [
        'D',  # d
        'C',
    ],
}
"""


@given(damaged({"lib/__init__.py": SAMPLE}))
def test_damaged_text_gives_findings_in_lines_that_are_there_and_loses_nothing(texts: dict[str, str]) -> None:
    tree = tree_of(texts)
    text = decode(tree.read("lib/__init__.py"))

    findings = judge(RULE, tree)
    after = mended(RULE, texts)

    assert [found for found in findings if not 1 <= found.line <= len(text.split("\n"))] == []
    assert Counter(decode(tree_of(after).read("lib/__init__.py"))) == Counter(text)
    assert mended(RULE, after) == after
