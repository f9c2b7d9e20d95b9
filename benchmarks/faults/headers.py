"""Ways in which the parameters, bases and decorators of a class or function can come to differ from what they were."""

from __future__ import annotations

import ast
from itertools import pairwise
from random import Random

from faults.bodies import Change, Definition
from faults.model import Module


def default_lost(module: Module, inside: Definition, _: Random) -> str | None:
    """The first parameter with a default has none any more."""
    if not isinstance(inside, ast.FunctionDef) or not inside.args.defaults:
        return None
    default = inside.args.defaults[0]
    parameter = inside.args.args[-len(inside.args.defaults)]
    return module.but(module.end(parameter), module.end(default), "")


def default_changed(module: Module, inside: Definition, random: Random) -> str | None:
    """A parameter has another default."""
    if not isinstance(inside, ast.FunctionDef) or not inside.args.defaults:
        return None
    default = random.choice(inside.args.defaults)
    new = "None" if module.text[module.start(default) : module.end(default)] != "None" else "False"
    return module.but(module.start(default), module.end(default), new)


def parameter_removed(module: Module, inside: Definition, random: Random) -> str | None:
    """A parameter is gone."""
    pairs = list(pairwise(_named(inside)))
    if not pairs:
        return None
    parameter, following = random.choice(pairs)
    return module.but(module.start(parameter), module.start(following), "")


def parameter_added(module: Module, inside: Definition, random: Random) -> str | None:
    """There is one more parameter."""
    if not _named(inside):
        return None
    start = module.start(_named(inside)[0])
    return module.but(start, start, random.choice(("scale, ", "dtype: str, ", "generator, ")))


def parameter_renamed(module: Module, inside: Definition, random: Random) -> str | None:
    """A parameter has another name, in the header alone."""
    if not _named(inside):
        return None
    parameter = random.choice(_named(inside))
    start = module.start(parameter)
    return module.but(start, start + len(parameter.arg), f"new_{parameter.arg}")


def annotation_changed(module: Module, inside: Definition, random: Random) -> str | None:
    """A parameter has another type."""
    found = [each.annotation for each in _named(inside) if each.annotation is not None]
    if not found:
        return None
    annotation = random.choice(found)
    return module.but(module.start(annotation), module.end(annotation), "bytes")


def base_changed(module: Module, inside: Definition, _: Random) -> str | None:
    """The last base of a class is another one."""
    if not isinstance(inside, ast.ClassDef) or not inside.bases:
        return None
    return module.but(module.start(inside.bases[-1]), module.end(inside.bases[-1]), "object")


def decorator_removed(module: Module, inside: Definition, random: Random) -> str | None:
    """A decorator is gone."""
    if not inside.decorator_list:
        return None
    decorator = random.choice(inside.decorator_list)
    return module.but(module.line(decorator.lineno), module.line((decorator.end_lineno or decorator.lineno) + 1), "")


def decorator_changed(module: Module, inside: Definition, random: Random) -> str | None:
    """A decorator is another one."""
    if not inside.decorator_list:
        return None
    decorator = random.choice(inside.decorator_list)
    return module.but(module.start(decorator), module.end(decorator), "some.other")


def decorator_added(module: Module, inside: Definition, _: Random) -> str | None:
    """There is one more decorator, above the others and above the comments."""
    first = min(node.lineno for node in (inside, *inside.decorator_list))
    while module.text[module.line(first - 1) :].lstrip().startswith("#"):
        first -= 1
    indent = inside.col_offset * " "
    return module.but(module.line(first), module.line(first), f"{indent}@torch.compiler.disable\n")


PARAMETERS: dict[str, Change] = {
    "a default lost": default_lost,
    "a default changed": default_changed,
    "a parameter removed": parameter_removed,
    "a parameter added": parameter_added,
    "a parameter renamed": parameter_renamed,
    "an annotation changed": annotation_changed,
    "a base class changed": base_changed,
}
"""What can happen to parameters and bases, by what a table calls it."""

DECORATORS: dict[str, Change] = {
    "a decorator removed": decorator_removed,
    "a decorator changed": decorator_changed,
    "a decorator added": decorator_added,
}
"""What can happen to decorators."""


def _named(inside: Definition) -> list[ast.arg]:
    """The ordinary parameters after `self`."""
    if not isinstance(inside, ast.FunctionDef):
        return []
    return [parameter for parameter in inside.args.args if parameter.arg not in ("self", "cls")]
