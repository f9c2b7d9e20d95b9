"""The report for code scanning, against the schema of the standard."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import given
from jsonschema import Draft4Validator, FormatChecker

from checks.model import Finding
from checks.reports import sarif
from checks.run import Outcome, codes
from tests.checks.outcomes import CLEAN, FINDINGS, FIXABLE, OUTCOME, SETTINGS

SCHEMA = Draft4Validator(
    json.loads(Path(__file__).with_name("data").joinpath("sarif-schema-2.1.0.json").read_text(encoding="utf-8")),
    format_checker=FormatChecker(),
)


def test_the_report_for_code_scanning() -> None:
    document = json.loads(sarif.render(OUTCOME, "1.2.3"))
    (run,) = document["runs"]
    driver = run["tool"]["driver"]

    assert (document["version"], run["columnKind"]) == ("2.1.0", "unicodeCodePoints")
    assert (driver["name"], driver["semanticVersion"]) == ("mergeready", "1.2.3")
    assert {rule["id"]: rule["shortDescription"]["text"] for rule in driver["rules"]} == codes()
    assert [driver["rules"][result["ruleIndex"]]["id"] for result in run["results"]] == [
        result["ruleId"] for result in run["results"]
    ]
    assert [(result["ruleId"], result.get("suppressions")) for result in run["results"]] == [
        ("doc-toc/missing", None),
        ("copied-code/body", None),
        ("copied-code/body", [{"kind": "inSource"}]),
        ("copied-code/signature", [{"kind": "external"}]),
    ]
    assert {
        key: value for key, value in run["results"][1].items() if key not in ("ruleIndex", "partialFingerprints")
    } == {
        "ruleId": "copied-code/body",
        "level": "error",
        "message": {"text": "the copy differs from lib.a.f\nline 3 says + 2 and should say + 1"},
        "locations": [place("src/lib/b.py", 7, 5)],
        "relatedLocations": [place("src/lib/a.py", 3, 1)],
        "fixes": [
            {
                "artifactChanges": [
                    {
                        "artifactLocation": {"uri": "src/lib/b.py", "uriBaseId": "%SRCROOT%"},
                        "replacements": [replacement(7, 8, "    return x + 1\n")],
                    },
                    {
                        "artifactLocation": {"uri": "src/lib/new.py", "uriBaseId": "%SRCROOT%"},
                        "replacements": [replacement(1, 1, "x = 1\n")],
                    },
                ]
            }
        ],
    }


def place(path: str, line: int, column: int) -> dict[str, object]:
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": path, "uriBaseId": "%SRCROOT%"},
            "region": {"startLine": line, "startColumn": column},
        }
    }


def replacement(first: int, end: int, text: str) -> dict[str, object]:
    region = {"startLine": first, "startColumn": 1, "endLine": end, "endColumn": 1}
    return {"deletedRegion": region, "insertedContent": {"text": text}}


def test_an_alert_stays_the_same_alert_when_lines_above_it_move() -> None:
    def fingerprint(finding: Finding) -> str:
        document = json.loads(sarif.render(CLEAN._replace(findings=(finding,)), "1"))
        return str(document["runs"][0]["results"][0]["partialFingerprints"])

    assert fingerprint(FIXABLE._replace(line=99, reason="other")) == fingerprint(FIXABLE)
    assert fingerprint(FIXABLE._replace(path="other")) != fingerprint(FIXABLE)


@pytest.mark.parametrize("outcome", [OUTCOME, CLEAN, Outcome(SETTINGS, (), ())])
def test_the_document_for_code_scanning_is_valid_sarif(outcome: Outcome) -> None:
    assert list(SCHEMA.iter_errors(json.loads(sarif.render(outcome, "0.1.0")))) == []


@given(FINDINGS)
def test_any_finding_makes_valid_sarif(findings: tuple[Finding, ...]) -> None:
    outcome = CLEAN._replace(findings=findings)
    document = json.loads(sarif.render(outcome, "0.1.0"))
    document["runs"][0]["tool"]["driver"]["rules"] = []

    assert list(SCHEMA.iter_errors(document)) == []
    assert [
        unquote(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], errors="surrogateescape")
        for result in document["runs"][0]["results"]
    ] == [found.path for found in findings]
