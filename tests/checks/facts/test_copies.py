"""Comments that speak of copying, and where they stand."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.facts.copies import MARKED, ORIGINALS, Copies, is_marker, without_markers

MARKER = "# Copied from lib.a.f"


def copies(text: str) -> Copies:
    return MARKED.load(MARKED.extract(text))


def places(text: str) -> list[tuple[str, str]]:
    """Each comment with the definition it stands by and how."""
    facts = copies(text)
    return [(facts.definitions[each.above].name if each.above >= 0 else "", each.place) for each in facts.markers]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (f"{MARKER}\ndef f(): pass\n", ("f", "direct")),
        (f"@x\n{MARKER}\nclass A:\n    pass\n", ("A", "direct")),
        (f"{MARKER}\n@x(\n1)\nasync def f(): pass\n", ("f", "decorators")),
        (f"{MARKER}\n\n# said\ndef f(): pass\n", ("f", "apart")),
        (f"{MARKER}\n# said\n@x\ndef f(): pass\n", ("f", "apart")),
        (f"@x  {MARKER}\ndef f(): pass\n", ("f", "behind")),
        (f"def f():  {MARKER}\n    pass\n", ("f", "behind")),
        (f"def f():\n    {MARKER}\n    pass\n", ("", "")),
        (f"def f():\n    pass\n    {MARKER}\n\ndef g(): pass\n", ("", "")),
        (f"if x:\n    y\n{MARKER}\n\n    def f(): pass\n", ("", "")),
        (f"x = 1  {MARKER}\n", ("", "")),
        (f"x = 1\n{MARKER}", ("", "")),
    ],
)
def test_a_comment_stands_by_the_definition_below_it_or_by_none(text: str, place: tuple[str, str]) -> None:
    assert places(text) == [place]


def test_text_in_strings_is_no_comment() -> None:
    assert places(f'"""\n{MARKER}\n"""\ndef f(): return "{MARKER}"\n') == []


def test_comments_are_found_in_any_letter_case_and_once_each_in_the_order_of_the_file() -> None:
    text = "# COPIED FROM b, copied from c\ndef f(): pass\n# copied  From a\ndef g(): pass\n"

    assert [each.text for each in copies(text).markers] == ["# COPIED FROM b, copied from c", "# copied  From a"]


def test_a_file_without_such_a_comment_is_scanned_only_when_a_marker_names_it() -> None:
    text = "def f(): pass\n"

    assert (copies(text).definitions, [each.name for each in ORIGINALS.load(ORIGINALS.extract(text)).definitions]) == (
        (),
        ["f"],
    )


def test_definitions_have_equal_digests_if_nothing_but_markers_inside_differs() -> None:
    plain = "class A:\n    def f(self):\n        return 1\n"
    marked = f"class A:\n    {MARKER}\n    def f(self):\n        return 1\n"
    other = "class A:\n    # Copied from https://example.org\n    def f(self):\n        return 1\n"
    digests = [copies(f"{MARKER}\n{text}").digests[0] for text in (plain, marked, other)]

    assert (digests[0] == digests[1], digests[0] == digests[2]) == (True, False)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (MARKER, True),
        (f"    {MARKER} with a->b", True),
        ("# Copied from lib/a.f", True),
        ("# copied from lib.a.f", False),
        ("# Copied from https://lib.a/f", False),
        ("# Copied from somewhere else", False),
        (f"x = 1  {MARKER}", False),
    ],
)
def test_the_line_of_a_marker_is_left_out_of_what_is_compared(*, line: str, expected: bool) -> None:
    assert (is_marker(line), without_markers(f"a\n{line}\nb")) == (expected, "a\nb" if expected else f"a\n{line}\nb")


@given(
    st.lists(st.sampled_from((MARKER, "\n", "def f(): ", "class A:\n ", '"""', "# ", "copied from", " ")), max_size=12)
)
def test_any_text_gives_comments_in_order_that_stand_by_definitions_that_are_there(pieces: list[str]) -> None:
    facts = copies("".join(pieces))

    assert [each.offset for each in facts.markers] == sorted({each.offset for each in facts.markers})
    assert Counter(each.above for each in facts.markers if each.above >= len(facts.definitions)) == Counter()


def test_a_very_long_line_that_repeats_the_phrase_is_looked_at_once() -> None:
    assert len(copies("# " + "copied from a " * 200_000).markers) == 1
