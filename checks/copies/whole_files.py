"""Files that are copies of other files, to the letter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher, unified_diff

from checks.index import Index
from checks.model import Edit, Finding


def compare_files(index: Index, copies: Mapping[str, str]) -> Iterator[Finding]:
    """Hold each file of a table against the one that it is a copy of."""
    for path, original in copies.items():
        if not index.exists(original):
            message = f"the original of this file, {original}, does not exist"
            yield Finding(path, 1, "copied-code/target", message, "the table `whole-files` of the settings names it")
        elif not index.exists(path):
            edits = (Edit(path, 1, 0, index.text(original)),)
            yield Finding(path, 1, "copied-code/body", f"this copy of {original} is missing", edits=edits)
        elif (ours := _lines(index.text(path))) != (theirs := _lines(index.text(original))):
            yield _difference(path, original, ours, theirs)


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n")


def _difference(path: str, original: str, ours: Sequence[str], theirs: Sequence[str]) -> Finding:
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    changes = [change for change in matcher.get_opcodes() if change[0] != "equal"]
    _, first, _, there, _ = changes[0]
    diff = list(unified_diff(ours, theirs, path, original, lineterm=""))
    return Finding(
        path=path,
        line=min(first + 1, len(ours)),
        code="copied-code/body",
        message=f"the file differs from {original}",
        reason=f"they part at {original}:{there + 1}",
        edits=tuple(
            Edit(path, start + 1, end, "".join(f"{line}\n" for line in theirs[low:high]))
            for _, start, end, low, high in changes
        ),
        accepted="\n".join(line for line in diff if not line.startswith("@@")),
        source=(original, there + 1),
        detail="\n".join(diff),
    )
