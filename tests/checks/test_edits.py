"""What files become: lines that no edit names stay byte for byte what they are, and what parsed still parses."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.edits import Change, Refusal, apply, parses, plan_changes
from checks.model import Edit
from checks.text import decode, split_lines
from checks.tree import MemoryTree

ENDS = (b"\n", b"\r\n", b"\r")
BODIES = [b"a", b"\xff\xfe", b"\xc3\xa9", b" \x0c", b""]
LINES = st.lists(st.builds(bytes.__add__, st.sampled_from(BODIES), st.sampled_from(ENDS))).map(
    lambda lines: split_lines(b"".join(lines))  # a CR and an empty line that ends in LF are one line end
)
TEXTS = st.lists(st.sampled_from(["x", "y = 1", "", "é"]), max_size=3).map(
    lambda lines: "".join(f"{x}\n" for x in lines)
)
ACTIONS = st.lists(st.tuples(st.sampled_from(["keep", "replace", "insert"]), st.integers(1, 3), TEXTS))


@given(lines=LINES, actions=ACTIONS, last=TEXTS, bom=st.booleans(), ended=st.booleans())
def test_lines_that_no_edit_names_stay_as_they_are_and_new_ones_end_as_most_do(
    *, lines: list[bytes], actions: list[tuple[str, int, str]], last: str, bom: bool, ended: bool
) -> None:
    if lines and not ended:
        lines = split_lines(b"".join(lines).rstrip(b"\r\n"))
    edits = edits_of(actions, len(lines), last)
    mark = codecs.BOM_UTF8 if bom else b""
    expected = forwards(lines, edits)

    result = apply(mark + b"".join(lines), edits)

    if not expected:
        assert result == (None if lines or bom else b"")
        return
    assert result is not None
    assert result.startswith(mark)
    found = split_lines(result.removeprefix(mark))
    assert [line.rstrip(b"\r\n") for line in found] == [line.rstrip(b"\r\n") for line in expected]
    assert [line for line in found if line not in ENDS] == [line for line in expected if line not in ENDS]


def edits_of(actions: list[tuple[str, int, str]], count: int, last: str) -> list[Edit]:
    """Edits that do not overlap: a walk down the file that keeps, replaces or inserts."""
    edits = [Edit("f", count + 1, count, last)]
    position = 1
    for action, size, text in actions:
        if position + size > count:
            break
        if action != "keep":
            edits.append(Edit("f", position, position - 1 if action == "insert" else position + size - 1, text))
        position += size
    return edits


def forwards(lines: list[bytes], edits: list[Edit]) -> list[bytes]:
    """The same from the top down: what an editor would do."""
    end = max(ENDS, key=lambda end: sum(line.endswith(end) and not line.endswith(b"\r" + end) for line in lines))
    result: list[bytes] = []
    done = 0
    for edit in sorted(edits, key=lambda edit: edit.first):
        result += lines[done : edit.first - 1]
        if edit.text and edit.first > len(lines) and result and not result[-1].endswith((b"\n", b"\r")):
            result[-1] += end
        result += [line.encode() + end for line in edit.text.split("\n")[:-1]]
        done = max(done, edit.last)
    return result + lines[done:]


@pytest.mark.parametrize(
    ("before", "edits", "after"),
    [
        (b"a\nb\nc\n", [Edit("f", 2, 2, "x\n")], b"a\nx\nc\n"),
        (b"a\nb\nc\n", [Edit("f", 2, 1, "x\n"), Edit("f", 3, 3, "")], b"a\nx\nb\n"),
        (b"a\r\nb\nc\r\n", [Edit("f", 2, 2, "x\ny\n")], b"a\r\nx\r\ny\r\nc\r\n"),
        (b"a\rb\r", [Edit("f", 1, 1, "x\n")], b"x\rb\r"),
        (b"a\rb\r\n\n", [Edit("f", 2, 2, "")], b"a\r\r\n"),
        (b"a\rb\rd\rc\n\n", [Edit("f", 4, 4, "x\n")], b"a\rb\rd\rx\r\r\n"),
        (b"a\nb", [Edit("f", 3, 2, "c\n")], b"a\nb\nc\n"),
        (b"a\nb", [Edit("f", 2, 2, "c\n")], b"a\nc\n"),
        (b"\xef\xbb\xbfa\n", [Edit("f", 1, 0, "first\n")], b"\xef\xbb\xbffirst\na\n"),
        (b"\xef\xbb\xbfa\n", [Edit("f", 1, 1, "b\n")], b"\xef\xbb\xbfb\n"),
        (b"# coding: latin-1\n\xe9\n\n", [Edit("f", 3, 3, "ü\n")], b"# coding: latin-1\n\xe9\n\xfc\n"),
        (b"\xff\n", [Edit("f", 2, 1, "\udcff\n")], b"\xff\n\xff\n"),
        (b"", [Edit("f", 1, 0, "a\n")], b"a\n"),
        (b"", [Edit("f", 1, 0, "")], b""),
        (None, [Edit("f", 1, 0, "a\nb\n")], b"a\nb\n"),
        (b"a\n", [Edit("f", 1, 1, "")], None),
    ],
)
def test_edits_keep_line_ends_encoding_and_byte_order_mark(
    before: bytes | None, edits: list[Edit], after: bytes | None
) -> None:
    assert apply(before, edits) == after


SOURCES = st.sampled_from(
    ["a = 1\n", "def f():\n", "    pass\n", "(\n", ")\n", "'''\n", "\\\n", "\x00\n", "class é: x\n", "@d\n"]
)


@given(st.lists(SOURCES), st.lists(st.tuples(st.integers(1, 6), st.integers(0, 3), st.lists(SOURCES, max_size=2))))
def test_a_file_that_parsed_parses_after_whatever_edits_are_let_through(
    lines: list[str], drawn: list[tuple[int, int, list[str]]]
) -> None:
    content = "".join(lines).encode()
    tree = MemoryTree({"f.py": content})
    groups = [[Edit("f.py", first, first + size - 1, "".join(text))] for first, size, text in drawn]

    changes, _ = plan_changes(tree, groups)

    assert [change.path for change in changes] in ([], ["f.py"])
    assert not parses(content) or all(change.after is None or parses(change.after) for change in changes)


def test_a_finding_that_spoils_a_file_is_refused_and_the_others_are_made() -> None:
    tree = MemoryTree({"a.py": b"a = 1\nb = 2\n", "b.py": b"b = 1\n", "c.md": b"c\n"})
    good, spoils, whole = [Edit("a.py", 1, 1, "a = 2\n")], [Edit("a.py", 2, 2, "(\n")], [Edit("c.md", 1, 1, "d\n")]
    half = [Edit("b.py", 1, 1, "b = 2\n"), Edit("a.py", 3, 2, "]\n")]

    assert plan_changes(tree, [spoils, half, good, whole]) == (
        (Change("a.py", b"a = 1\nb = 2\n", b"a = 2\nb = 2\n"), Change("c.md", b"c\n", b"d\n")),
        (Refusal("a.py", "the result would not parse"), Refusal("a.py", "the result would not parse")),
    )


def test_of_two_findings_that_overlap_the_later_waits_for_the_next_pass() -> None:
    tree = MemoryTree({"f": b"a\nb\nc\n"})
    groups = [
        [Edit("f", 1, 2, "x\n")],
        [Edit("f", 2, 2, "y\n")],
        [Edit("f", 3, 2, "z\n")],
        [Edit("f", 3, 3, "c!\n")],
    ]

    assert plan_changes(tree, groups) == ((Change("f", b"a\nb\nc\n", b"x\nz\nc\n"),), ())


@pytest.mark.parametrize(
    ("path", "before", "edits", "why"),
    [
        ("f.py", b"a = 1\n", (Edit("f.py", 1, 1, "a = (\n"),), "the result would not parse"),
        ("f.pyi", b"a: int\n", (Edit("f.pyi", 1, 1, "a: (\n"),), "the result would not parse"),
        (
            "f.py",
            b"a = 1\n" * 200_000,
            (Edit("f.py", 1, 1, "b = 1\n"),),
            "it is too large to see whether the result parses",
        ),
        ("new.py", None, (Edit("new.py", 1, 0, "def\n"),), "the result would not parse"),
        ("f.py", b"# coding: ascii\n", (Edit("f.py", 2, 1, "é\n"),), "its encoding, ascii, cannot hold the new text"),
        ("f", b"a\nb\n", (Edit("f", 1, 2, "x\n"), Edit("f", 2, 2, "y\n")), "edits of one finding overlap"),
        ("f", b"a\nb\n", (Edit("f", 1, 0, "x\n"), Edit("f", 1, 0, "y\n")), "edits of one finding overlap"),
        ("../f", None, (Edit("../f", 1, 0, "x\n"),), "it lies outside of the tree"),
        ("/elsewhere/f", None, (Edit("/elsewhere/f", 1, 0, "x\n"),), "it lies outside of the tree"),
        ("a/../../f", None, (Edit("a/../../f", 1, 0, "x\n"),), "it lies outside of the tree"),
        (".git/hooks/f", None, (Edit(".git/hooks/f", 1, 0, "x\n"),), "it lies outside of the tree"),
        ("a/.GIT/f", None, (Edit("a/.GIT/f", 1, 0, "x\n"),), "it lies outside of the tree"),
    ],
)
def test_an_edit_that_would_damage_or_escape_is_refused(
    path: str, before: bytes | None, edits: tuple[Edit, ...], why: str
) -> None:
    tree = MemoryTree({} if before is None else {path: before})

    assert plan_changes(tree, [edits]) == ((), (Refusal(path, why),))


@pytest.mark.parametrize("path", ["link", "link/below.py"])
def test_nothing_is_written_through_a_link_or_into_a_submodule(path: str) -> None:
    tree = MemoryTree({}, others=frozenset({"link"}))

    assert plan_changes(tree, [[Edit(path, 1, 0, "x\n")]]) == (
        (),
        (Refusal(path, "it is, or lies in, a symbolic link or a submodule"),),
    )


def test_a_file_that_is_gone_when_its_edits_are_planned_is_refused() -> None:
    class Vanishing(MemoryTree):
        def read(self, path: str) -> bytes:
            raise FileNotFoundError(2, "No such file or directory", path)

    assert plan_changes(Vanishing({"f": b"a\n"}), [[Edit("f", 1, 1, "b\n")]]) == (
        (),
        (Refusal("f", "it cannot be read: No such file or directory"),),
    )


def test_a_file_that_did_not_parse_may_be_edited() -> None:
    tree = MemoryTree({"f.py": b"def (\n\x00a\n"})

    assert plan_changes(tree, [[Edit("f.py", 2, 2, "")]]) == ((Change("f.py", b"def (\n\x00a\n", b"def (\n"),), ())


@given(LINES.map(b"".join), st.integers(1, 4))
def test_putting_a_line_in_place_of_itself_changes_nothing_where_line_ends_are_not_mixed(
    body: bytes, line: int
) -> None:
    content = body.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    lines = decode(content).split("\n")
    if line < len(lines):
        assert plan_changes(MemoryTree({"f": content}), [[Edit("f", line, line, f"{lines[line - 1]}\n")]]) == ((), ())
