"""Read a table of contents out of the nodes of a YAML document, with the lines of every entry."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from checks.facts.contents import Entry, Oddity, Toc
from checks.reorder import Block


def read(text: str) -> Toc:
    """The table that a text holds, empty for an empty text; whatever is wrong with it is part of the answer."""
    root = _compose(text)
    if isinstance(root, Oddity):
        return Toc(problem=root)
    return _Reader(text, root).toc() if root else Toc()


_STRUCTURE = ("local", "local_fw", "sections", "title")
_LARGEST = 4_000_000  # ten seconds for the parser, and a hundred times the largest table that we know
_COMMENT = re.compile(r"( *)#")


def _compose(text: str) -> Node | Oddity | None:
    if len(text) > _LARGEST:
        return Oddity(1, f"longer than {_LARGEST} characters")
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
        if not isinstance(node, SequenceNode) or id(node) in self._seen:
            self._odd(node, f"{name} is no list of its own")
            return ()
        self._seen.add(id(node))
        entries = []
        for child, block in zip(node.value, self._blocks(node), strict=True):
            if isinstance(child, MappingNode) and id(child) not in self._seen:
                self._seen.add(id(child))
                entries.append(self._entry(child, block))
            else:
                self._odd(child, "an entry is no mapping of its own")
        return tuple(entries)

    def _entry(self, node: MappingNode, block: Block) -> Entry:
        keys = dict(self._keys(node))
        named = list(_pages(keys))
        pages = tuple(filter(None, map(_text, named)))
        if len(pages) < len(named):
            self._odd(node, "`local` is no path")
        if not keys.keys() & {"local", "local_fw", "sections"}:
            self._odd(node, "an entry has neither `local` nor `sections`")
        inner = self._section(keys["sections"], "`sections`") if "sections" in keys else ()
        return Entry(_text(keys.get("title")), pages, node.start_mark.line + 1, block, inner)

    def _keys(self, node: MappingNode) -> Iterator[tuple[str, Node]]:
        known: set[str] = set()
        for key, value in node.value:
            name = str(key.value) if isinstance(key, ScalarNode) else ""
            if name in known:
                self._odd(key, f"an entry has {name!r} twice")
            elif name in _STRUCTURE:
                yield name, value
            known.add(name)

    def _odd(self, node: Node, what: str) -> None:
        self._oddities.append(Oddity(node.start_mark.line + 1, what))

    def _blocks(self, node: SequenceNode) -> list[Block]:
        """The lines of each item with the comments above it, all 0 where they cannot be told."""
        column = node.start_mark.column
        dashes = [self._dash(child.start_mark.line, column) for child in node.value]
        if node.flow_style or not self._movable or 0 in dashes or len(set(dashes)) < len(dashes):
            return [Block(0, 0)] * len(dashes)
        firsts = [*dashes[:1], *(self._above(dash, column) for dash in dashes[1:])]
        lasts = [*(first - 1 for first in firsts[1:]), self._end(node)]
        return list(map(Block, firsts, lasts))

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


def _pages(keys: dict[str, Node]) -> Iterator[Node]:
    """The page of an entry, or its page for each framework."""
    if page := keys.get("local"):
        yield page
    frameworks = keys.get("local_fw")
    if isinstance(frameworks, MappingNode):
        yield from (value for _, value in frameworks.value)
    elif frameworks:
        yield frameworks


def _text(node: Node | None) -> str:
    """The text of a scalar; empty for `key:` without a value and for what is no scalar."""
    if not isinstance(node, ScalarNode) or str(node.tag).endswith(":null"):
        return ""
    return str(node.value)


def _anchored(root: Node) -> bool:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.anchor:
            return True
        if isinstance(node, SequenceNode):
            waiting += node.value
        elif isinstance(node, MappingNode):
            waiting += (part for pair in node.value for part in pair)
    return False
