"""Faults in inits with two halves: names that one of them lacks, has twice, or takes from elsewhere."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable, Iterator
from functools import partial
from random import Random

from faults.inits import Imported, Init, Listed, but, inits, listings, without_import, without_name
from faults.model import Fault, Files, Kind, text_of

_Change = tuple[int, int, str]
_Changes = Callable[[Init, Listed, ast.Constant], list[_Change]]
"""What to replace so that a name of a list is wrong; nothing where that cannot be."""


def kinds() -> Iterator[Kind]:
    """Every kind of fault in such inits."""
    for count, where in enumerate(("the base", "a block of one backend", "a block of several backends")):
        wanted = partial(_asks_for, count)
        yield _kind(f"not under TYPE_CHECKING, of {where}", "missing-type-checking", _not_imported, wanted)
        yield _kind(f"not in the lists, of {where}", "missing-lazy", _not_listed, wanted)
    for form in ("dict", "set", "append", "extend"):
        yield _kind(f"not in the lists, by {form}", "missing-lazy", _not_listed, partial(_is_of_form, form))
        yield _kind(f"listed twice, by {form}", "duplicate", _listed_twice, partial(_is_of_form, form))
    yield _kind("imported twice", "duplicate", _imported_twice)
    yield _kind("misspelt where it is imported", "missing-lazy", _import_misspelt)
    yield _kind("misspelt where it is listed", "missing-type-checking", _list_misspelt)
    yield _kind("misspelt in both halves", "unknown-name", _both_misspelt)
    yield _kind("imported without its backends", "backend-mismatch", _import_moved, partial(_asks_for, 1))
    yield _kind("imported without its several backends", "backend-mismatch", _import_moved, partial(_asks_for, 2))
    yield _kind("listed without its backends", "backend-mismatch", _list_moved, _has_backends)
    yield Kind("a backend dropped from one condition", "lazy-inits/backend-mismatch", _backend_dropped)
    yield _kind("the key misspelt in both halves", "unknown-module", _module_misspelt)
    yield _kind("set again where it was extended", "overwritten", _set_again)
    yield Kind("the class renamed", "lazy-inits/unknown-name", _definition_renamed)
    yield Kind("the module deleted", "lazy-inits/unknown-module", _module_deleted)
    yield Kind("imported from the module beside", "lazy-inits/unknown-name", partial(_beside, ""))
    yield Kind("imported from another of that name", "lazy-inits/other-module", partial(_beside, "\n\nclass {}: ...\n"))
    yield Kind("a bracket lost", "lazy-inits/unparsable", _bracket_lost)


def _kind(name: str, code: str, changes: _Changes, wanted: Callable[[Init, Listed], bool] = lambda _, __: True) -> Kind:
    return Kind(name, f"lazy-inits/{code}", partial(_plant, changes, wanted))


def _plant(changes: _Changes, wanted: Callable[[Init, Listed], bool], files: Files, random: Random) -> Iterator[Fault]:
    for init, listed, name in listings(files, random):
        if wanted(init, listed) and (found := changes(init, listed, name)):
            text = but(init.module, found)
            yield Fault(f"{init.path}:{name.lineno} {text_of(name)}", {init.path: text}, frozenset({init.path}))


def _asks_for(count: int, _: Init, listed: Listed) -> bool:
    return min(len(listed.backends), 2) == count


def _is_of_form(form: str, _: Init, listed: Listed) -> bool:
    return listed.form == form


def _has_backends(_: Init, listed: Listed) -> bool:
    return bool(listed.backends)


def _not_imported(init: Init, _: Listed, name: ast.Constant) -> list[_Change]:
    return [without_import(init.module, *init.imported(text_of(name)))]


def _not_listed(init: Init, listed: Listed, name: ast.Constant) -> list[_Change]:
    return [without_name(init.module, listed, name)]


def _listed_twice(init: Init, listed: Listed, name: ast.Constant) -> list[_Change]:
    if listed.form == "append":
        return [_again(init, listed.node)]
    start = init.module.start(name)
    return [(start, start, f"{init.module.text[start : init.module.end(name)]}, ")]


def _imported_twice(init: Init, _: Listed, name: ast.Constant) -> list[_Change]:
    return [_again(init, init.imported(text_of(name))[0].node)]


def _again(init: Init, node: ast.stmt) -> _Change:
    start, end = init.module.line(node.lineno), init.module.line((node.end_lineno or node.lineno) + 1)
    return end, end, init.module.text[start:end]


def _import_misspelt(init: Init, _: Listed, name: ast.Constant) -> list[_Change]:
    imported, number = init.imported(text_of(name))
    start = init.module.start(imported.node.names[number])
    return [(start, start, "Wrong")]


def _list_misspelt(init: Init, _: Listed, name: ast.Constant) -> list[_Change]:
    start = init.module.start(name) + 1
    return [(start, start, "Wrong")]


def _both_misspelt(init: Init, listed: Listed, name: ast.Constant) -> list[_Change]:
    return _import_misspelt(init, listed, name) + _list_misspelt(init, listed, name)


def _import_moved(init: Init, _: Listed, name: ast.Constant) -> list[_Change]:
    imported, number = init.imported(text_of(name))
    start = init.module.line(init.guarded.body[0].lineno)
    moved = f"    from .{imported.node.module} import {text_of(name)}\n"
    return [without_import(init.module, imported, number), (start, start, moved)]


def _list_moved(init: Init, listed: Listed, _: ast.Constant) -> list[_Change]:
    if listed.form != "set":
        return []
    start, end = init.module.start(listed.node), init.module.end(listed.node)
    below = init.module.line((init.structure.end_lineno or init.structure.lineno) + 1)
    return [(start, end, "pass"), (below, below, textwrap.dedent(f"    {init.module.text[start:end]}\n"))]


def _backend_dropped(files: Files, random: Random) -> Iterator[Fault]:
    """The first condition of several backends loses the last one, in a block that exports something."""
    for init in inits(files, random):
        known = init.once()
        for node in init.guarded.body:
            test = node.body[0] if isinstance(node, ast.Try) else None
            if not isinstance(test, ast.If) or not isinstance(node, ast.Try):
                continue
            inside = {alias.name for each in node.orelse if isinstance(each, ast.ImportFrom) for alias in each.names}
            start, end = init.module.start(test.test), init.module.end(test.test)
            text = re.sub(r" and (?:not )?is_\w+_available\(\)(?=\)?$)", "", init.module.text[start:end])
            if text != init.module.text[start:end] and inside & known:
                place = f"{init.path}:{test.lineno}"
                yield Fault(place, {init.path: init.module.but(start, end, text)}, frozenset({init.path}))


def _module_misspelt(init: Init, listed: Listed, name: ast.Constant) -> list[_Change]:
    imported, _ = init.imported(text_of(name))
    start = init.module.start(listed.key) + 1
    there = init.module.text.index(f".{imported.node.module}", init.module.start(imported.node)) + 1
    return [(start, start, "wrong_"), (there, there, "wrong_")] if imported.node.module == listed.key.value else []


def _set_again(init: Init, listed: Listed, _: ast.Constant) -> list[_Change]:
    earlier = any(
        each.key.value == listed.key.value and each.names and each.node.lineno < listed.node.lineno
        for each in init.lazy
    )
    if not earlier or listed.form not in ("append", "extend"):
        return []
    names = ", ".join(f'"{text_of(name)}"' for name in listed.names)
    start, end = init.module.start(listed.node), init.module.end(listed.node)
    return [(start, end, f'_import_structure["{text_of(listed.key)}"] = [{names}]')]


def _definition_renamed(files: Files, random: Random) -> Iterator[Fault]:
    for init, listed, name in listings(files, random):
        path = init.file_of(files, text_of(listed.key))
        module = files.module(path) if path else None
        node = module.find((text_of(name),)) if module else None
        if path and module and node and module.text.count(text_of(name)) == 1:
            start = module.text.index(text_of(name))
            text = module.but(start, start, "New")
            yield Fault(f"{path}:{node.lineno} {node.name}", {path: text}, frozenset({init.path}))


def _module_deleted(files: Files, random: Random) -> Iterator[Fault]:
    for init, listed, _ in listings(files, random):
        if path := init.file_of(files, text_of(listed.key)):
            yield Fault(path, {path: None}, frozenset({init.path}))


def _beside(definition: str, files: Files, random: Random) -> Iterator[Fault]:
    """A name is imported from the module of another list, to which `definition` is added."""
    for init, listed, name in listings(files, random):
        here = init.file_of(files, text_of(listed.key))
        others = (each for each in init.lazy if each.key.value != listed.key.value)
        other = next((each for each in others if init.file_of(files, text_of(each.key))), None)
        imported, _ = init.imported(text_of(name))
        path = init.file_of(files, text_of(other.key)) if other else None
        if not other or not path or not here or len(imported.node.names) > 1 or text_of(name) in files.text(path):
            continue
        if files.module(here).find((text_of(name),)) is None:
            continue
        change = _module_changed(init, imported, text_of(other.key))
        writes = {init.path: but(init.module, [change])}
        if definition:
            writes[path] = files.text(path) + definition.format(text_of(name))
        yield Fault(f"{init.path}:{name.lineno} {text_of(name)}", writes, frozenset({init.path}))


def _module_changed(init: Init, imported: Imported, module: str) -> _Change:
    start = init.module.text.index(f".{imported.node.module}", init.module.start(imported.node)) + 1
    return start, start + len(imported.node.module or ""), module


def _bracket_lost(files: Files, random: Random) -> Iterator[Fault]:
    for init in inits(files, random):
        end = init.module.end(init.structure)
        yield Fault(init.path, {init.path: init.module.but(end - 1, end, "")}, frozenset({init.path}))
