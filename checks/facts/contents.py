"""What a table of contents holds: entries, and what does not belong there."""

from __future__ import annotations

from typing import NamedTuple

from checks.reorder import Block


class Entry(NamedTuple):
    """A page, a section, or both.

    `pages` are paths without their suffix, relative to the table; `title` empty means that there is none. `line` is
    where the entry begins, `block` the lines that go where it goes, the comments above it included.
    """

    title: str
    pages: tuple[str, ...]
    line: int
    block: Block
    entries: tuple[Entry, ...]


class Oddity(NamedTuple):
    """Something that does not belong in a table of contents, and where."""

    line: int
    what: str


class Toc(NamedTuple):
    """A table of contents; `problem` says why there is none to be had, with the parser's wording."""

    entries: tuple[Entry, ...] = ()
    oddities: tuple[Oddity, ...] = ()
    problem: Oddity | None = None
