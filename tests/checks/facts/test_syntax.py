"""Parsing Python of any quality."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.facts.syntax import Unparsable, parse


@given(st.text())
def test_no_text_makes_parsing_raise(text: str) -> None:
    assert isinstance(parse(text), ast.Module | Unparsable)


@pytest.mark.parametrize(
    ("text", "line"),
    [("a = 1\nb = (\n", 2), ("a\0", 1), ("'\udc80'", 1), ("(" * 9000, 1), ("-" * 200_000 + "1", 1)],
    ids=["open bracket", "NUL byte", "byte of no encoding", "nested brackets", "nested operators"],
)
def test_a_text_that_is_not_python_says_where_it_stops(text: str, line: int) -> None:
    found = parse(text)

    assert isinstance(found, Unparsable)
    assert found.line == line
    assert found.why


@pytest.mark.filterwarnings("error")
def test_an_invalid_escape_is_still_python_and_warns_nobody() -> None:
    assert isinstance(parse(r"a = '\d'"), ast.Module)
