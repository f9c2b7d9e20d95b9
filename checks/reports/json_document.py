"""An outcome as JSON of schema 1: a published surface, so fields are added and never changed."""

from __future__ import annotations

import json

from checks.model import Finding
from checks.run import Outcome

SCHEMA = 1


def render(outcome: Outcome) -> str:
    """The document; `suppressed` is true for what a comment silences or the baseline accepts."""
    silent = (*outcome.silenced, *outcome.accepted)
    rows = [*((found, False) for found in outcome.findings), *((found, True) for found in silent)]
    rows.sort(key=lambda row: row[0][:4])
    rules = [
        {"rule": v.rule, "subjects": v.subjects, "findings": len(v.findings), "seconds": round(v.seconds, 6)}
        for v in outcome.verdicts
    ]
    findings = [{**_finding(found), "suppressed": suppressed} for found, suppressed in rows]
    return json.dumps({"schema": SCHEMA, "findings": findings, "rules": rules}, indent=2)


def _finding(found: Finding) -> dict[str, object]:
    return {
        "rule": found.rule,
        "code": found.code,
        "path": found.path,
        "line": found.line,
        "column": found.column,
        "message": found.message,
        "reason": found.reason,
        "fixable": bool(found.edits),
    }
