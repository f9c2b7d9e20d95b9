"""Every name that a module binds, wherever it does: in branches, by imports, by a star. Parses the whole module."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from checks.extractor import Extractor
from checks.facts.dynamic import binds_unseen_names, hints_at_unseen_names
from checks.facts.syntax import Unparsable, parse

_IMPORT = re.compile(r"^from +(\.[\w.]*) +import +(?:\(([^()]*)\)|([^\n(\\;]+)$)", re.MULTILINE)
_NAME = re.compile(r"(\w+)(?: +as +(\w+))?")
_COMMENT = re.compile(r"#[^\n]*")
_GLOBAL = re.compile(r"^[ \t]+global +([\w, ]+)", re.MULTILINE)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)

Imports = dict[str, tuple[str, str]]
"""Names that are imported: from which module, its dots in front, under what name, empty for the module itself."""


class Bindings(NamedTuple):
    """Names by kind (`class`, `function`, `made`), and names that are imported.

    `stars` are the modules of `import *`. `open` says that the module can have names that nobody can read off it.
    """

    names: dict[str, str]
    imports: Imports
    stars: tuple[str, ...]
    open: bool


def is_silent(text: str, name: str) -> bool:
    """Whether a module surely does not bind a name, because its text neither says it nor makes names up."""
    return name not in text and "import *" not in text and not hints_at_unseen_names(text)


def _extract_imports(text: str) -> Any:
    found: dict[str, tuple[str, str]] = {}
    for module, several, one in _IMPORT.findall(text):
        for name, alias in _NAME.findall(_COMMENT.sub("", several or one)):
            found[alias or name] = (module, name)
    return found


def _extract(text: str) -> Any:
    tree = parse(text)
    if isinstance(tree, Unparsable):
        return [{}, {}, [], True]
    names: dict[str, str] = {}
    imports: Imports = {}
    stars: list[str] = []
    for node in _module_scope(tree):
        if isinstance(node, ast.ClassDef):
            names[node.name] = "class"
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names[node.name] = "function"
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.setdefault(node.id, "made")
        elif isinstance(node, ast.Import):
            imports.update((alias.asname or alias.name.partition(".")[0], (alias.name, "")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            stars.extend(module for alias in node.names if alias.name == "*")
            imports.update((alias.asname or alias.name, (module, alias.name)) for alias in node.names)
    for found in _GLOBAL.findall(text):
        names.update((name.strip(), "made") for name in found.split(","))
    is_open = hints_at_unseen_names(text) and (
        "__getattr__" in names or "__getattr__" in imports or binds_unseen_names(tree)
    )
    return [names, imports, stars, is_open]


def _module_scope(tree: ast.Module) -> Iterator[ast.AST]:
    """The nodes of a module outside functions and classes, in no particular order."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _SCOPES):
            waiting.extend(ast.iter_child_nodes(node))


def _load_imports(found: Any) -> Imports:
    return {name: (module, own) for name, (module, own) in found.items()}


def _load(found: Any) -> Bindings:
    names, imports, stars, is_open = found
    return Bindings(names, _load_imports(imports), tuple(stars), is_open)


IMPORTS: Extractor[Imports] = Extractor("relative-imports", _extract_imports, _load_imports)
"""What unindented relative imports bring in, read by pattern: most names are found without parsing the module."""

BINDINGS: Extractor[Bindings] = Extractor("bindings", _extract, _load)
