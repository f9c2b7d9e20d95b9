"""The diff of a change: what a reader sees of any bytes."""

from __future__ import annotations

import pytest

from checks.edits import Change
from tooling.fixing import diff


def lines(before: bytes | None, after: bytes | None, path: str = "a.py") -> list[str]:
    return [text for text, _ in diff(Change(path, before, after))]


@pytest.mark.parametrize(
    ("before", "after", "body"),
    [
        (b"a\nb\n", b"a\nc\n", ["@@ -1,2 +1,2 @@", " a", "-b", "+c"]),
        (b"a\r\nb\r\n", b"a\r\nc\r\n", ["@@ -1,2 +1,2 @@", " a", "-b", "+c"]),
        (b"a\n", b"a", ["@@ -1 +1 @@", "-a", "+a", "\\ No newline at end of file"]),
        (b"a\nb", b"c\nb", ["@@ -1,2 +1,2 @@", "-a", "+c", " b", "\\ No newline at end of file"]),
        (b"a\x0cb\n", b"a\x0cc\n", ["@@ -1 +1 @@", "-a\x0cb", "+a\x0cc"]),
        ("# é\u2028x\n".encode(), "# ü\u2028x\n".encode(), ["@@ -1 +1 @@", "-# é\u2028x", "+# ü\u2028x"]),
    ],
)
def test_lines_are_those_of_the_file(before: bytes, after: bytes, body: list[str]) -> None:
    assert lines(before, after) == ["--- a/a.py", "+++ b/a.py", *body]


def test_files_that_come_or_go_have_no_other_side() -> None:
    assert lines(None, b"a\n") == ["--- /dev/null", "+++ b/a.py", "@@ -0,0 +1 @@", "+a"]
    assert lines(b"a\n", None) == ["--- a/a.py", "+++ /dev/null", "@@ -1 +0,0 @@", "-a"]


def test_a_name_that_would_spoof_a_line_is_escaped() -> None:
    assert lines(b"a\n", b"b\n", "a\n+b")[:2] == ["--- a/a\\n+b", "+++ b/a\\n+b"]


def test_each_line_has_the_colour_of_its_kind() -> None:
    assert [style for _, style in diff(Change("a", b"a\nb\n", b"a\nc\n"))] == [
        "red",
        "green",
        "cyan",
        "",
        "red",
        "green",
    ]
