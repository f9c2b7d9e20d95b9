"""The table of contents of a documentation, `_toctree.yml`: its entries, and on which lines each stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from checks.store import Extractor

if TYPE_CHECKING:
    from ruamel.yaml.nodes import MappingNode, Node, SequenceNode


class Entry(NamedTuple):
    """A page, a section, or both.

    `pages` are paths without their suffix, relative to the table; `title` empty means that there is none. `first` and
    `last` are the lines that go where the entry goes, the comments above it included; `last` is 0 where the lines are
    not its own to be moved. `line` is where it begins.
    """

    title: str
    pages: tuple[str, ...]
    line: int
    first: int
    last: int
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
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        # Nodes are all we need: building values out of them would take another third of the time.
        root = YAML(typ="safe", pure=True).compose(text)
        return _Reader(text).read(root)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        return Toc(problem=Oddity(mark.line + 1 if mark else 1, error.problem or "not YAML"))
    except (YAMLError, ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        # Beside its own errors the scanner lets some of Python's escape where the text is damaged.
        return Toc(problem=Oddity(1, str(error).partition("\n")[0] or "not YAML"))
    except RecursionError:
        return Toc(problem=Oddity(1, "nested too deeply"))


def _load(stored: list[Any]) -> Toc:
    entries, oddities, problem = stored
    return Toc(_entries(entries), tuple(Oddity(*oddity) for oddity in oddities), Oddity(*problem) if problem else None)


TOC: Extractor[Toc] = Extractor("toc", _extract, _load)

_STRUCTURE = ("local", "local_fw", "sections", "title")
_COMMENT = re.compile(r"( *)#")


def _entries(stored: list[Any]) -> tuple[Entry, ...]:
    return tuple(Entry(title, tuple(pages), *lines, _entries(inner)) for title, pages, *lines, inner in stored)


class _Reader:
    """Makes entries of nodes; each node is visited once, so an alias of itself ends."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._length = len(text)
        self._seen: set[int] = set()
        self._oddities: list[Oddity] = []

    def read(self, root: Node | None) -> Toc:
        if root is None:
            return Toc()
        if root.id != "sequence":
            return Toc(problem=Oddity(root.start_mark.line + 1, "the top level is no list of sections"))
        entries = self._section(root)
        return Toc(entries, tuple(self._oddities))

    def _section(self, node: SequenceNode) -> tuple[Entry, ...]:
        spans = self._spans(node) or [(0, 0)] * len(node.value)
        return tuple(
            self._entry(child, span) for child, span in zip(node.value, spans, strict=True) if self._is_entry(child)
        )

    def _is_entry(self, node: Node) -> bool:
        if id(node) in self._seen:
            return self._odd(node, "is an alias of another entry")
        self._seen.add(id(node))
        return node.id == "mapping" or self._odd(node, "is no entry with a title")

    def _entry(self, node: MappingNode, span: tuple[int, int]) -> Entry:
        keys = dict(self._keys(node))
        line = node.start_mark.line + 1
        pages = tuple(self._pages(keys))
        if not keys.keys() & {"local", "local_fw", "sections"}:
            self._odd(node, "an entry has neither `local` nor `sections`")
        inner = self._section(keys["sections"], "`sections`") if "sections" in keys else ()
        return Entry(self._text(keys.get("title")), pages, line, *(span if span[1] else (line, 0)), inner)

    def _keys(self, node: MappingNode) -> Iterator[tuple[str, Node]]:
        known: set[str] = set()
        for key, value in node.value:
            name = key.value if key.id == "scalar" else ""
            if name in known:
                self._odd(key, f"an entry has {name!r} twice")
            elif name in _STRUCTURE:
                yield name, value
            known.add(name)

    def _pages(self, keys: dict[str, Node]) -> Iterator[str]:
        """The page of an entry, or its page for each framework."""
        page, frameworks = keys.get("local"), keys.get("local_fw")
        named = [page] if page is not None else []
        if frameworks is not None:
            named += [value for _, value in frameworks.value] if frameworks.id == "mapping" else [frameworks]
        for node in named:
            if text := self._text(node):
                yield text
            else:
                self._odd(node, "`local` is no path")

    def _text(self, node: Node | None) -> str:
        """The text of a scalar; empty for `key:` without a value and for what is no scalar."""
        if node is None or node.id != "scalar" or node.tag.endswith(":null"):
            return ""
        return str(node.value)

    def _odd(self, node: Node, what: str) -> None:
        self._oddities.append(Oddity(node.start_mark.line + 1, what))

    def _spans(self, node: SequenceNode) -> list[tuple[int, int]] | None:
        """The lines of each item of a block sequence with the comments above it; None where they cannot be told."""
        if node.flow_style or not node.value or not self._movable:
            return None
        column = node.start_mark.column
        dashes = [self._dash(child.start_mark.line, column) for child in node.value]
        if 0 in dashes or len(set(dashes)) < len(dashes):
            return None
        firsts = [dashes[0], *(self._above(dash, column) for dash in dashes[1:])]
        lasts = [*(first - 1 for first in firsts[1:]), self._end(node)]
        return list(zip(firsts, lasts, strict=True))

    def _dash(self, row: int, column: int) -> int:
        """The line whose dash begins the item that has its first key on `row` (from 0); 0 where there is none."""
        lead = " " * column + "-"
        while row >= 0 and not self._lines[row].startswith(lead):
            row -= 1
        return row + 1

    def _above(self, line: int, column: int) -> int:
        while line > 1 and (comment := _COMMENT.match(self._lines[line - 2])) and len(comment[1]) <= column:
            line -= 1
        return line

    def _end(self, node: SequenceNode) -> int:
        """The last line of a block sequence: blank lines and the comments of what follows are not part of it."""
        ends_text = node.end_mark.index >= self._length
        line = len(self._lines) if ends_text else node.end_mark.line
        while not self._lines[line - 1].strip() or (
            (comment := _COMMENT.match(self._lines[line - 1])) and len(comment[1]) < node.start_mark.column
        ):
            line -= 1
        return line


def _anchored(root: Node) -> bool:
    waiting: list[Node] = [root]
    while waiting:
        node = waiting.pop()
        if node.anchor:
            return True
        if node.id == "sequence":
            waiting += node.value
        elif node.id == "mapping":
            waiting += (part for pair in node.value for part in pair)
    return False
