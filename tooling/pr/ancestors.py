"""Whether a method is documented where its class takes it from: in the same file, or elsewhere in the library.

Imports are followed by their text, at the head of the branch; nothing is imported. What comes from another library
can't be followed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from tooling.pr.pull import PullRequest
from tooling.pr.symbols import Symbol

DEPTH = 4
"""Classes between a method and the docstring that it inherits."""


# By its text, because a parser takes ten times as long and is asked only for this.
_FROM = re.compile(r"^from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)", re.MULTILINE)


class Place(NamedTuple):
    """A file at the head: its path and its blob, as an id or as `commit:path`."""

    path: str
    key: str


def inherits_docstring(pull: PullRequest, path: str, key: str, symbol: Symbol) -> bool:
    """Whether a class above the one that `symbol` stands in documents a member of the same name."""
    if symbol.inside is None or not symbol.inside.is_class:
        return False
    above = _above(pull, Place(path, key), symbol.inside, DEPTH)
    return any(
        other.documented
        for place, parent in above
        for other in pull.sources.symbols(place.key)
        if other.inside == parent and other.short == symbol.short
    )


def _above(pull: PullRequest, place: Place, child: Symbol, depth: int) -> Iterator[tuple[Place, Symbol]]:
    """The classes that a class derives from, as far as they are in the library."""
    if not depth:
        return
    for base in _bases(child):
        here = place if _class_in(pull, place, base) else _imported(pull, place, base)
        parent = _class_in(pull, here, base) if here else None
        if here and parent and parent != child:
            yield here, parent
            yield from _above(pull, here, parent, depth - 1)


def _bases(child: Symbol) -> list[str]:
    """The names of base classes, without what stands in front of a dot and in brackets after them."""
    header = child.own.partition("class ")[2].partition(":")[0]
    inside = header.partition("(")[2].rpartition(")")[0]
    return [found[1] for part in inside.split(",") if (found := re.match(r"\s*(?:\w+\.)*(\w+)", part))]


def _class_in(pull: PullRequest, place: Place, name: str) -> Symbol | None:
    return next((each for each in pull.sources.symbols(place.key) if each.is_class and each.name == name), None)


def _imported(pull: PullRequest, place: Place, name: str) -> Place | None:
    """The file of the library that a name is imported from."""
    for found in _FROM.finditer(pull.sources.text(place.key) or ""):
        if name not in re.findall(r"\w+", found[3]):
            continue
        stem = _stem(pull, place.path, found[2], len(found[1]))
        for path in (f"{stem}.py", f"{stem}/__init__.py"):
            if stem and pull.sources.text(f"{pull.changed.head}:{path}") is not None:
                return Place(path, f"{pull.changed.head}:{path}")
    return None


def _stem(pull: PullRequest, path: str, module: str, level: int) -> str:
    """The path of a module without its suffix, empty where it is none of the library."""
    parts = module.split(".") if module else []
    if level:
        folders = path.split("/")[:-level]
        return "/".join((*folders, *parts)) if folders else ""
    folder = pull.settings.profile.packages.get(parts[0], "") if parts else ""
    return "/".join((folder, *parts[1:])) if folder else ""
