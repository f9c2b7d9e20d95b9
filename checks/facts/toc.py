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

    `pages` are paths without their suffix, relative to the table; `title` empty means that there is none. `line` is
    where the entry begins, `first` to `last` are the lines that go where it goes, the comments above it included;
    `last` is 0 where the lines are not its own to be moved.
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
    root = _compose(text)
    if isinstance(root, Oddity):
        return Toc(problem=root)
    return _Reader(text, root).toc() if root else Toc()


def _load(stored: list[Any]) -> Toc:
    entries, oddities, problem = stored
    return Toc(_entries(entries), tuple(Oddity(*oddity) for oddity in oddities), Oddity(*problem) if problem else None)


TOC: Extractor[Toc] = Extractor("toc", _extract, _load)

_STRUCTURE = ("local", "local_fw", "sections", "title")
_COMMENT = re.compile(r"( *)#")


def _entries(stored: list[Any]) -> tuple[Entry, ...]:
    return tuple(Entry(title, tuple(pages), *lines, _entries(inner)) for title, pages, *lines, inner in stored)


def _compose(text: str) -> Node | Oddity | None:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        # Nodes are all we need: building values out of them would take another third of the time.
        root: Node | None = YAML(typ="safe", pure=True).compose(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        return Oddity(mark.line + 1 if mark else 1, error.problem or "not YAML")
    except (YAMLError, ValueError) as error:
        return Oddity(1, str(error).partition("\n")[0] or "not YAML")
    except RecursionError:
        return Oddity(1, "nested too deeply")
    return root


class _Reader:
    """Makes entries of nodes. Each node is visited once, so a table that holds itself ends too."""

    def __init__(self, text: str, root: Node) -> None:
        self._lines = text.split("\n")
        self._length = len(text)
        self._root = root
        # An alias has to stay behind its anchor: where there are any, no entry is moved.
        self._movable = not _anchored(root)
        self._seen: set[int] = set()
        self._oddities: list[Oddity] = []

    def toc(self) -> Toc:
        return Toc(self._section(self._root, "the table"), tuple(self._oddities))

    def _section(self, node: Node, name: str) -> tuple[Entry, ...]:
        if node.id != "sequence" or id(node) in self._seen:
            self._odd(node, f"{name} is no list of its own")
            return ()
        self._seen.add(id(node))
        spans = self._spans(node) or [(0, 0)] * len(node.value)
        pairs = zip(node.value, spans, strict=True)
        return tuple(self._entry(child, span) for child, span in pairs if self._is_entry(child))

    def _is_entry(self, node: Node) -> bool:
        if node.id == "mapping" and id(node) not in self._seen:
            self._seen.add(id(node))
            return True
        self._odd(node, "an entry is no mapping of its own")
        return False

    def _entry(self, node: MappingNode, span: tuple[int, int]) -> Entry:
        keys = dict(self._keys(node))
        line = node.start_mark.line + 1
        pages = tuple(self._pages(keys))
        if not keys.keys() & {"local", "local_fw", "sections"}:
            self._odd(node, "an entry has neither `local` nor `sections`")
        inner = self._section(keys["sections"], "`sections`") if "sections" in keys else ()
        return Entry(_text(keys.get("title")), pages, line, *(span if span[1] else (line, 0)), inner)

    def _keys(self, node: MappingNode) -> Iterator[tuple[str, Node]]:
        known: set[str] = set()
        for key, value in node.value:
            name = str(key.value) if key.id == "scalar" else ""
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
            if text := _text(node):
                yield text
            else:
                self._odd(node, "`local` is no path")

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
        line = len(self._lines) if node.end_mark.index >= self._length else node.end_mark.line
        while line > 1 and self._is_outside(self._lines[line - 1], node.start_mark.column):
            line -= 1
        return line

    @staticmethod
    def _is_outside(line: str, column: int) -> bool:
        comment = _COMMENT.match(line)
        return not line.strip() or (comment is not None and len(comment[1]) < column)


def _text(node: Node | None) -> str:
    """The text of a scalar; empty for `key:` without a value and for what is no scalar."""
    if node is None or node.id != "scalar" or str(node.tag).endswith(":null"):
        return ""
    return str(node.value)


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
