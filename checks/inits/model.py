"""What an init exports lazily, name by name: both halves, the blocks they stand in, and where each thing is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Spot(NamedTuple):
    """A piece of source: lines count from 1, columns are characters from 0, `end` is exclusive."""

    line: int
    start: int
    last: int
    end: int


class Block(NamedTuple):
    """A stretch of an init that runs under one condition.

    `half` is `lazy` or `typing`. `condition` is its text in source order, for messages; equal `key`s mean equal
    conditions. `backends` are the backends it asks for. `fallback` names the modules, dots included, that are imported
    instead where the condition does not hold; a name that is no module may be among them.
    """

    half: str
    condition: str
    key: str
    backends: Sequence[str]
    fallback: Sequence[str]


class Item(NamedTuple):
    """One exported name and where its string, or its part of an import, is written."""

    name: str
    spot: Spot


class Listing(NamedTuple):
    """One list of names under one key of `_import_structure`; `module` is the key with a dot in front.

    `how` is `item` (of a dict), `set` (`[key] = …`) or `add` (append, extend, `+=`). Listings of one `run` stand in
    one dict, or follow each other as statements. `opaque` says that not every name could be read.
    """

    module: str
    block: int
    how: str
    run: int
    opaque: bool
    names: Sequence[str]
    spots: Sequence[int]

    @property
    def entry(self) -> Spot:
        """The dict item or the statement."""
        return _spot(self.spots, 0)

    @property
    def value(self) -> Spot:
        """The list of names, with its brackets where it has any."""
        return _spot(self.spots, 1)

    @property
    def items(self) -> list[Item]:
        """The names with their places."""
        return [Item(name, _spot(self.spots, position + 2)) for position, name in enumerate(self.names)]


class Imported(NamedTuple):
    """One `from … import …` of the typing half; `module` starts with its dots, `star` is for `import *`.

    `originals` are the names in that module of those that the import renames, or repeats as in `A as A`.
    """

    module: str
    block: int
    star: bool
    names: Sequence[str]
    originals: Mapping[str, str]
    spots: Sequence[int]

    @property
    def entry(self) -> Spot:
        """The statement."""
        return _spot(self.spots, 0)

    @property
    def items(self) -> list[Item]:
        """The names with their places."""
        return [Item(name, _spot(self.spots, position + 1)) for position, name in enumerate(self.names)]


class Init(NamedTuple):
    """What one init exports. `problem` is the line and the message of a syntax error.

    `structured` says that it fills `_import_structure`, and `opaque` that it does so in ways that cannot be read;
    `guard` is the line and the column of the first statement under TYPE_CHECKING, nothing where there is no such
    half. `scans` are folders below its own, empty for that itself, from whose modules `define_import_structure`
    collects what they export. `others` are names that the module gets by other means than a lazy import.

    `consistent` says that both halves export the same names once each, from the same modules under the same
    conditions, and `orderly` that all lists of names and rows of keys are sorted: most inits need no second look.
    """

    problem: tuple[int, str] | None = None
    structured: bool = False
    opaque: bool = False
    guard: Sequence[int] = ()
    scans: Sequence[str] = ()
    others: Sequence[str] = ()
    blocks: Sequence[Block] = ()
    listings: Sequence[Listing] = ()
    imports: Sequence[Imported] = ()
    consistent: bool = True
    orderly: bool = True

    @property
    def lazy(self) -> bool:
        """Whether what it exports is imported on first use."""
        return self.structured or bool(self.scans)


def _spot(spots: Sequence[int], position: int) -> Spot:
    line, start, last, end = spots[4 * position : 4 * position + 4]
    return Spot(line, start, last, end)
