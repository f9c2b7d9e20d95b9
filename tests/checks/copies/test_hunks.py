"""Where bodies differ, and what to put where."""

from __future__ import annotations

from collections.abc import Collection

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.copies.blocks import Block
from checks.copies.hunks import differences
from checks.copies.lines import read

LINES = (["a"], ["b"], ["c"], [""], ["    # Copied from lib.a.f"], ["f(", "1,", ")"], ["x = '''", "", "b", "'''"])
TEXTS = st.lists(st.sampled_from(LINES), max_size=10).map(lambda parts: [line for part in parts for line in part])


def mend(copy: list[str], expected: list[str], *, loose: bool = False, left_out: Collection[Block] = ()) -> list[str]:
    """The copy with what differs replaced."""
    lines = list(copy)
    hunks = list(differences(read(copy, loose=loose, left_out=left_out), read(expected, loose=loose)))
    for first, last, new in sorted((change for hunk in hunks for change in hunk.changes), reverse=True):
        lines[first : last + 1] = new
    return lines


@pytest.mark.parametrize(
    ("copy", "expected"),
    [
        ("a b c", "a x c"),
        ("a c", "a b c"),
        ("a b c", "a c"),
        ("a  def b  c", "a  x  def b  c"),
        ("a  x  def b  c", "a  def b  c"),
        ("a  def b", "a  @x def b"),
        ("a", "a  b"),
        ("a  b", "a"),
        ("a b", "c  d e"),
        ("a x b y c", "a b z c"),
    ],
)
def test_a_mended_body_is_the_one_expected_blank_lines_included(copy: str, expected: str) -> None:
    assert mend(copy.split(" "), expected.split(" ")) == expected.split(" ")


def test_blank_lines_that_differ_away_from_any_difference_stay() -> None:
    assert mend(["a", "", "b", "c", "d"], ["a", "b", "", "c", "x"]) == ["a", "", "b", "c", "x"]


def test_a_marker_above_what_is_equal_stays_and_those_of_the_original_are_not_taken_over() -> None:
    copy = ["a", "", "# Copied from lib.a.f", "def f", "c"]
    expected = ["x", "", "def f", "# Copied from lib.a.g", "def g", "c"]

    assert mend(copy, expected) == ["x", "", "# Copied from lib.a.f", "def f", "def g", "c"]


def test_a_block_that_is_left_out_stays_in_the_middle_of_a_difference() -> None:
    assert mend(["a", "mine", "b", "c"], ["x", "c"], left_out=[Block("mine", range(1, 2))]) == ["x", "mine", "c"]


def test_what_is_missing_goes_before_or_behind_a_block_that_is_left_out_as_in_the_original() -> None:
    block = [Block("g", range(1, 2))]
    ours = read(["a", "def g", "def f"], left_out=block)
    theirs = read(["a", "def g", "@x", "def f"], left_out=block)

    assert [hunk.changes for hunk in differences(ours, theirs)] == [((2, 1, ("@x",)),)]


def test_a_comment_does_not_become_part_of_a_block_that_is_left_out() -> None:
    assert mend(["def g"], ["# c"], left_out=[Block("g", range(1))]) == ["# c", "", "def g"]


def test_only_lines_that_differ_are_touched() -> None:
    (hunk,) = differences(read(["f(", "  1,", "  2,", ")"], loose=True), read(["f(", "  1,", "  3,", ")"], loose=True))

    assert (hunk.changes, hunk.at, hunk.there, hunk.ours, hunk.theirs) == (((2, 2, ("  3,",)),), 2, 2, "2,", "3,")


def test_blank_lines_count_in_strings_and_where_they_are_asked_for() -> None:
    string, other = ["x = '''", "", "'''", "", "y"], ["x = '''", "'''", "y"]

    assert [hunk.gone for hunk in differences(read(string), read(other))] == [('"',)]
    assert [hunk.gone for hunk in differences(read(string[3:], blank=True), read(other[2:], blank=True))] == []
    assert [hunk.at for hunk in differences(read(["a", "", "b"], blank=True), read(["a", "b"], blank=True))] == [1]


def test_two_long_bodies_that_have_nothing_in_common_are_one_difference() -> None:
    copy, expected = ["a", *["b", "c"] * 3000, "d"], ["a", *["c", "b", "e"] * 2000, "d"]

    assert [hunk.changes[0][:2] for hunk in differences(read(copy), read(expected))] == [(1, 6000)]


@given(copy=TEXTS, expected=TEXTS, loose=st.booleans())
def test_a_mended_body_has_nothing_more_to_mend(*, copy: list[str], expected: list[str], loose: bool) -> None:
    after = mend(copy, expected, loose=loose)

    assert read(after, loose=loose).keys == read(expected, loose=loose).keys
    assert mend(after, expected, loose=loose) == after
