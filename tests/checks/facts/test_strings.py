"""Strings and comments, told apart without parsing."""

from __future__ import annotations

import io
import tokenize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.facts.strings import long_strings, mask, without_comments, without_literals
from checks.facts.syntax import Unparsable, parse

PIECES = ('"""', "'''", '"', "'", "\\", "\n", "#", "x", " ", "= ", "r", "(", ")", "\\\n")
TEXTS = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)


@pytest.mark.parametrize(
    "text",
    [
        "x = '''\ny\n'''\n",
        "# it's '''\nx = '''\n'''\n",
        "x = \"'''\" + '''\n'''\n",
        'x = """\\"""\n"""\n',
        "x = \"\"'''\n'''\n",
        'x = \'a\\\n"""b\'\ny = 1\n',
        'x = """a""""b" """\n"""\n',
        'def f():\n    r"""a\\\\"""\n    y = """\n    """\n',
    ],
)
def test_strings_that_span_lines_are_those_that_the_tokenizer_finds(text: str) -> None:
    assert long_strings(text) == _tokenized(text)


@given(TEXTS)
def test_in_any_text_that_parses_they_are_those_that_the_tokenizer_finds(text: str) -> None:
    assert isinstance(parse(text), Unparsable) or long_strings(text) == _tokenized(text)


@given(TEXTS)
def test_a_masked_text_is_as_long_as_it_was_and_has_no_string_that_spans_lines(text: str) -> None:
    masked = mask(text)

    assert (len(masked), long_strings(masked)) == (len(text), [])


@given(TEXTS)
def test_text_without_literals_has_no_comment_left_and_text_without_comments_keeps_its_lines(text: str) -> None:
    assert "#" not in without_literals(text)
    assert without_comments(text).count("\n") == text.count("\n")


@pytest.mark.parametrize("unit", ['\\"""', "'''", '"', "'\\", '"""', "'\\\n"])
def test_quotes_that_are_never_closed_take_no_more_than_one_look(unit: str) -> None:
    text = unit * 200_000

    assert len(mask(text)) == len(text)


def _tokenized(text: str) -> list[tuple[int, int]]:
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [
        (starts[token.start[0] - 1] + token.start[1], starts[token.end[0] - 1] + token.end[1])
        for token in tokens
        if token.type == tokenize.STRING and token.start[0] != token.end[0]
    ]
