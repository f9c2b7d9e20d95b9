"""The table of contents of a documentation, `_toctree.yml`: its entries, and on which lines each stands."""

from __future__ import annotations

from typing import Any, NamedTuple

from checks.reorder import Block
from checks.store import Extractor


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


def _extract(text: str) -> Toc:
    from checks.facts.toctree import read  # a parser of YAML takes 20 ms to import, and facts are cached

    return read(text)


def _load(stored: list[Any]) -> Toc:
    entries, oddities, problem = stored
    return Toc(_entries(entries), tuple(Oddity(*oddity) for oddity in oddities), Oddity(*problem) if problem else None)


TOC: Extractor[Toc] = Extractor("toc", _extract, _load)


def _entries(stored: list[Any]) -> tuple[Entry, ...]:
    return tuple(
        Entry(title, tuple(pages), line, Block(*block), _entries(inner)) for title, pages, line, block, inner in stored
    )
