"""The tree as the findings so far would mend it, one definition at a time."""

from __future__ import annotations

from collections import defaultdict

from checks.copies.piece import Piece, cut
from checks.copies.resolve import Original
from checks.facts.python import definitions
from checks.index import Index
from checks.model import Edit, Finding


class Patches:
    """Edits of findings, and what definitions become under them."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._findings: dict[str, list[Finding]] = defaultdict(list)

    def add(self, finding: Finding) -> None:
        """Take note of a finding that mends its own file."""
        if finding.edits:
            self._findings[finding.path].append(finding)

    def touch(self, path: str) -> bool:
        """Whether any finding mends a file."""
        return path in self._findings

    def present(self, original: Original) -> Piece:
        """A definition as the file has it."""
        return cut(original.path, self._index.text(original.path), original.definition)

    def mended(self, original: Original) -> tuple[Piece, tuple[Finding, ...]]:
        """A definition as it will be, and the findings that change it; its line numbers are those it has now."""
        piece = self.present(original)
        inside = [
            found
            for found in self._findings.get(original.path, ())
            if any(piece.first <= edit.first and edit.last <= piece.last for edit in found.edits)
        ]
        if not inside:
            return piece, ()
        lines = self._index.text(original.path).split("\n")[piece.first - 1 : piece.last]
        for edit in sorted((edit for found in inside for edit in found.edits), key=_place, reverse=True):
            if piece.first <= edit.first and edit.last <= piece.last:
                lines[edit.first - piece.first : edit.last - piece.first + 1] = edit.text.split("\n")[:-1]
        text = "\n".join(lines)
        found = definitions(text)
        if not found:
            return piece, ()
        after = cut(original.path, text, found[0])
        after = after._replace(name=piece.name, file=piece.file, place=piece.place)
        return after, tuple(inside)


def _place(edit: Edit) -> tuple[int, int]:
    return edit.first, edit.last
