"""The two comments by which a copy leaves the rule: `# Ignore copy` in one of its blocks, and `# End copy`."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from checks.facts.python import definitions


class Block(NamedTuple):
    """A class or function right inside a body with the comments stuck above it, or what lies between two of those."""

    name: str
    lines: range


def before_end(lines: Sequence[str]) -> Sequence[str]:
    """The lines above an `# End copy` that is indented like the body."""
    first = next((line for line in lines if line.strip()), "")
    ending = f"{first[: len(first) - len(first.lstrip())]}# End copy"
    for number, line in enumerate(lines):
        if line.startswith(ending):
            return lines[:number]
    return lines


def left_out(
    copy: Sequence[str], expected: Sequence[str], names: Collection[str] = ()
) -> tuple[list[Block], list[Block]]:
    """The blocks of a copy with an `# Ignore copy` or with one of some names, and the same blocks of the original."""
    if not names and not any(_IGNORE.search(line) for line in copy):
        return [], []
    ours = [
        block
        for block in blocks(copy)
        if block.name in names or any(_IGNORE.search(copy[number]) for number in block.lines)
    ]
    found = {block.name for block in ours}
    return ours, [block for block in blocks(expected) if block.name in found]


def without_remarks(text: str) -> str:
    """An original without what its own copying left out behind code: written into a copy, it would hold there too."""
    return _REMARK.sub("", text) if "Ignore copy" in text else text


def blocks(lines: Sequence[str]) -> list[Block]:
    """All blocks of a body in order; one between two definitions is named after the first of them."""
    text = "\n".join(lines)
    found: list[Block] = []
    end, name = 0, ""
    for each in definitions(text):
        if "." in each.name:
            continue
        first = text.count("\n", 0, each.first)
        last = text.count("\n", 0, each.end)
        while first > end and lines[first - 1].lstrip().startswith("#"):
            first -= 1
        found += (Block(f"after {name}", range(end, first)), Block(each.name, range(first, last + 1)))
        end, name = last + 1, each.name
    return [*found, Block(f"after {name}", range(end, len(lines)))]


_IGNORE = re.compile(r"#[ \t]*Ignore copy\b")
_REMARK = re.compile(r"(?<=\S)[ \t]*#[ \t]*Ignore copy\b[^\n]*")
