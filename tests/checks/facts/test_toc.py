"""What a table of contents says, whatever shape it is in."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.facts.contents import Entry, Oddity, Toc
from checks.facts.toc import TOC
from checks.reorder import Block


def read(text: str) -> Toc:
    """The facts of a text, as they come back from the cache."""
    return TOC.load(json.loads(json.dumps(TOC.extract(text))))


def test_entries_have_their_lines_and_the_comments_above_them_but_not_those_of_what_follows() -> None:
    text = """\
# The whole table
- sections:
  - local: a  # why
    title: 'A: first'

    # inside a
  # above b
  -
    title: B
    local: b
  # at the end of the section

# above the next section
- title: C
  local: c
"""
    assert read(text) == Toc(
        (
            Entry(
                "",
                (),
                2,
                Block(2, 12),
                (
                    Entry("A: first", ("a",), 3, Block(3, 6), ()),
                    Entry("B", ("b",), 9, Block(7, 11), ()),
                ),
            ),
            Entry("C", ("c",), 14, Block(13, 15), ()),
        )
    )


def test_an_entry_may_have_a_page_for_each_framework() -> None:
    text = "- title: A\n  local_fw:\n    pt: torch/a\n    tf: tensorflow/a\n"

    assert read(text).entries == (Entry("A", ("torch/a", "tensorflow/a"), 1, Block(1, 4), ()),)


@pytest.mark.parametrize(
    "text",
    [
        "[{local: a, title: A}, {local: b, title: B}]\n",
        "- &one {local: a, title: A}\n- title: B\n  local: b\n",
    ],
    ids=["on one line", "an anchor"],
)
def test_entries_whose_lines_are_not_their_own_cannot_be_moved(text: str) -> None:
    assert [entry.block.last for entry in read(text).entries] == [0, 0]


@pytest.mark.parametrize(
    ("text", "oddity"),
    [
        ("a: b\n", Oddity(1, "the table is no list of its own")),
        ("- local: a\n- text\n", Oddity(2, "an entry is no mapping of its own")),
        ("- &a {local: a}\n- *a\n", Oddity(1, "an entry is no mapping of its own")),
        ("- &a\n  sections:\n  - *a\n", Oddity(1, "an entry is no mapping of its own")),
        ("- sections: &s\n  - local: a\n- sections: *s\n", Oddity(1, "`sections` is no list of its own")),
        ("- sections: text\n", Oddity(1, "`sections` is no list of its own")),
        ("- title: A\n", Oddity(1, "an entry has neither `local` nor `sections`")),
        ("- local: a\n  local: b\n", Oddity(2, "an entry has 'local' twice")),
        ("- local:\n", Oddity(1, "`local` is no path")),
        ("- local_fw: [a]\n", Oddity(1, "`local` is no path")),
    ],
)
def test_what_is_no_entry_is_an_oddity(text: str, oddity: Oddity) -> None:
    assert read(text).oddities == (oddity,)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("- a: [\n", 2),
        ("- a\n\t- b\n", 2),
        ("- a\n---\n- b\n", 2),
        ("\0", 1),
        ("'\udc80'", 1),
        ("[" * 3000, 1),
        ("- " * 3000, 1),
        ("- *nobody\n", 1),
        ("#" * 20_000_000, 1),
    ],
)
def test_what_is_not_yaml_is_a_problem_in_a_line(text: str, line: int) -> None:
    problem = read(text).problem

    assert problem is not None
    assert problem.line == line
    assert problem.what


def test_aliases_of_aliases_are_read_once_each() -> None:
    laughs = "".join(f"- &a{n} {{sections: [{', '.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, 40))

    assert len(read(f"- &a0 {{local: a}}\n{laughs}").oddities) == 39 * 9


@given(st.text(alphabet="-:# \n\t&*[]{}'\"|>!%@`?,~ablocltiesn0é", max_size=60))
def test_no_text_makes_reading_raise(text: str) -> None:
    assert isinstance(read(text), Toc)
