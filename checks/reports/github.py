"""An outcome as workflow commands, which GitHub shows beside the lines of a pull request.

Source: docs.github.com, "Workflow commands for GitHub Actions"; the escapes are those of the actions toolkit.
"""

from __future__ import annotations

from collections.abc import Iterator

from checks.model import Finding
from checks.reports.human import summary
from checks.run import Outcome
from checks.text import visible


def lines(outcome: Outcome) -> Iterator[str]:
    """One command a finding, then the summary as a notice."""
    for found in outcome.findings:
        yield _annotation(found)
    for note in outcome.notes:
        yield f"::notice title=mergeready::{_data(note)}"
    yield f"::notice title=mergeready::{_data(summary(outcome))}"


def _annotation(found: Finding) -> str:
    place = f"file={_property(found.path)},line={found.line},col={found.column},title={_property(found.code)}"
    text = f"{found.message}\n{found.reason}" if found.reason else found.message
    return f"::error {place}::{_data(text)}"


def _data(text: str) -> str:
    return visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
