"""Faults in inits that collect what the modules beside them name in `__all__`."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import partial
from random import Random
from typing import NamedTuple

from faults.model import Fault, Files, Kind


class _Exports(NamedTuple):
    """A module with an `__all__`, and the init that imports all of it for type checkers."""

    init: str
    path: str
    names: tuple[str, ...]
    start: int
    end: int


_Change = Callable[[_Exports], str]


def kinds() -> Iterator[Kind]:
    """Every kind of fault in such inits and in the modules beside them."""
    yield Kind("a star import deleted", "lazy-inits/missing-type-checking", _star_deleted)
    yield Kind("an __all__ deleted", "lazy-inits/missing-lazy", partial(_all_changed, lambda _: "", True))
    yield _kind(
        "a name of __all__ misspelt", "unknown-name", lambda each: repr([*each.names[:-1], f"{each.names[-1]}s"])
    )
    yield _kind("a name in __all__ twice", "duplicate", lambda each: repr([*each.names, each.names[0]]))
    yield _kind("an __all__ made of two lists", "unreadable-exports", lambda each: f"{[*each.names]!r} + []")
    yield Kind("a module renamed", "lazy-inits/unknown-module", _module_renamed)
    yield Kind("a name in two modules", "lazy-inits/duplicate", _two_modules)


def _kind(name: str, code: str, value: _Change) -> Kind:
    return Kind(name, f"lazy-inits/{code}", partial(_all_changed, lambda each: f"__all__ = {value(each)}", False))


def _exports(files: Files, random: Random) -> Iterator[_Exports]:
    inits = [path for path in files.below(files.library, "/__init__.py") if "models/" in path]
    for init in random.sample(inits, len(inits)):
        text = files.text(init)
        modules = re.findall(r"^    from \.(\w+) import \*$", text, re.MULTILINE)
        for module in random.sample(modules, len(modules)) if "define_import_structure" in text else ():
            path = f"{init.rpartition('/')[0]}/{module}.py"
            yield from _read(files, init, path) if path in files else ()


def _read(files: Files, init: str, path: str) -> Iterator[_Exports]:
    module = files.module(path)
    for node in module.tree.body:
        if (
            isinstance(node, ast.Assign)
            and ast.unparse(node.targets[0]) == "__all__"
            and isinstance(node.value, ast.List)
        ):
            names = tuple(str(item.value) for item in node.value.elts if isinstance(item, ast.Constant))
            if names and len(names) == len(node.value.elts):
                yield _Exports(init, path, names, module.start(node), module.end(node))


def _star_deleted(files: Files, random: Random) -> Iterator[Fault]:
    for each in _exports(files, random):
        name = each.path.rpartition("/")[2].removesuffix(".py")
        text = files.text(each.init).replace(f"    from .{name} import *\n", "", 1)
        if "import *" in text:
            yield Fault(each.init, {each.init: text}, frozenset({each.init}))


def _all_changed(change: _Change, in_init: bool, files: Files, random: Random) -> Iterator[Fault]:
    for each in _exports(files, random):
        text = files.text(each.path)
        changed = text[: each.start] + change(each) + text[each.end :]
        yield Fault(each.path, {each.path: changed}, frozenset({each.init if in_init else each.path}))


def _module_renamed(files: Files, random: Random) -> Iterator[Fault]:
    for each in _exports(files, random):
        writes = {each.path: None, each.path.replace(".py", "_new.py"): files.text(each.path)}
        yield Fault(each.path, writes, frozenset({each.init}))


def _two_modules(files: Files, random: Random) -> Iterator[Fault]:
    """A class of one module is defined and exported by another one beside it too."""
    for each in _exports(files, random):
        name = each.names[0]
        beside = next((other for other in _exports_beside(files, each) if name not in files.text(other.path)), None)
        if beside and files.module(each.path).find((name,)):
            text = files.text(beside.path)
            exports = f"class {name}: ...\n\n\n__all__ = {[*beside.names, name]!r}"
            changed = text[: beside.start] + exports + text[beside.end :]
            paths = frozenset({max(each.path, beside.path)})
            yield Fault(f"{beside.path} {name}", {beside.path: changed}, paths)


def _exports_beside(files: Files, each: _Exports) -> Iterator[_Exports]:
    folder = each.path.rpartition("/")[0]
    for path in files.below(folder, ".py"):
        if path.rpartition("/")[0] == folder and path not in (each.path, each.init):
            yield from _read(files, each.init, path)
