"""What has to be installed for a block of an init to run: tests on availability, brought into one normal form."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import NamedTuple

_AVAILABLE = re.compile(r"is_(\w+)_available")
_VERSION = re.compile(r"is_(\w+)_version")


class Condition(NamedTuple):
    """A formula over backends: `op` is `all`, `any`, `is` or `not`; the last two hold an `atom`, the others parts.

    `all` of nothing always holds, `any` of nothing never. Negations stand before atoms only.
    """

    op: str
    parts: tuple[Condition, ...] = ()
    atom: str = ""

    def __str__(self) -> str:
        r"""The formula in source order, for messages.

        >>> test = ast.parse("not (is_torch_available() and is_vision_available())", mode="eval").body
        >>> str(condition_of(test)), str(negated(condition_of(test)))
        ('not torch or not vision', 'torch and vision')
        """
        if self.op in ("is", "not"):
            return self.atom if self.op == "is" else f"not {self.atom}"
        if not self.parts:
            return "nothing" if self.op == "all" else "the impossible"
        word = " and " if self.op == "all" else " or "
        return word.join(f"({part})" if len(part.parts) > 1 else str(part) for part in self.parts)

    @property
    def key(self) -> str:
        """The formula in sorted order: equal keys mean that two blocks run under the same circumstances."""
        if self.op in ("is", "not"):
            return f"{self.op} {self.atom}"
        return f"{self.op}({', '.join(sorted(part.key for part in self.parts))})"

    @property
    def backends(self) -> tuple[str, ...]:
        """The backends that are asked for by name, in source order, versions left out."""
        if self.op == "is" and self.atom.isidentifier():
            return (self.atom,)
        return tuple(dict.fromkeys(name for part in self.parts for name in part.backends))


ALWAYS = Condition("all")


def all_of(conditions: Iterable[Condition]) -> Condition:
    """All of the conditions together."""
    return _joined("all", conditions)


def negated(condition: Condition) -> Condition:
    """The opposite, with negations pushed down to the atoms."""
    opposite = {"all": "any", "any": "all", "is": "not", "not": "is"}[condition.op]
    return Condition(opposite, tuple(map(negated, condition.parts)), condition.atom)


def condition_of(test: ast.expr) -> Condition:
    """The condition that an expression states; what asks for no backend becomes an atom as it is written."""
    if isinstance(test, ast.BoolOp):
        return _joined("all" if isinstance(test.op, ast.And) else "any", map(condition_of, test.values))
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return negated(condition_of(test.operand))
    if isinstance(test, ast.Constant) and isinstance(test.value, bool):
        return ALWAYS if test.value else negated(ALWAYS)
    return Condition("is", atom=_atom(test))


def _joined(op: str, conditions: Iterable[Condition]) -> Condition:
    parts: dict[Condition, None] = {}
    for condition in conditions:
        parts.update(dict.fromkeys(condition.parts if condition.op == op else (condition,)))
    return next(iter(parts)) if len(parts) == 1 else Condition(op, tuple(parts))


def _atom(test: ast.expr) -> str:
    if isinstance(test, ast.Call) and isinstance(test.func, ast.Name | ast.Attribute):
        name = test.func.id if isinstance(test.func, ast.Name) else test.func.attr
        arguments = [str(argument.value) for argument in test.args if isinstance(argument, ast.Constant)]
        if not test.args and not test.keywords and (found := _AVAILABLE.fullmatch(name)):
            return found[1]
        if len(arguments) == len(test.args) == 2 and (found := _VERSION.fullmatch(name)):
            return f"{found[1]} {arguments[0]} {arguments[1]}"
    return ast.unparse(test)
