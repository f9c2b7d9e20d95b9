"""A checklist as workflow commands, which GitHub shows on the run and beside the lines of the pull request.

Source: docs.github.com, "Workflow commands for GitHub Actions". A step may show ten of each kind, so an item gives a
few and says how many there are.
"""

from __future__ import annotations

from collections.abc import Iterator

from checks.reports.github import escape_data, escape_property
from tooling.pr.judge import Checklist
from tooling.pr.model import Decision, Verdict
from tooling.pr.reports.human import place, summary

SHOWN = 3
"""Annotations of one item."""
_KINDS = {Verdict.FAIL: "error", Verdict.UNKNOWN: "error", Verdict.WARN: "warning", Verdict.MANUAL: "notice"}


def lines(checklist: Checklist, notes: tuple[str, ...] = ()) -> Iterator[str]:
    """The annotations of every item that asks for attention, then the summary as a notice."""
    for decision in checklist.decisions:
        if decision.verdict in _KINDS:
            yield from _annotations(decision)
    for note in (*notes, summary(checklist)):
        yield f"::notice title=mergeready pr::{escape_data(note)}"


def _annotations(decision: Decision) -> Iterator[str]:
    placed = [row for row in decision.evidence if row.path][:SHOWN]
    for row in placed:
        where = f"file={escape_property(row.path)},line={max(row.line, 1)},"
        yield _command(decision, where, f"{decision.message}\n{row.text}")
    if not placed:
        told = [f"{place(row)}{row.text}" for row in decision.evidence[:SHOWN]]
        yield _command(decision, "", "\n".join((decision.message, *told)))


def _command(decision: Decision, where: str, text: str) -> str:
    mend = f"\n-> {decision.mend}" if decision.mend else ""
    return f"::{_KINDS[decision.verdict]} {where}title={escape_property(decision.code)}::{escape_data(text + mend)}"
