"""An outcome as workflow commands, which GitHub shows beside the lines of a pull request.

Source: docs.github.com, "Workflow commands for GitHub Actions"; the escapes are those of the actions toolkit.
"""

from __future__ import annotations

from collections.abc import Iterator

from checks.model import Finding
from checks.reports.human import short, summary
from checks.run import Outcome
from checks.text import visible


def lines(outcome: Outcome) -> Iterator[str]:
    """One command a finding, then the summary as a notice."""
    for found in outcome.findings:
        yield _annotation(found)
    for note in outcome.notes:
        yield f"::notice title=mergeready::{escape_data(note)}"
    yield f"::notice title=mergeready::{escape_data(summary(outcome))}"


def _annotation(found: Finding) -> str:
    place = (
        f"file={escape_property(found.path)},line={found.line},col={found.column},title={escape_property(found.code)}"
    )
    text = f"{short(found.message)}\n{short(found.reason)}" if found.reason else short(found.message)
    return f"::error {place}::{escape_data(text)}"


def escape_data(text: str) -> str:
    """Text as the message of a workflow command can carry it: on one line, and without what a terminal obeys."""
    return visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    """Text as the property of a workflow command can carry it."""
    return escape_data(text).replace(":", "%3A").replace(",", "%2C")
