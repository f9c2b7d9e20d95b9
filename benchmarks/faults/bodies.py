"""Ways in which the body of a class or function can come to differ from what it was."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from random import Random

from faults.model import Module

Definition = ast.ClassDef | ast.FunctionDef
Change = Callable[[Module, Definition, Random], str | None]
"""Makes a text with a changed definition of a module, None where the definition has nothing to change in that way."""


def name_changed(module: Module, inside: Definition, random: Random) -> str | None:
    """A variable is another one."""
    return _instead(
        module, random, [(node, f"{node.id}_other") for node in _code(inside) if isinstance(node, ast.Name)]
    )


def number_changed(module: Module, inside: Definition, random: Random) -> str | None:
    """A number is another one."""
    found = [
        (node, repr(node.value + 1))
        for node in _code(inside)
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool)
    ]
    return _instead(module, random, found)


def string_changed(module: Module, inside: Definition, random: Random) -> str | None:
    """A string has another end."""
    found = [
        (node, f"{text[:-1]}, or not{text[-1]}")
        for node in _code(inside)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if (text := module.text[module.start(node) : module.end(node)])[0] in "\"'" and text[:3] not in ('"""', "'''")
    ]
    return _instead(module, random, found)


def operator_changed(module: Module, inside: Definition, random: Random) -> str | None:
    """A comparison goes the other way."""
    opposite = {"==": "!=", "!=": "==", "is": "is not", "is not": "is", "<": "<=", ">": ">=", "in": "not in"}
    found = [
        (module.end(node.left), module.start(node.comparators[0]), f" {opposite[sign]} ")
        for node in _code(inside)
        if isinstance(node, ast.Compare)
        and (sign := module.text[module.end(node.left) : module.start(node.comparators[0])].strip()) in opposite
    ]
    return module.but(*random.choice(found)) if found else None


def line_added(module: Module, inside: Definition, random: Random) -> str | None:
    """A line stands there a second time."""
    found = [node for node, _ in _lines(inside) if not isinstance(node, ast.Return)]
    if not found:
        return None
    node = random.choice(found)
    start, end = module.line(node.lineno), module.line(node.lineno + 1)
    return module.but(end, end, module.text[start:end])


def line_deleted(module: Module, inside: Definition, random: Random) -> str | None:
    """A line is gone."""
    found = [node for node, block in _lines(inside) if len(block) > 1]
    return module.without_lines(random.choice(found)) if found else None


def lines_swapped(module: Module, inside: Definition, random: Random) -> str | None:
    """Two lines have changed places."""
    single = dict(_lines(inside))
    found = [
        (node, following)
        for node, block in single.items()
        for following in block[block.index(node) + 1 : block.index(node) + 2]
        if following in single and following.lineno == node.lineno + 1 and ast.dump(following) != ast.dump(node)
    ]
    if not found:
        return None
    first = random.choice(found)[0].lineno
    start, middle, end = (module.line(first + number) for number in range(3))
    return module.but(start, end, module.text[middle:end] + module.text[start:middle])


def line_dedented(module: Module, inside: Definition, random: Random) -> str | None:
    """The last line of a branch is no longer part of it."""
    found = [
        node.body[-1]
        for node in ast.walk(inside)
        if isinstance(node, ast.If | ast.For | ast.With) and len(node.body) > 1 and not getattr(node, "orelse", ())
        if isinstance(node.body[-1], _SIMPLE) and node.body[-1].lineno == node.body[-1].end_lineno
    ]
    if not found:
        return None
    start = module.line(random.choice(found).lineno)
    return module.but(start, start + 4, "") if module.text.startswith("    ", start) else None


def comment_added(module: Module, inside: Definition, random: Random) -> str | None:
    """A comment stands between two lines."""
    found = [node for node, _ in _lines(inside)]
    if not found:
        return None
    start = module.line(random.choice(found).lineno)
    indent = len(module.text[start:]) - len(module.text[start:].lstrip(" "))
    return module.but(start, start, f"{' ' * indent}# this was not always so\n")


def docstring_changed(module: Module, inside: Definition, random: Random) -> str | None:
    """The docstring says something else."""
    if ast.get_docstring(inside) is None:
        return None
    node = inside.body[0]
    words = [place for place in range(module.start(node), module.end(node)) if module.text.startswith(" the ", place)]
    place = random.choice(words) if words else None
    return None if place is None else module.but(place, place + len(" the "), " no ")


def method_changed(module: Module, inside: Definition, random: Random) -> str | None:
    """A line of a method of a class is gone."""
    methods = [node for node in _methods(inside) if any(len(block) > 1 for _, block in _lines(node))]
    return line_deleted(module, random.choice(methods), random) if methods else None


def method_added(module: Module, inside: Definition, random: Random) -> str | None:
    """A class has one more method."""
    methods = [node for node in _methods(inside) if not node.decorator_list]
    if not methods:
        return None
    method = random.choice(methods)
    start, end = module.line(method.lineno), module.line((method.end_lineno or method.lineno) + 1)
    copied = module.text[start:end].replace(f"def {method.name}(", f"def {method.name}_again(", 1)
    return module.but(end, end, f"\n{copied}")


def method_deleted(module: Module, inside: Definition, random: Random) -> str | None:
    """A class has one method less."""
    # A comment above would speak of the next method then.
    methods = [
        node
        for node in _methods(inside)
        if not node.decorator_list and not module.text[module.line(node.lineno - 1) :].lstrip().startswith("#")
    ]
    return module.without_lines(random.choice(methods)) if methods and len(inside.body) > 1 else None


CHANGES: dict[str, Change] = {
    "a name changed": name_changed,
    "a number changed": number_changed,
    "a string changed": string_changed,
    "an operator changed": operator_changed,
    "a line added": line_added,
    "a line deleted": line_deleted,
    "two lines swapped": lines_swapped,
    "a line dedented": line_dedented,
    "a comment added": comment_added,
    "the docstring changed": docstring_changed,
    "a method of a class changed": method_changed,
    "a method of a class added": method_added,
    "a method of a class deleted": method_deleted,
}
"""What can happen to a body, by what a table calls it."""

_SIMPLE = (ast.Assign, ast.AugAssign, ast.Expr, ast.Return, ast.Raise, ast.Assert)


def _code(inside: Definition) -> Iterator[ast.expr]:
    """The expressions in the body that lie on one line each, without those in f-strings, whose places are unsure."""
    unsure = {id(part) for node in ast.walk(inside) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    for statement in inside.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.expr) and id(node) not in unsure and node.lineno == node.end_lineno:
                yield node


def _instead(module: Module, random: Random, found: Sequence[tuple[ast.expr, str]]) -> str | None:
    if not found:
        return None
    node, text = random.choice(found)
    return module.but(module.start(node), module.end(node), text)


def _lines(inside: Definition) -> Iterator[tuple[ast.stmt, list[ast.stmt]]]:
    """The simple statements that have a line for themselves, without docstrings, each with the block it stands in."""
    for node in ast.walk(inside):
        for block in (getattr(node, "body", None), getattr(node, "orelse", None)):
            for statement in block if isinstance(block, list) else ():
                if _is_line(statement) and statement.lineno > inside.lineno:
                    yield statement, block or []


def _is_line(statement: ast.stmt) -> bool:
    is_docstring = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return isinstance(statement, _SIMPLE) and statement.lineno == statement.end_lineno and not is_docstring


def _methods(inside: Definition) -> list[ast.FunctionDef]:
    if not isinstance(inside, ast.ClassDef):
        return []
    return [node for node in inside.body if isinstance(node, ast.FunctionDef)]
