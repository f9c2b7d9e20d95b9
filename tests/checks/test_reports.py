"""What is written down of an outcome, whole, for people, programs and GitHub."""

from __future__ import annotations

import json
import re
from urllib.parse import unquote

from hypothesis import given

from checks.baseline import Acceptance
from checks.model import Finding
from checks.reports import github, human, json_document, sarif
from checks.text import visible
from tests.checks.outcomes import CLEAN, FINDINGS, HOSTILE, OUTCOME


def text_of(lines: object) -> str:
    assert isinstance(lines, list)
    return "\n".join(text for text, _ in lines)


def test_the_report_for_people() -> None:
    assert text_of(list(human.lines(OUTCOME))) == r"""
docs/ä ö:%,.yml:2:1: doc-toc/missing: 100% wrong:\r, no?
src/lib/b.py:7:5: copied-code/body: the copy differs from lib.a.f [fixable]
    line 3 says + 2 and should say + 1
note: lazy-inits looked at nothing here
note: the baseline accepts copied-code/body in gone.py, which is no longer found
2 findings (1 fixable with --fix), 1 suppressed, 1 accepted; 3 rules looked at 12,346 things in 1.76 s
""".strip()


def test_the_report_of_a_clean_run_is_one_line() -> None:
    assert text_of(list(human.lines(CLEAN))) == "0 findings; 1 rule looked at 1 thing in 0.10 s"


def test_the_statistics() -> None:
    assert text_of(list(human.statistics(OUTCOME))) == """
rule                    subjects  findings   seconds
copied-code                12345         3     1.250
doc-toc                        1         1    cached
lazy-inits                     0         0     0.000

code                                        findings
copied-code/body                                   1
doc-toc/missing                                    1
""".strip()
    assert len(list(human.statistics(CLEAN))) == 2


def test_the_report_for_programs() -> None:
    assert json.loads(json_document.render(OUTCOME)) == {
        "schema": 1,
        "findings": [
            {
                "rule": "copied-code",
                "code": "copied-code/body",
                "path": "a.py",
                "line": 1,
                "column": 1,
                "message": "silenced",
                "reason": "",
                "fixable": False,
                "suppressed": True,
            },
            {
                "rule": "copied-code",
                "code": "copied-code/signature",
                "path": "c.py",
                "line": 3,
                "column": 1,
                "message": "accepted",
                "reason": "",
                "fixable": False,
                "suppressed": True,
            },
            {
                "rule": "doc-toc",
                "code": "doc-toc/missing",
                "path": "docs/ä ö:%,.yml",
                "line": 2,
                "column": 1,
                "message": "100% wrong:\r, no?",
                "reason": "",
                "fixable": False,
                "suppressed": False,
            },
            {
                "rule": "copied-code",
                "code": "copied-code/body",
                "path": "src/lib/b.py",
                "line": 7,
                "column": 5,
                "message": "the copy differs from lib.a.f",
                "reason": "line 3 says + 2 and should say + 1",
                "fixable": True,
                "suppressed": False,
            },
        ],
        "rules": [
            {"rule": "copied-code", "subjects": 12345, "findings": 3, "seconds": 1.25},
            {"rule": "doc-toc", "subjects": 1, "findings": 1, "seconds": 0.5},
            {"rule": "lazy-inits", "subjects": 0, "findings": 0, "seconds": 0.0004},
        ],
    }


def test_the_report_for_github() -> None:
    assert list(github.lines(OUTCOME)) == [
        "::error file=docs/ä ö%3A%25%2C.yml,line=2,col=1,title=doc-toc/missing::100%25 wrong:\\r, no?",
        (
            "::error file=src/lib/b.py,line=7,col=5,title=copied-code/body"
            "::the copy differs from lib.a.f%0Aline 3 says + 2 and should say + 1"
        ),
        "::notice title=mergeready::lazy-inits looked at nothing here",
        (
            "::notice title=mergeready::2 findings (1 fixable with --fix), 1 suppressed, 1 accepted; "
            "3 rules looked at 12,346 things in 1.76 s"
        ),
    ]


def test_documents_hold_nothing_but_ascii_whatever_the_terminal_can_show() -> None:
    assert json_document.render(OUTCOME).isascii()
    assert sarif.render(OUTCOME, "1").isascii()


@given(FINDINGS, HOSTILE)
def test_nothing_that_a_repository_holds_is_shown_raw_or_breaks_a_line(
    findings: tuple[Finding, ...], text: str
) -> None:
    outcome = OUTCOME._replace(findings=findings, stale=(Acceptance(f"copied-code/{text}", text, text, text),))

    for line in (*(text for text, _ in human.lines(outcome)), *github.lines(outcome)):
        assert visible(line) == line
        assert "\n" not in line


@given(FINDINGS)
def test_github_reads_back_every_finding(findings: tuple[Finding, ...]) -> None:
    lines = list(github.lines(CLEAN._replace(findings=findings)))

    for found, line in zip(findings, lines, strict=False):
        parts = re.fullmatch(r"::error file=([^:,]*),line=(\d+),col=1,title=copied-code/body::(.*)", line)
        assert parts is not None
        assert unquote(parts[1]) == visible(found.path)
        assert int(parts[2]) == found.line
        assert unquote(parts[3]) == visible(f"{found.message}\n{found.reason}")
    assert len(lines) == len(findings) + 1


@given(FINDINGS)
def test_programs_read_back_every_finding(findings: tuple[Finding, ...]) -> None:
    rows = json.loads(json_document.render(CLEAN._replace(findings=findings)))["findings"]

    assert [(row["path"], row["line"], row["message"], row["reason"]) for row in rows] == [
        (found.path, found.line, found.message, found.reason) for found in sorted(findings, key=lambda f: f[:4])
    ]
