"""An outcome for people: one line a finding, its reason below it, and what to do next at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from checks.model import Finding
from checks.run import Outcome
from checks.text import visible_line

_READABLE = 600  # characters
Line = tuple[str, str]
"""A text and the name of a style, empty for plain."""


def lines(outcome: Outcome) -> Iterator[Line]:
    """The findings of an outcome, then one line that sums it up."""
    for found in outcome.findings:
        yield from finding(found)
    for note in outcome.notes:
        yield f"note: {visible_line(note)}", "dim"
    for row in outcome.stale:
        yield visible_line(f"note: the baseline accepts {row.code} in {row.path}, which is no longer found"), "dim"
    yield summary(outcome), "bold red" if outcome.findings else "bold green"


def finding(found: Finding) -> Iterator[Line]:
    """One finding: where, which, what; then why."""
    place = f"{visible_line(found.path)}:{found.line}:{found.column}"
    yield f"{place}: {found.code}: {visible_line(short(found.message))}{' [fixable]' if found.edits else ''}", ""
    if found.reason:
        yield f"    {visible_line(short(found.reason))}", "dim"


def short(text: str) -> str:
    """A text that people are to read: a line of code in it may be megabytes long."""
    return text if len(text) <= _READABLE else f"{text[:_READABLE]} … ({len(text):,} characters)"


def summary(outcome: Outcome) -> str:
    """What was found, what was let pass, and how much was looked at."""
    fixable = sum(bool(found.edits) for found in outcome.findings)
    parts = [_count(len(outcome.findings), "finding")]
    if fixable:
        parts[0] += f" ({fixable} fixable with --fix)"
    if outcome.silenced:
        parts.append(f"{len(outcome.silenced)} suppressed")
    if outcome.accepted:
        parts.append(f"{len(outcome.accepted)} accepted")
    subjects = sum(verdict.subjects for verdict in outcome.verdicts)
    looked = f"{_count(len(outcome.verdicts), 'rule')} looked at {_count(subjects, 'thing')} in {outcome.seconds:.2f} s"
    return f"{', '.join(parts)}; {looked}"


def statistics(outcome: Outcome) -> Iterator[Line]:
    """A table of rules with what each looked at and took, then one of codes with how often each was found."""
    yield f"{'rule':<22}{'subjects':>10}{'findings':>10}{'seconds':>10}", "bold"
    for verdict in outcome.verdicts:
        seconds = "cached" if verdict.cached else f"{verdict.seconds:.3f}"
        yield f"{verdict.rule:<22}{verdict.subjects:>10}{len(verdict.findings):>10}{seconds:>10}", ""
    counts = Counter(found.code for found in outcome.findings)
    if counts:
        yield "", ""
        yield f"{'code':<42}{'findings':>10}", "bold"
    for code, count in sorted(counts.items()):
        yield f"{code:<42}{count:>10}", ""


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
