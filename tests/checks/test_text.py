"""Bytes to text and back: what is noticed, what is kept, and what never reaches a terminal."""

from __future__ import annotations

import codecs
import unicodedata
from encodings.aliases import aliases

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.text import decode, encoding_of, line_end_of, split_lines, visible, visible_line

COOKIES = [b"", *(f"# coding: {name}\n".encode() for name in sorted({*aliases.values(), "unicode_escape", "none"}))]
LINES = st.lists(
    st.sampled_from([b"a = 1", b"\xe9", b"\x1b$B", b"\\u000a", b"+AAo-", b"\xff\xfe", b"~", b""]), max_size=4
)
ENDS = st.sampled_from([b"\n", b"\r\n", b"\r", b"\r\r\n", b""])


@given(st.sampled_from(COOKIES), LINES, ENDS)
def test_decoded_text_has_as_many_lines_as_the_bytes_whatever_encoding_they_declare(
    cookie: bytes, lines: list[bytes], end: bytes
) -> None:
    content = cookie + end.join(lines)
    text = decode(content)

    assert len(split_lines(content)) == len(text.removesuffix("\n").split("\n")) * bool(text)


@given(st.binary())
def test_lines_put_together_again_are_the_bytes_they_came_from(content: bytes) -> None:
    assert b"".join(split_lines(content)) == content


@given(st.binary())
def test_any_bytes_without_a_declaration_can_be_written_back(content: bytes) -> None:
    body = content.removeprefix(codecs.BOM_UTF8)
    kept = decode(content).encode("utf-8", "surrogateescape")

    assert kept == body.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        (b"", "utf-8"),
        (b"# coding: latin-1\n", "iso8859-1"),
        (b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n", "cp1252"),
        (b"#!/usr/bin/python\r# coding: latin-1\r", "iso8859-1"),
        (b"\n\f# coding: latin-1\n", "iso8859-1"),
        (b"x = 1\n# coding: latin-1\n", "utf-8"),
        (b"\n\n# coding: latin-1\n", "utf-8"),
        (b'"""coding: latin-1"""\n', "utf-8"),
        (b"\xef\xbb\xbf# coding: latin-1\n", "utf-8"),
        (b"# coding: martian\n", "utf-8"),
        (b"# coding: rot13\n", "utf-8"),
        (b"# coding: utf-16\n", "utf-8"),
        (b"# coding: utf-7\n", "utf-8"),
        (b"# coding: unicode_escape\n", "utf-8"),
        (b"# coding: iso2022_jp\n", "utf-8"),
        (b"# coding: utf-8-sig\n", "utf-8"),
    ],
)
def test_the_encoding_is_the_one_that_python_reads_or_utf_8_where_lines_would_not_be_lines(
    content: bytes, encoding: str
) -> None:
    assert encoding_of(content) == encoding


def test_latin_1_is_read_as_latin_1() -> None:
    assert decode("# coding: latin-1\nname = 'é'\n".encode("latin-1")) == "# coding: latin-1\nname = 'é'\n"


@pytest.mark.parametrize(
    ("content", "end"),
    [(b"", b"\n"), (b"a", b"\n"), (b"a\r\n", b"\r\n"), (b"a\rb\rc\n", b"\r"), (b"a\r\nb\nc\n", b"\n")],
)
def test_the_line_end_of_a_file_is_that_of_most_of_its_lines(content: bytes, end: bytes) -> None:
    assert line_end_of(split_lines(content)) == end


@given(st.text(st.characters(codec=None)))
def test_nothing_that_steers_a_terminal_or_turns_text_round_is_printed(text: str) -> None:
    shown = visible(text)

    assert {char for char in shown if unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"}} <= {"\n", "\t"}
    assert not {unicodedata.bidirectional(char) for char in shown} & {"LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI"}
    assert "\n" not in visible_line(text)
    shown.encode("utf-8")


def test_ordinary_text_is_shown_as_it_is() -> None:
    assert visible("naïve – 日本語 🤗\tx\n") == "naïve – 日本語 🤗\tx\n"
