"""A checklist for people at a terminal: one line an item, its evidence below, and what to do about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from checks.text import visible_line
from tooling.pr.judge import Checklist
from tooling.pr.model import Evidence, Verdict

Line = tuple[str, str]
"""A text and the name of a style, empty for plain."""

SHOWN = 8
"""Pieces of evidence of one item; the number of others is said."""
STYLES = {
    Verdict.PASS: "green",
    Verdict.FAIL: "bold red",
    Verdict.WARN: "yellow",
    Verdict.MANUAL: "cyan",
    Verdict.SKIP: "dim",
    Verdict.UNKNOWN: "bold red",
}
_QUIET = (Verdict.PASS, Verdict.SKIP)


def lines(checklist: Checklist, notes: tuple[str, ...] = ()) -> Iterator[Line]:
    """Every item, then one line that sums them up."""
    for decision in checklist.decisions:
        yield f"{decision.verdict:<8}{decision.item:<18}{decision.message}", STYLES[decision.verdict]
        if decision.verdict not in _QUIET:
            for row in decision.evidence[:SHOWN]:
                yield f"{'':26}{place(row)}{visible_line(row.text)}", ""
            if len(decision.evidence) > SHOWN:
                yield f"{'':26}and {len(decision.evidence) - SHOWN} more", ""
            if decision.mend:
                yield f"{'':26}-> {decision.mend}", "dim"
    for note in notes:
        yield f"note: {visible_line(note)}", "dim"
    yield summary(checklist), "bold green" if checklist.ready else "bold"


def place(row: Evidence) -> str:
    """Where a piece of evidence stands, with a colon after it; empty where it stands nowhere."""
    where = visible_line(row.path)
    if row.line:
        where = f"{where}:{row.line}" if where else f"line {row.line}"
    if row.commit:
        where = f"{row.commit[:12]} {where}".rstrip()
    return f"{where}: " if where else ""


def summary(checklist: Checklist) -> str:
    """How many items ended how, and whether it is ready."""
    counts = Counter(decision.verdict for decision in checklist.decisions)
    said = ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])
    state = "ready" if checklist.ready else "work in progress" if checklist.unfinished else "not ready"
    return f"{state}: {said}"
