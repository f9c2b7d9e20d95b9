"""Divergences that somebody has accepted: one file of findings, each with a hash of what was accepted.

A copy that drifts further than what was accepted is a new finding, so a fork can keep every check on.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from checks.errors import CheckError
from checks.extractor import Extractor
from checks.model import Finding


class Acceptance(NamedTuple):
    """One accepted finding; `digest` is of the divergence, so the lines it stands on may move."""

    code: str
    path: str
    message: str
    digest: str


def acceptance(found: Finding) -> Acceptance:
    """What accepting a finding records."""
    accepted = found.accepted or found.message
    digest = hashlib.sha256(accepted.encode("utf-8", "surrogatepass")).hexdigest()[:20]
    return Acceptance(found.code, found.path, found.message, digest)


def parse(text: str, path: str) -> tuple[Acceptance, ...]:
    """The acceptances in a baseline file, none for an empty text; CheckError if it is not one."""
    if not text:
        return ()
    try:
        document = json.loads(text)
        if document["schema"] != 1:
            raise ValueError(document["schema"])
        return tuple(Acceptance(*(_text(row[field]) for field in Acceptance._fields)) for row in document["accepted"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        hint = "restore it from git, or delete it and write it anew with: mergeready baseline accept"
        raise CheckError(f"{path} is not a baseline of schema 1", hint=hint) from error


def render(acceptances: Iterable[Acceptance]) -> str:
    """The text of a baseline file: sorted, one acceptance a line, so that two branches merge."""
    rows = ",".join(f"\n    {json.dumps(row._asdict())}" for row in sorted(set(acceptances)))
    return f'{{\n  "schema": 1,\n  "accepted": [{rows}\n  ]\n}}\n'


def apply(
    findings: Sequence[Finding], acceptances: Sequence[Acceptance]
) -> tuple[tuple[Finding, ...], tuple[Finding, ...], tuple[Acceptance, ...]]:
    """Findings that stay, those that are accepted, and the acceptances that nothing needs any more."""
    if not acceptances:
        return tuple(findings), (), ()
    known = set(acceptances)
    kept: list[Finding] = []
    accepted: list[Finding] = []
    for found in findings:
        (accepted if acceptance(found) in known else kept).append(found)
    needed = {acceptance(found) for found in accepted}
    return tuple(kept), tuple(accepted), tuple(row for row in acceptances if row not in needed)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _accepted(text: str) -> list[Acceptance]:
    try:
        return list(parse(text, ""))
    except CheckError:  # the run says so, with the path
        return []


def _load(rows: list[list[str]]) -> frozenset[Acceptance]:
    return frozenset(Acceptance(*row) for row in rows)


ACCEPTED: Extractor[frozenset[Acceptance]] = Extractor("acceptances", _accepted, _load)
