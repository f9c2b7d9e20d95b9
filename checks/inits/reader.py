"""Read an init by its syntax tree, so that formatting, quotes, comments and one-liners make no difference."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from typing import Any

from checks.facts.syntax import Unparsable, parse
from checks.inits.conditions import ALWAYS, Condition, all_of, condition_of, negated
from checks.inits.model import Block, Imported, Listing, Spot
from checks.inits.soundness import agree, is_sorted
from checks.inits.spots import spot_of

_STRUCTURE = "_import_structure"
_OWN_FOLDER = re.compile(r"define_import_structure\((?:_file|__file__)\)")  # walking the tree takes far longer
_ADDING = ("append", "extend", "insert", "update", "add")


def read(text: str) -> list[Any]:
    """The fields of `checks.inits.model.Init`, in its order, in types that JSON holds."""
    reader = _Reader(None if text.isascii() else text.split("\n"))
    tree = parse(text)
    problem = list(tree) if isinstance(tree, Unparsable) else None
    if not isinstance(tree, Unparsable):
        try:
            reader.read(tree.body, "lazy", ALWAYS)
            if "define_import_structure(" in text:
                plain = _OWN_FOLDER.search(text) and text.count("define_import_structure(") == 1
                reader.scans.update(dict.fromkeys([""] if plain else _scans(tree)))
        except RecursionError:
            problem, reader = [1, "nested too deeply"], _Reader(None)
    flags = [reader.structured, reader.opaque, reader.guard]
    rows = (reader.blocks, reader.listings, reader.imports)
    return [problem, *flags, list(reader.scans), list(reader.others), *rows, agree(*rows), is_sorted(reader.listings)]


class _Reader:
    """Walks the statements of an init and notes what each half exports."""

    def __init__(self, lines: list[str] | None) -> None:
        self.lines = lines
        self.structured = self.opaque = False
        self.guard: list[int] = []
        self.scans: dict[str, None] = {}
        self.others: dict[str, None] = {}
        self.blocks: list[Block] = []
        self.listings: list[Listing] = []
        self.imports: list[Imported] = []
        self._run = 0

    def read(self, body: Sequence[ast.stmt], half: str, condition: Condition, fallback: Iterable[str] = ()) -> None:
        """Note what a body exports; `half` is `lazy`, `typing`, or `runtime` for what runs where `typing` does not."""
        if not body:
            return
        self._run += 1
        block = len(self.blocks)
        name = "lazy" if half == "runtime" else half
        self.blocks.append(Block(name, str(condition), condition.key, condition.backends, list(fallback)))
        for node in body:
            if isinstance(node, ast.If):
                self._read_if(node, half, condition)
            elif isinstance(node, ast.Try):
                self._read_try(node, half, condition)
            elif half == "typing":
                self._read_import(node, block)
            elif self._read_statement(node, block, half):
                continue
            self._run += 1

    def _read_if(self, node: ast.If, half: str, condition: Condition) -> None:
        typing = _type_checking(node.test)
        if typing is None:
            test = condition_of(node.test)
            self.read(node.body, half, all_of((condition, test)))
            self.read(node.orelse, half, all_of((condition, negated(test))))
            return
        first = (node.body if typing else node.orelse)[:1]
        self.guard = [*self._spots(*first)[:2]] or self.guard
        halves = ("typing", "runtime") if typing else ("runtime", "typing")
        self.read(node.body, halves[0], condition)
        self.read(node.orelse, halves[1], condition)

    def _read_try(self, node: ast.Try, half: str, condition: Condition) -> None:
        """The `else` of a `try` runs under what its body asks for; handlers hold stand-ins, which are no exports."""
        asked = all_of((condition, *_asked(node.body)))
        handlers = [statement for handler in node.handlers for statement in handler.body]
        fallback = [name for statement in handlers for name in _modules(statement)]
        self.read([statement for statement in node.body if not _raises(statement)], half, asked)
        self.read(node.orelse, half, asked, fallback)
        self.read(node.finalbody, half, condition)

    def _read_import(self, node: ast.stmt, block: int) -> None:
        if not isinstance(node, ast.ImportFrom):
            return
        named = [alias for alias in node.names if alias.name != "*"]
        self.imports.append(
            Imported(
                "." * node.level + (node.module or ""),
                block,
                len(named) < len(node.names),
                [alias.asname or alias.name for alias in named],
                {alias.asname: alias.name for alias in named if alias.asname},
                self._spots(node, *named),
            )
        )

    def _read_statement(self, node: ast.stmt, block: int, half: str) -> bool:
        """Note what a statement exports; say whether it fills one key, as a sorted run of such statements does."""
        target, value, how = _filling(node)
        name, key = _slot(target)
        if name == _STRUCTURE and key is not None and value is not None:
            self.structured = True
            self._add(key, block, how, value, spot_of(node, self.lines))
            return True
        if name == _STRUCTURE and isinstance(value, ast.Dict):
            self.structured = True
            self._read_dict(value, block, "item" if how == "set" else "set")
        elif name and key is not None:
            self.others[key] = None
        elif name and isinstance(value, ast.Dict):
            self.others.update((key, None) for key in map(_text, value.keys) if key is not None)
        elif half == "lazy" and any(isinstance(part, ast.Name) and part.id == _STRUCTURE for part in ast.walk(node)):
            self.opaque = True
        return False

    def _read_dict(self, node: ast.Dict, block: int, how: str) -> None:
        self._run += 1
        for key, value in zip(node.keys, node.values, strict=True):
            module = _text(key)
            if key is None or module is None:
                self.opaque = True
                continue
            first, last = spot_of(key, self.lines), spot_of(value, self.lines)
            self._add(module, block, how, value, Spot(*first[:2], *last[2:]))
        self._run += 1

    def _add(self, module: str, block: int, how: str, value: ast.expr, entry: Spot) -> None:
        found = [(_text(node), node) for node in _names(value)]
        readable = [(name, node) for name, node in found if name is not None]
        spots = [*entry, *self._spots(value, *(node for _, node in readable))]
        names = [name for name, _ in readable]
        opaque = len(readable) < len(found)
        self.listings.append(Listing(f".{module}", block, how, self._run, opaque, names, spots))

    def _spots(self, *nodes: ast.expr | ast.stmt | ast.alias) -> list[int]:
        return [number for node in nodes for number in spot_of(node, self.lines)]


def _filling(node: ast.stmt) -> tuple[ast.expr | None, ast.expr | None, str]:
    """What a statement fills, with what, and whether it sets or adds."""
    if isinstance(node, ast.Assign):
        return node.targets[0], node.value, "set"
    if isinstance(node, ast.AnnAssign):
        return node.target, node.value, "set"
    if isinstance(node, ast.AugAssign):
        return node.target, node.value, "add"
    if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        return None, None, ""
    call = node.value
    if not (isinstance(call.func, ast.Attribute) and call.args) or call.keywords:
        return None, None, ""
    target, method = call.func.value, call.func.attr
    if method == "setdefault" and len(call.args) == 2:
        return ast.Subscript(target, call.args[0]), call.args[1], "add"
    if isinstance(target, ast.Call) and isinstance(target.func, ast.Attribute) and target.func.attr == "setdefault":
        target = ast.Subscript(target.func.value, target.args[0]) if target.args else target
    return (target, call.args[-1], "add") if method in _ADDING else (None, None, "")


def _slot(target: ast.expr | None) -> tuple[str, str | None]:
    """The variable that a target names, and the key in it, None where it is the whole; no name where it is neither."""
    if isinstance(target, ast.Name):
        return target.id, None
    if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
        key = _text(target.slice)
        return ("", None) if key is None else (target.value.id, key)
    return "", None


def _names(value: ast.expr) -> Iterable[ast.expr]:
    """The nodes of single names in a list of names; whatever cannot be looked into stands for itself."""
    if isinstance(value, ast.List | ast.Tuple | ast.Set):
        return [name for part in value.elts for name in _names(part)]
    if isinstance(value, ast.Starred):
        return _names(value.value)
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        return [*_names(value.left), *_names(value.right)]
    return [value]


def _text(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _type_checking(test: ast.expr) -> bool | None:
    """Whether a test holds for type checkers, or for everybody else; None where it does not ask."""
    if isinstance(test, ast.Name | ast.Attribute):
        return True if (test.id if isinstance(test, ast.Name) else test.attr) == "TYPE_CHECKING" else None
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _type_checking(test.operand)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        return next((found for found in map(_type_checking, test.values) if found is not None), None)
    return None


def _raises(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and not node.orelse and len(node.body) == 1 and isinstance(node.body[0], ast.Raise)


def _asked(body: Sequence[ast.stmt]) -> Iterable[Condition]:
    """What the body of a `try` asks for: the opposite of a test that raises, and every package that it imports."""
    for node in body:
        if isinstance(node, ast.If) and _raises(node):
            yield negated(condition_of(node.test))
        elif isinstance(node, ast.Import):
            yield from (Condition("is", atom=alias.name.partition(".")[0]) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield Condition("is", atom=(node.module or "").partition(".")[0])


def _modules(node: ast.stmt) -> Iterable[str]:
    """The modules that a statement may import: `from .utils import x` names `.utils` or `.utils.x`."""
    if isinstance(node, ast.ImportFrom):
        module = "." * node.level + (node.module or "")
        yield module
        dot = "" if module.endswith(".") else "."
        yield from (f"{module}{dot}{alias.name}" for alias in node.names if alias.name != "*")


def _scans(tree: ast.Module) -> Iterable[str]:
    """The folders that calls of `define_import_structure` look into, relative to the init's own."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "define_import_structure":
            parts = [_text(part) for argument in node.args for part in ast.walk(argument) if isinstance(part, ast.expr)]
            yield "/".join(part for part in parts if part and part != "__file__")
