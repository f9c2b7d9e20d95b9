"""Faults in the files of dummies that stand in for what needs a backend."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from itertools import pairwise
from random import Random
from typing import NamedTuple

from faults.inits import but, inits, listings, without_import, without_name
from faults.model import Fault, Files, Kind, Module, text_of


class _Dummy(NamedTuple):
    """One class, function or constant of a file of dummies; `start` to `end` are its lines."""

    path: str
    module: Module
    name: str
    node: ast.stmt
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.module.text[self.start : self.end]


_Change = Callable[[_Dummy], str | None]
"""Makes a text with a dummy that is wrong, None where it cannot be made so."""


def kinds() -> Iterator[Kind]:
    """Every kind of fault in dummies; what the init has and they have not is reported in the init."""
    yield Kind("a dummy deleted", "dummy-objects/missing", partial(_plant, _deleted, True))
    yield Kind("a whole file deleted", "dummy-objects/missing", _file_deleted)
    yield Kind("a dummy misspelt", "dummy-objects/missing", partial(_plant, _misspelt, True))
    yield _kind("a dummy twice", "extra", lambda dummy: dummy.module.but(dummy.end, dummy.end, f"\n\n{dummy.text}"))
    yield Kind("a dummy in the file of another backend too", "dummy-objects/extra", _elsewhere)
    yield _kind("a dummy for nothing", "orphan", _for_nothing)
    yield Kind("a whole file for nothing", "dummy-objects/orphan", _file_for_nothing)
    yield Kind("the export gone from the init", "dummy-objects/orphan", _export_gone)
    yield Kind("a class as a constant", "dummy-objects/wrong-kind", partial(_wrong_kind, ast.ClassDef, "{0} = None\n"))
    yield Kind("a class as a function", "dummy-objects/wrong-kind", partial(_wrong_kind, ast.ClassDef, _FUNCTION))
    yield Kind("a function as a class", "dummy-objects/wrong-kind", partial(_wrong_kind, ast.FunctionDef, _CLASS))
    yield Kind("a constant as a class", "dummy-objects/wrong-kind", partial(_wrong_kind, ast.Assign, _CLASS))
    yield _kind("another backend in one place", "stale", _other_backend)
    yield _kind("a method deleted", "stale", _method_deleted)
    yield _kind("a docstring added", "stale", _docstring)
    yield Kind("two dummies swapped", "dummy-objects/order", _swapped)
    yield _kind("a bracket lost", "unparsable", _bracket_lost)


_FUNCTION = "def {0}(*args, **kwargs):\n    requires_backends({0}, {1})\n"
_CLASS = "class {0}(metaclass=DummyObject):\n    _backends = {1}\n"


def _kind(name: str, code: str, change: _Change) -> Kind:
    return Kind(name, f"dummy-objects/{code}", partial(_plant, change, False))


def _plant(change: _Change, in_init: bool, files: Files, random: Random) -> Iterator[Fault]:
    dummies = list(_dummies(files))
    for dummy in random.sample(dummies, len(dummies)):
        if text := change(dummy):
            where = f"{files.library}/__init__.py" if in_init else dummy.path
            yield Fault(f"{dummy.path}:{dummy.node.lineno} {dummy.name}", {dummy.path: text}, frozenset({where}))


def _dummies(files: Files) -> Iterator[_Dummy]:
    for path in _paths(files):
        module = files.module(path)
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.Assign):
                name = ast.unparse(node.targets[0]) if isinstance(node, ast.Assign) else node.name
                end = module.line((node.end_lineno or node.lineno) + 1)
                yield _Dummy(path, module, name, node, module.line(node.lineno), end)


def _paths(files: Files) -> list[str]:
    return [path for path in files.below(f"{files.library}/utils", "_objects.py") if "/dummy_" in path]


def _deleted(dummy: _Dummy) -> str:
    return dummy.module.but(dummy.start, dummy.end, "")


def _file_deleted(files: Files, random: Random) -> Iterator[Fault]:
    for path in random.sample(_paths(files), len(_paths(files))):
        yield Fault(path, {path: None}, frozenset({f"{files.library}/__init__.py"}))


def _misspelt(dummy: _Dummy) -> str:
    return dummy.module.but(dummy.start, dummy.end, re.sub(rf"\b{dummy.name}\b", f"{dummy.name}s", dummy.text))


def _elsewhere(files: Files, random: Random) -> Iterator[Fault]:
    main = files.text(f"{files.library}/__init__.py")
    dummies = [dummy for dummy in _dummies(files) if isinstance(dummy.node, ast.ClassDef)]
    for dummy in random.sample(dummies, len(dummies)):
        other = random.choice(_paths(files))
        if other.rpartition("/")[2].removesuffix(".py") not in main:
            continue
        text = files.text(other)
        if not re.search(rf"\b{dummy.name}\b", text):
            yield Fault(f"{other} {dummy.name}", {other: f"{text}\n\n{dummy.text}"}, frozenset({other}))


def _for_nothing(dummy: _Dummy) -> str:
    renamed = re.sub(rf"\b{dummy.name}\b", f"Gone{dummy.name}", dummy.text)
    return dummy.module.but(dummy.end, dummy.end, f"\n\n{renamed}")


def _file_for_nothing(files: Files, random: Random) -> Iterator[Fault]:
    for path in random.sample(_paths(files), len(_paths(files))):
        other = path.replace("dummy_", "dummy_gone_and_")
        yield Fault(other, {other: files.text(path)}, frozenset({other}))


def _export_gone(files: Files, random: Random) -> Iterator[Fault]:
    main = f"{files.library}/__init__.py"
    dummies = {dummy.name: dummy for dummy in _dummies(files)}
    for init, listed, name in listings(files, random):
        if init.path == main and listed.backends and name.value in dummies:
            gone = [
                without_name(init.module, listed, name),
                without_import(init.module, *init.imported(text_of(name))),
            ]
            place = f"{main}:{name.lineno} {text_of(name)}"
            yield Fault(place, {main: but(init.module, gone)}, frozenset({dummies[text_of(name)].path}))


def _wrong_kind(kind: type[ast.stmt], template: str, files: Files, random: Random) -> Iterator[Fault]:
    """A dummy of a class, a function or a literal: what an expression comes to, and what is gone, nobody can tell."""
    real = _real(files)
    dummies = [dummy for dummy in _dummies(files) if isinstance(dummy.node, kind) and dummy.name in real]
    for dummy in random.sample(dummies, len(dummies)):
        backends = re.search(r'\["[^\]]*\]', dummy.module.text)
        new = template.format(dummy.name, backends[0] if backends else "[]")
        text = dummy.module.but(dummy.start, dummy.end, new)
        yield Fault(f"{dummy.path}:{dummy.node.lineno} {dummy.name}", {dummy.path: text}, frozenset({dummy.path}))


@lru_cache(maxsize=1)
def _real(files: Files) -> frozenset[str]:
    """What the main init imports from a module that is there, and some unindented line of the library defines."""
    paths = [path for path in files.below(files.library, ".py") if path not in _paths(files)]
    defined = {name for path in paths for name in _DEFINITION.findall(files.text(path))}
    (main,) = (init for init in inits(files, Random(0)) if init.path == f"{files.library}/__init__.py")
    there = (each.node for each in main.typing if main.is_there(files, each.node.module or ""))
    return frozenset(alias.name for node in there for alias in node.names if alias.name in defined)


_DEFINITION = re.compile(r"^(?:class |def )?(\w+)(?=[:(]| = [\[{\"'\d])", re.MULTILINE)


def _other_backend(dummy: _Dummy) -> str | None:
    if '["' not in dummy.text:
        return None
    return dummy.module.but(dummy.start, dummy.end, dummy.text.replace('["', '["other_', 1))


def _method_deleted(dummy: _Dummy) -> str | None:
    if not isinstance(dummy.node, ast.ClassDef) or len(dummy.node.body) < 3:
        return None
    start = dummy.module.line((dummy.node.body[-2].end_lineno or 0) + 1)
    return dummy.module.but(start, dummy.end, "")


def _docstring(dummy: _Dummy) -> str | None:
    if not isinstance(dummy.node, ast.ClassDef | ast.FunctionDef):
        return None
    start = dummy.module.line(dummy.node.body[0].lineno)
    return dummy.module.but(start, start, '    """Only needed where a backend is missing."""\n')


def _swapped(files: Files, random: Random) -> Iterator[Fault]:
    pairs = [(one, other) for one, other in pairwise(_dummies(files)) if one.path == other.path]
    for one, other in random.sample(pairs, len(pairs)):
        text = but(one.module, [(one.start, one.end, other.text), (other.start, other.end, one.text)])
        yield Fault(f"{one.path}:{one.node.lineno} {one.name}", {one.path: text}, frozenset({one.path}))


def _bracket_lost(dummy: _Dummy) -> str | None:
    place = dummy.module.text.find("(", dummy.start, dummy.end)
    return None if place < 0 else dummy.module.but(place, place + 1, "")
