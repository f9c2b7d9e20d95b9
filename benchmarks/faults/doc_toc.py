"""Faults in tables of contents: entries out of order, twice, without a title, and pages without an entry."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from random import Random
from typing import NamedTuple

from faults.model import Fault, Files, Kind


class _Entry(NamedTuple):
    """One page of a table, written as two lines; `start` to `end` are those lines."""

    path: str
    text: str
    page: str
    title: str
    indent: str
    start: int
    end: int

    @property
    def source(self) -> str:
        """The lines of the entry."""
        return self.text[self.start : self.end]

    def but(self, text: str) -> str:
        """The table with other lines in the place of the entry."""
        return self.text[: self.start] + text + self.text[self.end :]

    @property
    def file(self) -> str:
        """The path of the page, without its suffix."""
        return f"{self.path.rpartition('/')[0]}/{self.page}"


_Change = Callable[[_Entry], str]


def kinds() -> Iterator[Kind]:
    """Every kind of fault in tables of contents."""
    yield Kind("two entries swapped", "doc-toc/order", _swapped)
    yield Kind("a title changed", "doc-toc/order", _retitled)
    yield _kind("an entry twice", "duplicate", lambda entry: entry.but(entry.source * 2))
    yield _kind("a page twice under two titles", "duplicate", _two_titles)
    yield Kind("a page in two sections", "doc-toc/repeated", _two_sections)
    yield _kind(
        "a page misspelt", "missing", lambda entry: entry.but(entry.source.replace(entry.page, f"{entry.page}s"))
    )
    yield Kind("a page deleted", "doc-toc/missing", partial(_page_gone, False))
    yield Kind("a page moved", "doc-toc/missing", partial(_page_gone, True))
    yield Kind("an entry deleted", "doc-toc/unlisted", _entry_gone)
    yield Kind("a page added", "doc-toc/unlisted", _page_added)
    yield _kind("a title deleted", "title", lambda entry: entry.but(entry.source.partition("\n")[0] + "\n"))
    yield _kind("an empty title", "title", lambda entry: entry.but(re.sub("title: .+", "title: ''", entry.source)))
    yield _kind("a key misspelt", "entry", lambda entry: entry.but(entry.source.replace("local:", "page:")))
    yield _kind("a key twice", "entry", _key_twice)
    yield _kind("a quote lost", "unparsable", lambda entry: entry.but(entry.source.replace("title: ", 'title: "', 1)))
    yield _kind(
        "a line too far left", "unparsable", lambda entry: entry.but(entry.source.replace(f"{entry.indent}  ", "", 1))
    )


_SORTED = ("api/models/", "api/pipelines/", "api/schedulers/")
_ENTRY = re.compile(r"^(?P<indent> *)- local: (?P<page>\S+)\n(?P=indent)  title: (?P<title>.+)\n", re.MULTILINE)


def _kind(name: str, code: str, change: _Change) -> Kind:
    return Kind(name, f"doc-toc/{code}", partial(_plant, change))


def _plant(change: _Change, files: Files, random: Random) -> Iterator[Fault]:
    for entry in _entries(files, random):
        yield Fault(_place(entry), {entry.path: change(entry)}, frozenset({entry.path}))


def _place(entry: _Entry) -> str:
    return f"{entry.path}:{entry.text.count(chr(10), 0, entry.start) + 1} {entry.page}"


def _entries(files: Files, random: Random) -> Iterator[_Entry]:
    """Entries that name a page, in random order, those of the library's own language first."""
    tables = [path for path in files.paths if path.endswith("_toctree.yml")]
    for path in sorted(tables, key=lambda path: "/en/" not in path):
        entries = _read(files, path)
        yield from random.sample(entries, len(entries))


def _read(files: Files, path: str) -> list[_Entry]:
    text = files.text(path)
    found = (
        _Entry(path, text, match["page"], match["title"], match["indent"], *match.span())
        for match in _ENTRY.finditer(text)
    )
    return [entry for entry in found if f"{entry.file}.md" in files]


def _sorted_pairs(files: Files) -> list[tuple[_Entry, _Entry]]:
    """Neighbours in the sections that are sorted."""
    (table,) = (path for path in files.paths if path.endswith("/en/_toctree.yml"))
    return [
        (one, other)
        for one, other in pairwise(_read(files, table))
        if one.end == other.start and one.indent == other.indent and one.title.lower() < other.title.lower()
        if one.page.startswith(_SORTED) and other.page.startswith(_SORTED)
        if not {one.title.lower(), other.title.lower()} & {"overview", "autopipeline"}
    ]


def _swapped(files: Files, random: Random) -> Iterator[Fault]:
    pairs = _sorted_pairs(files)
    for one, other in random.sample(pairs, len(pairs)):
        text = one.text[: one.start] + other.source + one.source + one.text[other.end :]
        yield Fault(_place(one), {one.path: text}, frozenset({one.path}))


def _retitled(files: Files, random: Random) -> Iterator[Fault]:
    """A title that belongs further down now."""
    pairs = _sorted_pairs(files)
    for one, _ in random.sample(pairs, len(pairs)):
        text = one.but(one.source.replace("title: ", "title: ZZ ", 1))
        yield Fault(_place(one), {one.path: text}, frozenset({one.path}))


def _two_titles(entry: _Entry) -> str:
    return entry.but(entry.source + entry.source.replace("title: ", "title: More on ", 1))


def _two_sections(files: Files, random: Random) -> Iterator[Fault]:
    for entry in _entries(files, random):
        first = _read(files, entry.path)[0]
        if "/en/" in entry.path and len(entry.indent) > len(first.indent):
            copied = f"{first.indent}- local: {entry.page}\n{first.indent}  title: {entry.title}\n"
            text = entry.text[: first.start] + copied + entry.text[first.start :]
            yield Fault(_place(entry), {entry.path: text}, frozenset({entry.path}))


def _page_gone(moved: bool, files: Files, random: Random) -> Iterator[Fault]:
    for entry in _entries(files, random):
        page = f"{entry.file}.md"
        writes: dict[str, str | None] = {page: None}
        if moved:
            writes[f"{entry.file}_moved.md"] = files.text(page)
        yield Fault(page, writes, frozenset({entry.path}))


def _entry_gone(files: Files, random: Random) -> Iterator[Fault]:
    for entry in _entries(files, random):
        if "/en/" in entry.path and entry.text.count(f"local: {entry.page}\n") == 1:
            yield Fault(_place(entry), {entry.path: entry.but("")}, frozenset({f"{entry.file}.md"}))


def _page_added(files: Files, random: Random) -> Iterator[Fault]:
    for entry in _entries(files, random):
        page = f"{entry.file}_and_more.md"
        if "/en/" in entry.path and page not in files:
            yield Fault(page, {page: "# More\n"}, frozenset({page}))


def _key_twice(entry: _Entry) -> str:
    return entry.but(f"{entry.source}{entry.indent}  title: {entry.title}\n")
