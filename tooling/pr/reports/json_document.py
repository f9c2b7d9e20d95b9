"""A checklist as JSON of schema 1: a published surface, so fields are added and never changed."""

from __future__ import annotations

import base64
import json
import os

from checks.text import visible_line
from tooling.pr.judge import Checklist
from tooling.pr.model import Decision, Evidence
from tooling.pr.pull import PullRequest

SCHEMA = 1


def render(checklist: Checklist, pull: PullRequest, notes: tuple[str, ...] = ()) -> str:
    """The document, in ASCII. A path that is no UTF-8 is shown with escapes, and whole in `path_b64`."""
    request = pull.request
    document = {
        "schema": SCHEMA,
        "command": "pr",
        "ready": checklist.ready,
        "work_in_progress": checklist.unfinished,
        "request": {
            "event": request.event,
            "number": request.number or None,
            "title": request.title,
            "head": request.head or None,
            "head_ref": request.head_ref or None,
            "base_ref": request.base_ref or None,
            "source": request.source or None,
        },
        "items": [_item(decision) for decision in checklist.decisions],
        "notes": list(notes),
    }
    return json.dumps(document, indent=2)


def _item(decision: Decision) -> dict[str, object]:
    return {
        "item": decision.item,
        "verdict": decision.verdict.value,
        "code": decision.code,
        "message": decision.message,
        "mend": decision.mend,
        "evidence": [_evidence(row) for row in decision.evidence],
    }


def _evidence(row: Evidence) -> dict[str, object]:
    found: dict[str, object] = {"text": row.text}
    if row.path:
        found["path"] = visible_line(row.path)
        if found["path"] != row.path:
            found["path_b64"] = base64.b64encode(os.fsencode(row.path)).decode("ascii")
    if row.line:
        found["line"] = row.line
    if row.commit:
        found["commit"] = row.commit
    return found
