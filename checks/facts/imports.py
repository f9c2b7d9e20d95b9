"""What a Python file imports: statements at any depth, and `import_module` calls whose module is written out."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple

from checks.extractor import Extractor
from checks.facts.syntax import Unparsable, parse


class Import(NamedTuple):
    """One module, or one name taken from a module; `name` is empty for a whole module.

    `level` counts leading dots. `late` says that it does not happen when the file is imported: it stands in a function
    or in a block for type checkers, and only in the latter where `typing` is true.
    """

    line: int
    level: int
    module: str
    name: str
    late: bool
    typing: bool


class Imports(NamedTuple):
    """Those of one file in the order of their lines, or why there are none to be had."""

    found: tuple[Import, ...]
    problem: Unparsable | None


def _extract(text: str) -> Imports:
    if "import" not in text:
        return Imports((), None)
    module = parse(text)
    if isinstance(module, Unparsable):
        return Imports((), module)
    return Imports(tuple(sorted(_walk(module, calls="import_module" in text or "__import__" in text))), None)


def _load(stored: list[Any]) -> Imports:
    found, problem = stored
    return Imports(tuple(Import(*fields) for fields in found), Unparsable(*problem) if problem else None)


IMPORTS: Extractor[Imports] = Extractor("imports", _extract, _load)


def _walk(module: ast.Module, *, calls: bool) -> Iterator[Import]:
    """Every import below a module; expressions are only looked into where `calls` says that it may pay."""
    waiting: list[tuple[ast.AST, bool, bool]] = [(module, False, False)]
    while waiting:
        node, late, typing = waiting.pop()
        match node:
            case ast.Import():
                yield from (Import(alias.lineno, 0, alias.name, "", late, typing) for alias in node.names)
            case ast.ImportFrom():
                origin = node.module or ""
                yield from (Import(alias.lineno, node.level, origin, alias.name, late, typing) for alias in node.names)
            case ast.Call() if name := _loaded(node):
                level = len(name) - len(name.lstrip("."))
                yield Import(node.lineno, level, name[level:], "", late, typing)
        if isinstance(node, ast.If) and _is_for_types(node.test):
            waiting += ((child, True, True) for child in node.body)
            waiting += ((child, late, typing) for child in node.orelse)
            continue
        inner = late or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        waiting += ((child, inner, typing) for child in _children(node, calls=calls))


def _children(node: ast.AST, *, calls: bool) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if calls or isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            yield child


def _loaded(call: ast.Call) -> str:
    """The module that a call of `import_module` or `__import__` names, empty where it is computed."""
    function = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if function not in ("import_module", "__import__") or not call.args:
        return ""
    first = call.args[0]
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""


def _is_for_types(test: ast.expr) -> bool:
    return (test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", "")) == "TYPE_CHECKING"
