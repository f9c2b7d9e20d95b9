"""The inits of a library that fill `_import_structure` by hand: the lists of one half and the imports of the other."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from random import Random
from typing import NamedTuple

from faults.model import Files, Module, text_of


class Listed(NamedTuple):
    """One list of names under a key. `form` is `dict`, `set`, `append` or `extend`; `node` the statement or dict."""

    form: str
    backends: tuple[str, ...]
    key: ast.Constant
    names: tuple[ast.Constant, ...]
    node: ast.stmt


class Imported(NamedTuple):
    """One import of names under TYPE_CHECKING."""

    backends: tuple[str, ...]
    node: ast.ImportFrom


class Init(NamedTuple):
    """Both halves of an init. `structure` is the statement that makes the dict; `guarded` is what is for type checkers.

    `tests` are the conditions of the blocks for backends, those of `typing` among them.
    """

    path: str
    module: Module
    structure: ast.stmt
    guarded: ast.If
    lazy: tuple[Listed, ...]
    typing: tuple[Imported, ...]

    def once(self) -> frozenset[str]:
        """The names that stand once in each half."""
        lazy = Counter(text_of(name) for listed in self.lazy for name in listed.names)
        typing = Counter(alias.name for each in self.typing for alias in each.node.names if not alias.asname)
        return frozenset(name for name in lazy if lazy[name] == typing[name] == 1)

    def imported(self, name: str) -> tuple[Imported, int]:
        """Where a name is imported, and as which of the names there."""
        return next(
            (each, number) for each in self.typing for number, alias in enumerate(each.node.names) if alias.name == name
        )

    def file_of(self, files: Files, module: str) -> str | None:
        """The path of the file that a key or the name of an import stands for, None for a package."""
        path = f"{self.path.rpartition('/')[0]}/{module.replace('.', '/')}.py"
        return path if path in files else None

    def is_there(self, files: Files, module: str) -> bool:
        """Whether a key or the name of an import stands for a file or a package."""
        folder = f"{self.path.rpartition('/')[0]}/{module.replace('.', '/')}"
        return f"{folder}.py" in files or f"{folder}/__init__.py" in files


def inits(files: Files, random: Random) -> Iterator[Init]:
    """Such inits in random order, those left out of which something is filled in a way that is not understood here."""
    found = _inits(files)
    yield from random.sample(found, len(found))


def listings(files: Files, random: Random) -> Iterator[tuple[Init, Listed, ast.Constant]]:
    """A name of each list in random order, one that stands once in each half."""
    for init in inits(files, random):
        known = init.once()
        for listed in random.sample(init.lazy, len(init.lazy)):
            names = [name for name in listed.names if name.value in known]
            if names:
                yield init, listed, random.choice(names)


def but(module: Module, changes: Iterable[tuple[int, int, str]]) -> str:
    """The text of a module with several pieces replaced that do not overlap."""
    text = module.text
    for start, end, new in sorted(changes, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def without_name(module: Module, listed: Listed, name: ast.Constant) -> tuple[int, int, str]:
    """The change that takes a name out of a list, and the statement away with it where it is `append`."""
    if listed.form == "append":
        return module.start(listed.node), module.end(listed.node), "pass"
    return _without(module, listed.names, listed.names.index(name))


def without_import(module: Module, imported: Imported, number: int) -> tuple[int, int, str]:
    """The change that takes a name out of an import, or the whole import away where it is the only one."""
    if len(imported.node.names) == 1:
        return module.start(imported.node), module.end(imported.node), "pass"
    return _without(module, tuple(imported.node.names), number)


@lru_cache(maxsize=1)
def _inits(files: Files) -> tuple[Init, ...]:
    paths = (path for path in files.below(files.library, "/__init__.py") if "_import_structure" in files.text(path))
    return tuple(init for path in paths if (init := _read(path, files.module(path))))


def _read(path: str, module: Module) -> Init | None:
    structure = next((node for node in module.tree.body if _makes_structure(node)), None)
    guarded = next(
        (node for node in module.tree.body if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)),
        None,
    )
    if structure is None or guarded is None or "_import_structure.update" in module.text:
        return None
    lazy = (
        listed
        for backends, node in _blocks(module.tree.body)
        if node is not guarded
        for listed in _listed(backends, node)
    )
    typing = (
        Imported(backends, node)
        for backends, node in _blocks(guarded.body)
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.names[0].name != "*"
    )
    return Init(path, module, structure, guarded, tuple(lazy), tuple(typing))


def _makes_structure(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and "_import_structure" in map(ast.unparse, node.targets)


def _blocks(body: list[ast.stmt]) -> Iterator[tuple[tuple[str, ...], ast.stmt]]:
    """Statements with the backends that they ask for: those of a body, and of the `else` of a `try` in it."""
    for node in body:
        if isinstance(node, ast.Try):
            backends = tuple(sorted(set(re.findall(r"is_(\w+?)_available", ast.unparse(node.body[0])))))
            yield from ((backends, each) for each in node.orelse if backends)
        else:
            yield (), node


def _listed(backends: tuple[str, ...], node: ast.stmt) -> Iterator[Listed]:
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict) and _makes_structure(node):
        for key, value in zip(node.value.keys, node.value.values, strict=True):
            yield from _one("dict", backends, key, value, node)
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
        if ast.unparse(node.targets[0].value) == "_import_structure":
            yield from _one("set", backends, node.targets[0].slice, node.value, node)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
        owner, form = node.value.func.value, node.value.func.attr
        if isinstance(owner, ast.Subscript) and form in ("append", "extend"):
            yield from _one(form, backends, owner.slice, node.value.args[0], node)


def _one(
    form: str, backends: tuple[str, ...], key: ast.expr | None, value: ast.expr, node: ast.stmt
) -> Iterator[Listed]:
    items = value.elts if isinstance(value, ast.List) else [value]
    names = tuple(item for item in items if isinstance(item, ast.Constant) and isinstance(item.value, str))
    if isinstance(key, ast.Constant) and isinstance(key.value, str) and len(names) == len(items):
        yield Listed(form, backends, key, names, node)


def _without(
    module: Module, items: tuple[ast.Constant, ...] | tuple[ast.alias, ...], number: int
) -> tuple[int, int, str]:
    start, end = module.start(items[number]), module.end(items[number])
    if number + 1 < len(items):
        return start, module.start(items[number + 1]), ""
    if number:
        return module.end(items[number - 1]), end, ""
    return start, end + module.text.startswith(",", end), ""
