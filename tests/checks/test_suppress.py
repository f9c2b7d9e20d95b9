"""Which comments silence which findings, and what is said of a comment that is wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.engine import collect
from checks.extractor import Extractor
from checks.facts.comments import MARKDOWN, OTHERS, PYTHON, Comments
from checks.model import Finding
from checks.suppress import Suppression, apply, of_finding
from checks.suppress import collect as collect_comments
from tests.checks.trees import index_of, tree_of

KNOWN = {"copied-code", "copied-code/body", "copied-code/signature", "doc-toc"}


def comments_of(path: str, text: str) -> list[tuple[int, int, tuple[str, ...], str]]:
    """Each comment of a file: its line, the last line it covers, the names and the reason."""
    _, found = collect(collect_comments(index_of(tree_of({path: text}))))
    return [(c.line, c.last, c.names, c.reason) for c in map(of_finding, found)]


def judged(comment: Suppression, *findings: Finding, ran: tuple[str, ...] = ("copied-code",)) -> list[str]:
    """What is left of findings and what is said of a comment: `line code`."""
    kept, silenced, faults = apply(findings, [comment], ran, KNOWN.__contains__)
    assert len(kept) + len(silenced) == len(findings)
    return [f"{found.line} {found.code}" for found in (*kept, *faults)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1  # mergeready: skip[copied-code] why\n", [(1, 1, ("copied-code",), "why")]),
        ("# mergeready: skip[copied-code] why\nx = 1\ny = 2\n", [(1, 2, ("copied-code",), "why")]),
        (
            "# mergeready: skip[copied-code] why\n\n# Copied from a.b.c\n# and more\ndef f():\n    pass\n",
            [(1, 5, ("copied-code",), "why")],
        ),
        ("class A:\n    # mergeready: skip[a, b/c] two\n    def f(): ...\n", [(2, 3, ("a", "b/c"), "two")]),
        ("x = 1  # noqa: E501  # mergeready: skip[a] why\n", [(1, 1, ("a",), "why")]),
        ("#mergeready:skip[a]why\nx = 1\n", [(1, 2, ("a",), "why")]),
        ("# mergeready: skip[a]\nx = 1\n", [(1, 2, ("a",), "")]),
        ("# mergeready: skip[] why\nx = 1\n", [(1, 2, ("",), "why")]),
        ("# mergeready: skip[a] why", [(1, 1, ("a",), "why")]),
        ('x = "# mergeready: skip[a] why"\n', []),
        ('"""Docs.\n\n# mergeready: skip[a] why\n"""\n', []),
        ("# <!-- mergeready: skip[a] why -->\nx = 1\n", []),
        ("# mergeready: ignore[a] why\n", []),
        ("def (:\n    x = 1  # mergeready: skip[a] why\n", [(2, 2, ("a",), "why")]),
        ("'''never closed\nx  # mergeready: skip[a] why\n", [(2, 2, ("a",), "why")]),
        ("x = 1\x0c  # mergeready: skip[a] why\r\n", [(1, 1, ("a",), "why")]),
    ],
)
def test_a_comment_of_python_covers_its_line_or_where_it_stands_alone_those_below(
    text: str, expected: list[tuple[int, int, tuple[str, ...], str]]
) -> None:
    assert comments_of("a.py", text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<!-- mergeready: skip[doc-toc] why -->\n# Title\n", [(1, 2, ("doc-toc",), "why")]),
        ("<!-- mergeready: skip[a] why -->\n<!-- more -->\n\ntext\n", [(1, 4, ("a",), "why")]),
        ("text <!-- mergeready: skip[a] why --> more\n", [(1, 1, ("a",), "why")]),
        ("Write `<!-- mergeready: skip[a] why -->` above it.\n", []),
        ("```\n<!-- mergeready: skip[a] why -->\n```\n", []),
        ("```\n~~~\n```\n<!-- mergeready: skip[a] why -->\n", [(4, 4, ("a",), "why")]),
        ("# mergeready: skip[a] is a heading\n", []),
    ],
)
def test_a_comment_of_markdown_is_an_html_comment_outside_of_code(
    text: str, expected: list[tuple[int, int, tuple[str, ...], str]]
) -> None:
    assert comments_of("a.md", text) == expected


@pytest.mark.parametrize("path", ["toc.yml", "list.txt", "pyproject.toml", "setup.cfg"])
def test_other_files_have_comments_of_hash_signs(path: str) -> None:
    text = "# mergeready: skip[doc-toc] why\n- local: a\n- local: b  # mergeready: skip[doc-toc] too\n"

    assert comments_of(path, text) == [(1, 2, ("doc-toc",), "why"), (3, 3, ("doc-toc",), "too")]


def test_files_that_have_no_comments_are_not_read() -> None:
    assert comments_of("a.json", "# mergeready: skip[a] why\n") == []


@given(st.sampled_from([PYTHON, MARKDOWN, OTHERS]), st.text(), st.sampled_from(["", "\n", "'''\n", "(\n", "```\n"]))
def test_any_text_has_comments_or_none_and_each_covers_lines_that_it_has(
    kind: Extractor[Comments], text: str, before: str
) -> None:
    whole = f"{text}{before}# mergeready: skip[a] b <!-- mergeready: skip[c] d -->{text}"

    for line, last, _, _ in kind.load(kind.extract(whole)):
        assert 1 <= line <= last <= whole.count("\n") + 1


COMMENT = Suppression("a.py", 3, 5, ("copied-code",), "why")


@pytest.mark.parametrize(
    ("finding", "left"),
    [
        (Finding("a.py", 3, "copied-code/body", ""), []),
        (Finding("a.py", 5, "copied-code/signature", ""), []),
        (Finding("a.py", 9, "copied-code/body", "", anchors=(1, 4)), []),
        (Finding("a.py", 6, "copied-code/body", ""), ["6 copied-code/body", "3 suppression/unused"]),
        (Finding("a.py", 2, "copied-code/body", ""), ["2 copied-code/body", "3 suppression/unused"]),
        (Finding("b.py", 3, "copied-code/body", ""), ["3 copied-code/body", "3 suppression/unused"]),
        (Finding("a.py", 3, "doc-toc/order", ""), ["3 doc-toc/order", "3 suppression/unused"]),
    ],
)
def test_a_finding_is_silenced_if_its_rule_is_named_and_its_line_or_an_anchor_is_covered(
    finding: Finding, left: list[str]
) -> None:
    assert judged(COMMENT, finding) == left


def test_a_comment_that_names_a_code_leaves_the_other_codes_of_the_rule_alone() -> None:
    body, signature = (Finding("a.py", 3, f"copied-code/{what}", "") for what in ("body", "signature"))

    assert judged(COMMENT._replace(names=("copied-code/body",)), body, signature) == ["3 copied-code/signature"]


@pytest.mark.parametrize(
    ("comment", "ran", "faults"),
    [
        (COMMENT, ("copied-code",), ["3 suppression/unused"]),
        (COMMENT, ("doc-toc",), []),
        (COMMENT._replace(names=("copied-code", "doc-toc")), ("copied-code",), []),
        (COMMENT._replace(names=("copied-cod",)), ("copied-code",), ["3 suppression/unknown"]),
        (COMMENT._replace(names=("copied-code/bod",)), ("copied-code",), ["3 suppression/unknown"]),
        (COMMENT._replace(names=("",)), ("copied-code",), ["3 suppression/unknown"]),
        (COMMENT._replace(reason=""), ("copied-code",), ["3 suppression/no-reason", "3 suppression/unused"]),
    ],
)
def test_a_comment_that_silences_nothing_names_nothing_or_gives_no_reason_is_a_finding(
    comment: Suppression, ran: tuple[str, ...], faults: list[str]
) -> None:
    assert judged(comment, ran=ran) == faults


def test_what_is_wrong_with_a_comment_is_said_in_full() -> None:
    wrong = COMMENT._replace(names=("copied-cod", "b\x1b"), reason="")

    assert apply((), [wrong], ("copied-code",), KNOWN.__contains__) == (
        (),
        (),
        (
            Finding("a.py", 3, "suppression/unknown", "there is no rule or code 'copied-cod' to skip"),
            Finding("a.py", 3, "suppression/unknown", "there is no rule or code 'b\\x1b' to skip"),
            Finding(
                "a.py",
                3,
                "suppression/no-reason",
                "say why copied-cod, b\x1b is skipped here",
                "the text after the bracket is empty",
            ),
        ),
    )
