"""Put into one half of an init what only the other half has: in the block of the same backends, at the right place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from checks.inits.lists import WIDTH, alone, insert
from checks.inits.model import Imported, Init, Listing, Spot
from checks.inits.order import rank
from checks.model import Edit

Place = tuple[str, int, str]
"""What statements of a block are sorted by: the module, and the rank of the name where each has one of its own."""

_ALWAYS = "all()"
_INDENT = 4


def add_imports(path: str, lines: Sequence[str], init: Init, wanted: Sequence[tuple[str, Listing]]) -> tuple[Edit, ...]:
    """The edits that import names of `_import_structure` under TYPE_CHECKING; `wanted` are those of one block.

    None where the typing half has no block for these backends with an import to stand beside.
    """
    key = init.blocks[wanted[0][1].block].key
    if all(init.blocks[statement.block].key == _ALWAYS for statement in init.imports):
        key = _ALWAYS  # a typing half that knows no backends at all
    beside = [
        statement
        for statement in init.imports
        if init.blocks[statement.block].key == key and alone(statement.entry, lines)
    ]
    near = [statement for statement in beside if not statement.module.startswith("..")]
    if any(statement.originals.get(name) == name for statement in near for name in statement.names):
        texts: dict[Place, str] = {
            (one.module, *rank(name)): _import(one.module, [f"{name} as {name}"]) for name, one in wanted
        }
        return tuple(
            _statements(path, [((one.module, *rank("".join(one.names[:1]))), one.entry) for one in near], texts)
        )
    edits: list[Edit] = []
    fresh: dict[Place, str] = {}
    for module, names in _by_module(wanted).items():
        own = [statement for statement in beside if statement.module == module and not statement.star]
        if own:
            edits.extend(insert(path, lines, own[-1].items, names, own[-1].entry))
        else:
            fresh[_place(module)] = _import(module, names)
    if near:
        return (*edits, *_statements(path, [(_place(one.module), one.entry) for one in near], fresh))
    opening = _opening(path, lines, init, fresh) if fresh and key == _ALWAYS else ()
    return (*edits, *opening) if opening or not fresh else ()


def add_listings(
    path: str, lines: Sequence[str], init: Init, wanted: Sequence[tuple[str, Imported]]
) -> tuple[Edit, ...]:
    """The edits that list names under `_import_structure`; `wanted` are those of one block of the typing half.

    None where the lazy half has no block for these backends with a list to stand beside, and where another block
    fills the same key: whether ours would find it there would depend on what is installed.
    """
    key = init.blocks[wanted[0][1].block].key
    blocks = [listing.block for listing in init.listings if init.blocks[listing.block].key == key]
    beside = [listing for listing in init.listings if listing.block in blocks[-1:] and alone(listing.entry, lines)]
    edits: list[Edit] = []
    fresh: dict[Place, str] = {}
    for module, names in _by_module(wanted).items():
        own = [listing for listing in init.listings if listing.module == module]
        here = [listing for listing in own if init.blocks[listing.block].key == key and _bracketed(listing, lines)]
        text = "[" + ", ".join(f'"{name}"' for name in names) + "]"
        if here:
            edits.extend(insert(path, lines, here[-1].items, names, here[-1].value))
        elif not beside or any(init.blocks[listing.block].key != _ALWAYS for listing in own):
            return ()
        elif beside[-1].how == "item":
            last = beside[-1].entry
            if not lines[last.last - 1].startswith(",", last.end):
                return ()
            fresh[_place(module)] = f'"{module[1:]}": {text},\n'
        else:
            fresh[_place(module)] = f'_import_structure["{module[1:]}"]' + (
                f".extend({text})\n" if own else f" = {text}\n"
            )
    return (*edits, *_statements(path, [(_place(listing.module), listing.entry) for listing in beside], fresh))


def add_star(path: str, lines: Sequence[str], init: Init, module: str) -> tuple[Edit, ...]:
    """The edit that imports all of a module under TYPE_CHECKING, none where no other star import shows where."""
    stars = [one for one in init.imports if one.star and alone(one.entry, lines)]
    beside = [(_place(statement.module), statement.entry) for statement in stars]
    return tuple(_statements(path, beside, {_place(module): f"from {module} import *\n"})) if beside else ()


def _statements(path: str, beside: Sequence[tuple[Place, Spot]], fresh: Mapping[Place, str]) -> list[Edit]:
    """Insert texts in order: behind the last statement that a sorted block has before it, else at the end."""
    by_line: dict[int, str] = {}
    for place in sorted(fresh):
        position = next((number for number, (other, _) in enumerate(beside) if other > place), len(beside))
        entry = beside[max(position - 1, 0)][1]
        line = entry.last + 1 if position else entry.line
        by_line[line] = by_line.get(line, "") + _indented(fresh[place], entry.start)
    return [Edit(path, line, line - 1, text) for line, text in by_line.items()]


def _opening(path: str, lines: Sequence[str], init: Init, fresh: Mapping[Place, str]) -> tuple[Edit, ...]:
    """Insert imports at the start of what stands under TYPE_CHECKING, none where that shares the line of the `if`."""
    line, start = init.guard
    if lines[line - 1][:start].strip():
        return ()
    text = _indented("".join(fresh[place] for place in sorted(fresh)), start)
    return (Edit(path, line, line - 1, f"{text}\n"),)


def _place(module: str) -> Place:
    return module, 0, ""


def _import(module: str, names: Sequence[str]) -> str:
    line = f"from {module} import {', '.join(names)}\n"
    if len(line) + 2 * _INDENT <= WIDTH:
        return line
    return f"from {module} import (\n" + "".join(f"    {name},\n" for name in names) + ")\n"


def _indented(text: str, start: int) -> str:
    return "".join(f"{' ' * start}{line}\n" for line in text.splitlines())


def _by_module(wanted: Sequence[tuple[str, Listing | Imported]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, place in wanted:
        found.setdefault(place.module, []).append(name)
    return found


def _bracketed(listing: Listing, lines: Sequence[str]) -> bool:
    return lines[listing.value.line - 1][listing.value.start] in "[({"
