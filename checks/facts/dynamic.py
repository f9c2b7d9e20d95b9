"""Whether a module makes names up as it runs, so that nobody can read them off it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

_HINT = re.compile(r"\b(?:__getattr__\b|exec\(|sys\.modules\[__name__\]|(?:globals|locals|vars)\(\))")
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_EXECUTES, _GLOBAL, _NAMESPACES = frozenset({"exec"}), frozenset({"globals"}), frozenset({"globals", "locals", "vars"})
_WRITERS = frozenset({"update", "setdefault", "__setitem__", "__ior__", "__setattr__", "__dict__"})
_READERS = frozenset(
    {"all", "any", "bool", "dict", "dir", "eval", "filter", "frozenset", "getattr", "hasattr", "id", "isinstance"}
    | {"iter", "len", "list", "map", "print", "repr", "set", "sorted", "str", "tuple", "type"}
)


def hints_at_unseen_names(text: str) -> bool:
    """Whether a text holds anything that can bind names which it does not say; True in a comment too."""
    return _HINT.search(text) is not None


def binds_unseen_names(tree: ast.Module) -> bool:
    """Whether a module may bind names at its top level that are not written in it.

    Its namespace is `globals()`, `locals()` and `vars()` outside functions and classes, and `sys.modules[__name__]`.
    What only reads it binds nothing; where it is handed on or gets another name, somebody may write to it.
    """
    return any(
        _is_call(node, _EXECUTES) or (_is_namespace(node, inner=inner) and not _is_read(node, parent))
        for node, parent, inner in _walk(tree)
    )


def _walk(tree: ast.Module) -> Iterator[tuple[ast.AST, ast.AST, bool]]:
    """Every node, the one that holds it, and whether it stands in a function or a class."""
    waiting: list[tuple[ast.AST, bool]] = [(tree, False)]
    while waiting:
        parent, inner = waiting.pop()
        inner = inner or isinstance(parent, _SCOPES)
        for node in ast.iter_child_nodes(parent):
            yield node, parent, inner
            waiting.append((node, inner))


def _is_namespace(node: ast.AST, *, inner: bool) -> bool:
    if isinstance(node, ast.Call) and not node.args and not node.keywords:
        # In a function, `locals()` is a copy, and in a class, it is what the class holds.
        return _is_call(node, _GLOBAL if inner else _NAMESPACES)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Name):
        return ast.unparse(node) == "sys.modules[__name__]"
    return False


def _is_read(node: ast.AST, parent: ast.AST) -> bool:
    match parent:
        case ast.Attribute(attr=name, ctx=ast.Load()):
            return name not in _WRITERS
        case ast.Dict(keys=keys, values=values):
            return any(key is None and value is node for key, value in zip(keys, values, strict=True))
        case ast.Subscript(ctx=ast.Load()) | ast.keyword(arg=None) | ast.Starred() | ast.comprehension():
            return True
        case ast.Compare() | ast.BinOp():
            return True
        case _:
            return _is_call(parent, _READERS)


def _is_call(node: ast.AST, names: frozenset[str]) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names
