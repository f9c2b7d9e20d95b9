"""Read a description the way GitHub shows it: its words without code, comments and quotations, and its boxes.

Source: GitHub Flavored Markdown, read by markdown-it-py, an implementation of CommonMark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from markdown_it.token import Token

LONGEST = 100_000
"""Characters of a description that are read; GitHub takes 65,536."""

_BOX = re.compile(r"\[([ xX])\]\s+(.*)", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


class Box(NamedTuple):
    """A box of a list; `line` counts from 1, `text` is one line of words without markup."""

    ticked: bool
    text: str
    line: int


def prose(body: str) -> str:
    """What a description says itself, targets of its links included: no code, no comments, no quotations."""
    return "\n".join(_words(block) for block, quoted in _blocks(body) if not quoted)


def boxes(body: str) -> tuple[Box, ...]:
    """The boxes of a description, nested ones too; none that stand in code or in a comment."""
    found = []
    for block, _ in _blocks(body):
        box = _BOX.match(block.content)
        if box and block.map and block.level >= 2:
            shown = " ".join(_COMMENT.sub("", _words(block, code=True)).split())
            found.append(Box(box[1] != " ", shown[3:].strip(), block.map[0] + 1))
    return tuple(found)


def _blocks(body: str) -> Iterator[tuple[Token, bool]]:
    """Each inline block, and whether it is quoted."""
    from markdown_it import MarkdownIt

    depth = 0
    for token in MarkdownIt("commonmark").parse(body[:LONGEST]):
        depth += {"blockquote_open": 1, "blockquote_close": -1}.get(token.type, 0)
        if token.type == "inline":
            yield token, depth > 0


def _words(block: Token, *, code: bool = False) -> str:
    """The words of a block; with `code`, those in code too and no targets of links."""
    parts = []
    for token in block.children or ():
        if token.type == "link_open" and not code:
            parts.append(f" {token.attrGet('href')} ")
        elif token.type in ("softbreak", "hardbreak"):
            parts.append("\n")
        elif token.type == "text" or (code and token.type == "code_inline"):
            parts.append(token.content)
    return "".join(parts)
