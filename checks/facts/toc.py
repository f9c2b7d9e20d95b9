"""The table of contents of a documentation, `_toctree.yml`: its entries, and on which lines each stands."""

from __future__ import annotations

from typing import Any

from checks.extractor import Extractor
from checks.facts.contents import Entry, Oddity, Toc
from checks.reorder import Block


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
