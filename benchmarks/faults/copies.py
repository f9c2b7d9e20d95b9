"""The code of a library that is marked as a copy, and where it says it comes from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from random import Random
from typing import NamedTuple

from faults.bodies import Definition
from faults.model import DEFINITIONS, Files, Module


class Copy(NamedTuple):
    """One class or function with a marker, whose original is there and whose clause is in order.

    `start` and `end` are where the dotted path of the marker stands, `stop` is the end of the marker's line.
    """

    path: str
    module: Module
    node: Definition
    start: int
    end: int
    stop: int

    @property
    def target(self) -> str:
        """The dotted path of the original."""
        return self.module.text[self.start : self.end]

    @property
    def clause(self) -> str:
        """What follows the dotted path, without the spaces around it."""
        return self.module.text[self.end : self.stop].strip()

    @property
    def line(self) -> int:
        """Where the line of the marker begins."""
        return self.module.line(self.node.lineno - 1)

    @property
    def place(self) -> str:
        """Where it is, for people."""
        return f"{self.path}:{self.node.lineno} {self.node.name}"

    @property
    def indent(self) -> str:
        """The white space before the marker."""
        return self.module.text[self.line : self.start].partition("#")[0]

    def marked(self, comment: str) -> str:
        """The text of the file with another comment in the place of the marker."""
        return self.module.but(self.line, self.stop, f"{self.indent}{comment}")


class Origin(NamedTuple):
    """A class or function that others are copies of."""

    path: str
    module: Module
    node: Definition

    @property
    def place(self) -> str:
        """Where it is, for people."""
        return f"{self.path}:{self.node.lineno} {self.node.name}"


def copies(files: Files, random: Random) -> Iterator[Copy]:
    """Copies in random order."""
    markers = _markers(files)
    for marker in random.sample(markers, len(markers)):
        copy = _copy(files, marker)
        if copy is not None and _CLAUSE.fullmatch(copy.clause) and origin(files, copy.target) is not None:
            yield copy


def verbatim_copies(files: Files, target: str) -> Iterator[Copy]:
    """The copies of one thing whose markers have no clause, in the order of the files."""
    for marker in _markers(files):
        copy = _copy(files, marker) if marker.target == target and marker.bare else None
        if copy is not None:
            yield copy


def origin(files: Files, target: str) -> Origin | None:
    """What a dotted path names, None where it names nothing or several things."""
    package, *parts = target.split(".")
    folder = files.library
    if package != folder.rpartition("/")[2]:
        return None
    for count in range(1, len(parts)):
        path = f"{folder}/{'/'.join(parts[:count])}.py"
        if path in files:
            node = files.module(path).find(parts[count:])
            return None if node is None else Origin(path, files.module(path), node)
    return None


def dotted(files: Files, copy: Copy) -> str | None:
    """The dotted path of a copy itself, None for one that no dotted path can name."""
    names = next((names for names, node in _named(copy.module) if node is copy.node), ())
    if copy.module.find(names) is not copy.node:
        return None
    package = copy.path.removeprefix(files.library.rpartition("/")[0] + "/").removesuffix(".py").replace("/", ".")
    return ".".join((package, *names))


_MARKER = re.compile(r"^[ \t]*# Copied from (?P<target>\w+(?:\.\w+)+)(?P<clause>(?: .*)?)$", re.MULTILINE)
_CLAUSE = re.compile(r"(?:with \w+->\w+(?:, ?\w+->\w+)*)?")


class _Marker(NamedTuple):
    path: str
    target: str
    bare: bool
    start: int
    end: int
    stop: int


@lru_cache(maxsize=1)
def _markers(files: Files) -> tuple[_Marker, ...]:
    return tuple(
        _Marker(path, found["target"], not found["clause"].strip(), *found.span("target"), found.end())
        for path in files.below(files.library, ".py")
        for found in _MARKER.finditer(files.text(path))
    )


def _copy(files: Files, marker: _Marker) -> Copy | None:
    """None for a marker that stands above nothing."""
    module = files.module(marker.path)
    node = module.definitions.get(module.text.count("\n", 0, marker.stop) + 2)
    return None if node is None else Copy(marker.path, module, node, marker.start, marker.end, marker.stop)


def _named(module: Module) -> Iterator[tuple[tuple[str, ...], Definition]]:
    waiting: list[tuple[tuple[str, ...], Definition]] = [
        ((node.name,), node) for node in module.tree.body if isinstance(node, DEFINITIONS)
    ]
    while waiting:
        names, node = waiting.pop()
        yield names, node
        waiting += [((*names, each.name), each) for each in node.body if isinstance(each, DEFINITIONS)]
