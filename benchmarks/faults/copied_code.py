"""Faults in copied code: copies that are edited, originals that are, and markers that say what is not so."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from random import Random

from faults.bodies import CHANGES, Change, line_deleted
from faults.copies import Origin, copies, dotted, origin, verbatim_copies
from faults.headers import DECORATORS, PARAMETERS
from faults.markers import MARKINGS, Marking
from faults.model import Fault, Files, Kind, Module


def kinds() -> Iterator[Kind]:
    """Every kind of fault in copied code."""
    for code, changes in (("body", CHANGES), ("signature", PARAMETERS), ("decorators", DECORATORS)):
        for name, change in changes.items():
            yield Kind(f"in a copy, {name}", f"copied-code/{code}", partial(_copy_edited, change))
            yield Kind(f"in an original, {name}", f"copied-code/{code}", partial(_original_edited, change))
    yield Kind("in a copy, beside an ignored method", "copied-code/body", _beside_ignored)
    for code, markings in MARKINGS.items():
        for name, marking in markings.items():
            yield Kind(name, f"copied-code/{code}", partial(_marked, marking))
    yield Kind("the original renamed", "copied-code/target", partial(_original_gone, _renamed))
    yield Kind("the module of the original moved", "copied-code/target", partial(_original_gone, _moved))
    yield Kind("the original a copy of its copy", "copied-code/cycle", _circle)


def _copy_edited(change: Change, files: Files, random: Random) -> Iterator[Fault]:
    for copy in copies(files, random):
        if (text := change(copy.module, copy.node, random)) and _is_python(text):
            yield Fault(copy.place, {copy.path: text}, frozenset({copy.path}))


def _original_edited(change: Change, files: Files, random: Random) -> Iterator[Fault]:
    for found, paths in _originals(files, random):
        # Where the original is a copy itself, or holds one, that edit would be the fault.
        if not _is_marked(found) and (text := change(found.module, found.node, random)) and _is_python(text):
            yield Fault(found.place, {found.path: text}, paths)


def _beside_ignored(files: Files, random: Random) -> Iterator[Fault]:
    """The last method of a class is left out of the comparison, and one before it edited."""
    for copy in copies(files, random):
        methods = [node for node in copy.node.body if isinstance(node, ast.FunctionDef) and not node.decorator_list]
        if not isinstance(copy.node, ast.ClassDef) or len(methods) < 2 or "Ignore copy" in copy.module.text:
            continue
        place = copy.module.line(methods[-1].lineno)
        changed = Module(copy.module.but(place, place, "    # Ignore copy\n"))
        if text := line_deleted(changed, changed.definitions[methods[0].lineno], random):
            yield Fault(copy.place, {copy.path: text}, frozenset({copy.path}))


def _marked(marking: Marking, files: Files, random: Random) -> Iterator[Fault]:
    for copy in copies(files, random):
        if text := marking(files, copy, random):
            yield Fault(copy.place, {copy.path: text}, frozenset({copy.path}))


def _original_gone(move: Callable[[Origin], Mapping[str, str | None]], files: Files, random: Random) -> Iterator[Fault]:
    for found, paths in _originals(files, random):
        yield Fault(found.place, move(found), paths)


def _renamed(found: Origin) -> Mapping[str, str | None]:
    start = found.module.text.index(found.node.name, found.module.start(found.node) + len("def "))
    return {found.path: found.module.but(start, start, "Other")}


def _moved(found: Origin) -> Mapping[str, str | None]:
    return {found.path: None, found.path.replace(".py", "_moved.py"): found.module.text}


def _circle(files: Files, random: Random) -> Iterator[Fault]:
    for copy in copies(files, random):
        found, back = origin(files, copy.target), dotted(files, copy)
        if found and back and not copy.clause and not _is_marked(found) and found.path != copy.path:
            place = found.module.line(found.node.lineno)
            text = found.module.but(place, place, f"{found.node.col_offset * ' '}# Copied from {back}\n")
            yield Fault(found.place, {found.path: text}, frozenset({copy.path, found.path}))


def _originals(files: Files, random: Random) -> Iterator[tuple[Origin, frozenset[str]]]:
    """Originals in random order, each once, with the files of all their copies that have no clause."""
    seen: set[str] = set()
    for copy in copies(files, random):
        if copy.target in seen:
            continue
        seen.add(copy.target)
        found = origin(files, copy.target)
        paths = frozenset(each.path for each in verbatim_copies(files, copy.target))
        if found is not None and paths and found.path not in paths:
            yield found, paths


def _is_marked(found: Origin) -> bool:
    """Whether an original is a copy, or holds one."""
    module, node = found.module, found.node
    first = module.line(max(1, node.lineno - 1))
    return "# Copied from" in module.text[first : module.end(node)]


def _is_python(text: str) -> bool:
    try:
        with warnings.catch_warnings(action="ignore"):
            ast.parse(text)
    except SyntaxError:
        return False
    return True
