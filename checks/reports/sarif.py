"""An outcome as SARIF 2.1.0, the format of code scanning (OASIS standard, sarif-schema-2.1.0.json)."""

from __future__ import annotations

import hashlib
import json
from typing import Any
from urllib.parse import quote

from checks.model import Finding
from checks.run import Outcome, codes
from checks.text import visible

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def render(outcome: Outcome, version: str) -> str:
    """The document: one result a finding, with fixes where there are edits, and suppressions marked as such."""
    known = codes()
    results = [_result(found, list(known)) for found in outcome.findings]
    for kind, silent in (("inSource", outcome.silenced), ("external", outcome.accepted)):
        results.extend({**_result(found, list(known)), "suppressions": [{"kind": kind}]} for found in silent)
    driver = {
        "name": "mergeready",
        "semanticVersion": version,
        "rules": [{"id": code, "shortDescription": {"text": text}} for code, text in known.items()],
    }
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _result(found: Finding, known: list[str]) -> dict[str, Any]:
    text = f"{found.message}\n{found.reason}" if found.reason else found.message
    identity = f"{found.code}\0{found.path}\0{found.message}\0{found.accepted}"
    result: dict[str, Any] = {
        "ruleId": found.code,
        "ruleIndex": known.index(found.code),
        "level": "error",
        "message": {"text": visible(text)},
        "locations": [_location(found.path, found.line, found.column)],
        # The line is left out on purpose: an alert stays the same alert when code above it moves.
        "partialFingerprints": {"mergeready/v1": hashlib.sha256(identity.encode("utf-8", "replace")).hexdigest()},
    }
    if found.source:
        result["relatedLocations"] = [_location(*found.source, 1)]
    if found.edits:
        result["fixes"] = [{"artifactChanges": _changes(found)}]
    return result


def _location(path: str, line: int, column: int) -> dict[str, Any]:
    region = {"startLine": line, "startColumn": column}
    return {"physicalLocation": {"artifactLocation": _artifact(path), "region": region}}


def _artifact(path: str) -> dict[str, str]:
    return {"uri": quote(path, errors="surrogateescape"), "uriBaseId": "%SRCROOT%"}


def _changes(found: Finding) -> list[dict[str, Any]]:
    changes = []
    for path in dict.fromkeys(edit.path for edit in found.edits):
        replacements = [
            {
                "deletedRegion": {"startLine": edit.first, "startColumn": 1, "endLine": edit.last + 1, "endColumn": 1},
                "insertedContent": {"text": edit.text},
            }
            for edit in found.edits
            if edit.path == path
        ]
        changes.append({"artifactLocation": _artifact(path), "replacements": replacements})
    return changes
