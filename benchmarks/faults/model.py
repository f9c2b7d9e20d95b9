"""A fault to plant, and the real tree it is made from.

Nothing here uses the code of `checks`: a mistake there must not decide what is planted.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from random import Random
from typing import NamedTuple


class Fault(NamedTuple):
    """Texts to write over a tree, None to delete a file, and the files in which a finding must appear then.

    Texts have LF ends. `place` says to a person where the fault is.
    """

    place: str
    writes: Mapping[str, str | None]
    paths: frozenset[str]


class Kind(NamedTuple):
    """One way to go wrong, the code that it must be reported with, and where it can be planted in a tree.

    `plant` yields faults lazily, at places in random order, none where the tree has nothing of the sort.
    """

    name: str
    code: str
    plant: Callable[[Files, Random], Iterator[Fault]]


class Module:
    """A Python file: its text, its syntax tree, and where nodes stand in the text, in characters."""

    def __init__(self, text: str) -> None:
        self.text = text
        with warnings.catch_warnings(action="ignore"):
            self.tree = ast.parse(text)

    def start(self, node: ast.expr | ast.stmt | ast.alias | ast.arg) -> int:
        """Where a node begins; of a definition with decorators, its `class` or `def`."""
        return self._offset(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt | ast.alias | ast.arg) -> int:
        """Where a node ends."""
        return self._offset(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def line(self, number: int) -> int:
        """Where a line begins; lines count from 1, and the one after the last is the end."""
        return self._starts[number - 1]

    def but(self, start: int, end: int, text: str) -> str:
        """The text of the file with another piece in the place of one."""
        return self.text[:start] + text + self.text[end:]

    def without_lines(self, node: ast.stmt) -> str:
        """The text without the lines of a statement."""
        return self.but(self.line(node.lineno), self.line((node.end_lineno or node.lineno) + 1), "")

    def nodes(self) -> Iterator[ast.AST]:
        """Every node of the tree."""
        return ast.walk(self.tree)

    def find(self, names: Iterable[str]) -> ast.ClassDef | ast.FunctionDef | None:
        """The class or function of a qualified name, the only one of that name in its scope."""
        found: ast.Module | ast.ClassDef | ast.FunctionDef = self.tree
        for name in names:
            inside = [each for each in found.body if isinstance(each, DEFINITIONS) and each.name == name]
            if len(inside) != 1:
                return None
            found = inside[0]
        return None if isinstance(found, ast.Module) else found

    @cached_property
    def definitions(self) -> dict[int, ast.ClassDef | ast.FunctionDef]:
        """Every class and function by the line of its `class` or `def`."""
        return {node.lineno: node for node in self.nodes() if isinstance(node, DEFINITIONS)}

    @cached_property
    def _starts(self) -> list[int]:
        starts = [0]
        for line in self.text.split("\n"):
            starts.append(starts[-1] + len(line) + 1)
        return starts

    def _offset(self, line: int, column: int) -> int:
        """The parser counts columns in bytes of UTF-8."""
        start = self._starts[line - 1]
        piece = self.text[start : self._starts[line] - 1]
        return start + (column if piece.isascii() else len(piece.encode()[:column].decode()))


DEFINITIONS = (ast.ClassDef, ast.FunctionDef)


def text_of(string: ast.Constant) -> str:
    """What a string of a source says."""
    assert isinstance(string.value, str)
    return string.value


class Files:
    """The files of a tree, without any fault; `paths` are relative to its root, `library` is the main package."""

    def __init__(self, root: Path, paths: Iterable[str], library: str) -> None:
        self.root = root
        self.paths = tuple(sorted(paths))
        self.library = library
        self._known = frozenset(self.paths)
        self.module = cache(self._module)

    def __contains__(self, path: str) -> bool:
        return path in self._known

    def text(self, path: str) -> str:
        """The text of a file, with LF ends."""
        return (self.root / path).read_text(encoding="utf-8")

    def below(self, folder: str, suffix: str) -> list[str]:
        """The paths below a folder that end in a suffix."""
        return [path for path in self.paths if path.startswith(f"{folder}/") and path.endswith(suffix)]

    def _module(self, path: str) -> Module:
        return Module(self.text(path))


def choose(faults: Iterable[Fault], count: int) -> list[Fault]:
    """The first faults that each lie in other files; where there are too few such files, further faults in the same."""
    chosen: list[Fault] = []
    others: list[Fault] = []
    seen: set[str] = set()
    for fault in islice(faults, 50 * count):
        (chosen if seen.isdisjoint(fault.writes) else others).append(fault)
        seen.update(fault.writes)
        if len(chosen) == count:
            break
    return (chosen + others)[:count]
