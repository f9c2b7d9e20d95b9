"""What code outside blocks decides by what its inputs hold: a dry run is good for inputs that decide alike.

Operations that lead from the inputs to a number or a truth value are noted, and computed again for other inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map
from torch.utils.weak import WeakIdKeyDictionary

from pipelined import torch_private


@dataclass(frozen=True)
class Leaf:
    """A tensor of the inputs, by its place among their leaves."""

    index: int


@dataclass(frozen=True, eq=False)
class Made:
    """What an operation makes, or the part of it with this index; `Leaf` and `Made` stand for tensors it is given."""

    operation: Callable[..., Any]
    args: Any
    kwargs: Any
    part: int = 0

    def on(self, leaves: list[Any], known: dict[Made, Any]) -> Any:
        """What it makes of these leaves of other inputs."""
        if self not in known:
            args, kwargs = tree_map(lambda one: _on(one, leaves, known), (self.args, self.kwargs))
            result = self.operation(*args, **kwargs)
            known[self] = result[self.part] if isinstance(result, tuple | list) else result
        return known[self]


@dataclass(frozen=True)
class Decisions:
    """What was decided by, each with what it was; by something that cannot be computed again where it is None."""

    found: tuple[tuple[Made | None, Any], ...]

    def hold(self, inputs: Mapping[str, Any]) -> bool:
        """Whether these inputs, which have the same shapes, decide alike."""
        leaves, known = tree_leaves(dict(inputs)), dict[Made, Any]()
        with torch.no_grad():
            return all(made is not None and made.on(leaves, known) == value for made, value in self.found)


class Deciding:
    """Takes notice of decisions while a forward runs on these inputs."""

    def __init__(self, inputs: Mapping[str, Any]) -> None:
        self._made: Any = WeakIdKeyDictionary()
        for index, leaf in enumerate(tree_leaves(dict(inputs))):
            if isinstance(leaf, torch.Tensor):
                self._made[leaf] = Leaf(index)
        self._found: list[tuple[int, Made | None, Any]] = []

    def note(self, func: Any, args: Any, kwargs: Any, result: Any, *, calls: int) -> None:
        """Note an operation on what does not depend on any block, before which blocks were called so often."""
        tensors = [one for one in tree_leaves((args, kwargs)) if _is_tensor(one)]
        given = [self._made[one] for one in tensors if one in self._made]
        if not given:
            return
        known = None not in given and not any(map(torch_private.is_fake, tensors))
        known = known and torch.Tag.nondeterministic_seeded not in func.tags
        made = Made(func, *tree_map(lambda one: self._made.get(one, one) if _is_tensor(one) else one, (args, kwargs)))
        if isinstance(result, bool | int | float):
            self._found.append((calls, made if known else None, result))
        parts = result if isinstance(result, tuple | list) else (result,)
        for index, one in enumerate(parts):
            if _is_tensor(one):
                # What is written into is no longer what its operation makes.
                changed = func._schema.is_mutable or not known
                self._made[one] = None if changed else Made(func, made.args, made.kwargs, index)

    def seen(self, calls: int) -> Decisions:
        """All of them, of a forward with so many calls: a number that is read after the last is one that it returns."""
        return Decisions(
            tuple((made, value) for before, made, value in self._found if before < calls or isinstance(value, bool))
        )


def _on(one: Any, leaves: list[Any], known: dict[Made, Any]) -> Any:
    if isinstance(one, Leaf):
        return leaves[one.index]
    return one.on(leaves, known) if isinstance(one, Made) else one


def _is_tensor(one: Any) -> bool:
    return isinstance(one, torch.Tensor)
