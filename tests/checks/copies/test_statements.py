"""Statements without their layout."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.copies.statements import statements


def bare(text: str) -> list[str]:
    return [key for _, _, key in statements(text)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("f(a, b)\n", "f(\n    a,\n    b,\n)\n"),
        ("x = {1: 2}\n", "x = {\n    1: 2,  \n}\n"),
        ("x = a + b\n", "x = a + \\\n    b\n"),
        ('f("a b c")\n', 'f(\n    "a "\n    "b c"\n)\n'),
        ('f(f"a {b} c")\n', 'f(\n    f"a {b}"\n    " c"\n)\n'),
        ("x = not a\n", "x = not  a\n"),
        ("\n\nx = 1\n\n", "x = 1"),
        ('"""One two\nthree."""\n', '"""One\n\n   two three.\n"""\n'),
        ('"""\n>>> f(a, b)\n"""\n', '"""\n>>> f(\n...     a,\n...     b,\n... )\n"""\n'),
        ('"""\n>>> from a import b, c\n"""\n', '"""\n>>> from a import (\n...     b,\n...     c,\n... )\n"""\n'),
    ],
)
def test_two_layouts_of_one_statement_are_equal(one: str, other: str) -> None:
    assert bare(one) == bare(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("f(a)\n", "f(b)\n"),
        ("return x\n", "returnx\n"),
        ("x = (a,)\n", "x = (a)\n"),
        ('f("")\n', "f()\n"),
        ('f("a b")\n', 'f("ab")\n'),
        ("f(a, 'b')\n", "f(a 'b')\n"),
        ("x = 1\n", "    x = 1\n"),
        ("(a + b) * c\n", "a + (b * c)\n"),
        ("x  # why\n", "x  # what\n"),
        ('x = """a\nb"""\n', 'x = """a b"""\n'),
        ("x = 'a' + 'b'\n", "x = 'ab'\n"),
    ],
)
def test_two_statements_are_not(one: str, other: str) -> None:
    assert bare(one) != bare(other)


def test_a_statement_has_all_its_lines() -> None:
    text = "# c\nif x:\n\n    y = [\n        1,\n\n    ]\n    '''\n    z\n    '''\n"

    assert [(first, last) for first, last, _ in statements(text)] == [(0, 0), (1, 1), (3, 6), (7, 9)]


@given(st.text(st.sampled_from("ab (),[]'\"#\\\n:"), max_size=60))
def test_the_statements_of_any_text_come_in_order_and_cover_all_that_is_not_blank(text: str) -> None:
    found = list(statements(text))
    lines = [number for first, last, _ in found for number in range(first, last + 1)]

    assert lines == sorted(set(lines))
    assert {number for number, line in enumerate(text.split("\n")) if line.strip()} <= set(lines)
