"""Compare the two halves of an init with each other: which names, under which conditions, how often."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.inits.folders import Folders
from checks.inits.model import Imported, Init, Listing
from checks.inits.origins import Origins

Lazy = dict[str, list[Listing]]
Typing = dict[str, list[Imported]]


def lazy_half(init: Init) -> Lazy:
    """Every name of `_import_structure` with all its lists."""
    half: Lazy = {}
    for listing in init.listings:
        for name in listing.names:
            half.setdefault(name, []).append(listing)
    return half


def typing_half(path: str, init: Init, folders: Folders) -> Typing:
    """Every name that is imported under TYPE_CHECKING from this repository, with all its imports."""
    half: Typing = {}
    for statement in init.imports:
        if folders.module(path, statement.module) != "":
            for name in statement.names:
                half.setdefault(name, []).append(statement)
    return half


def only_lazy(path: str, init: Init, lazy: Lazy, typing: Typing, origins: Origins) -> Iterator[tuple[str, Listing]]:
    """Names that type checkers do not see."""
    stars = [statement.module for statement in init.imports if statement.star]
    for name, places in lazy.items():
        if name not in typing and name not in init.others and not origins.starred(path, stars, name):
            yield name, places[0]


def only_typing(path: str, init: Init, lazy: Lazy, typing: Typing, folders: Folders) -> Iterator[tuple[str, Imported]]:
    """Names that type checkers see and nobody else does."""
    own = path.rpartition("/")[0]
    scanned = [folders.scanned(f"{own}/{folder}" if folder else own) for folder in init.scans]
    modules = {listing.module.split(".")[1] for listing in init.listings}
    opaque = {listing.module for listing in init.listings if listing.opaque}
    for name, places in typing.items():
        module = places[0].module
        known = name in lazy or name in init.others or (module == "." and name in modules)
        if init.opaque or known or any(name in found for found in scanned):
            continue
        # What comes from above the folder has no key here: the half uses it itself, as `is_torch_available`.
        if module.startswith(".") and module[1:2] != "." and module not in opaque:
            yield name, places[0]


def mismatches(init: Init, lazy: Lazy, typing: Typing) -> Iterator[tuple[list[str], str, str]]:
    """Names that need other backends in one half than in the other, by the conditions of both.

    Nothing for a typing half that knows no backends at all: it shows type checkers everything, on purpose.
    """
    if all(not block.backends for block in init.blocks if block.half == "typing"):
        return
    groups: dict[tuple[str, str], list[str]] = {}
    for name, places in lazy.items():
        if name in typing and _keys(init, places) != _keys(init, typing[name]):
            pair = (_conditions(init, places), _conditions(init, typing[name]))
            groups.setdefault(pair, []).append(name)
    for (needed, typed), names in groups.items():
        yield names, needed, typed


def repetitions(init: Init, half: Lazy | Typing) -> Iterator[tuple[str, Listing | Imported, Listing | Imported]]:
    """Names with a place that has an earlier one under the same condition: the name, that place, the earlier one."""
    for name, places in half.items():
        seen: dict[str, Listing | Imported] = {}
        for place in places if len(places) > 1 else ():
            key = init.blocks[place.block].key
            if key in seen:
                yield name, place, seen[key]
            seen.setdefault(key, place)


def _keys(init: Init, places: Sequence[Listing | Imported]) -> set[str]:
    return {init.blocks[place.block].key for place in places}


def _conditions(init: Init, places: Sequence[Listing | Imported]) -> str:
    return ", or else ".join(dict.fromkeys(init.blocks[place.block].condition for place in places))
