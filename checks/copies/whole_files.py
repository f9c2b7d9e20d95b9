"""Files that are copies of other files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from checks.index import Index
from checks.model import Finding


def compare_files(index: Index, copies: Mapping[str, str]) -> Iterator[Finding]:
    """Hold each file of a table against the one that it is a copy of, to the letter."""
    for path, original in copies.items():
        if not index.exists(original):
            yield Finding(path, 1, "copied-code/target", ...)
