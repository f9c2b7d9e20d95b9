"""What leaves a block by its side: a part of it returns something that a forward hook keeps.

That is how transformers collects attentions and the logits of routers. Where the block runs its parts are heard, and
elsewhere the hooks of a part are told what it returned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_flatten
from torch.utils.weak import WeakIdKeyDictionary

from pipelined.dataflow import Argument, Returned, Side, Slot


class Parts:
    """What parts of blocks return to hooks in a dry run, so that it can be carried once somebody reads it."""

    def __init__(self) -> None:
        self._notes: list[_Note] = []
        self._places: Any = WeakIdKeyDictionary()

    def note(self, part: str, call: int, args: Sequence[Any], output: Any, given: Sequence[Any]) -> None:
        """Note what a part returns in this call of its block, which was `given` these leaves."""
        leaves, spec = tree_flatten(output)
        numbers = {id(leaf): Argument(index) for index, leaf in enumerate(given)}
        note = _Note(part, call, [numbers.get(id(one)) for one in args], [None] * len(leaves), spec)
        self._notes.append(note)
        for place, leaf in enumerate(leaves):
            if isinstance(leaf, torch.Tensor):
                self._places[leaf] = [*self._places.get(leaf, ()), (note, place)]

    def knows(self, tensor: torch.Tensor) -> bool:
        """Whether a part has returned the tensor."""
        return tensor in self._places

    def carry(self, tensor: torch.Tensor, value: int) -> None:
        """From now on the tensor is this value, an index into `Dataflow.values`."""
        for note, place in self._places.pop(tensor):
            note.leaves[place] = Slot(value)

    def sides(self, call: int) -> tuple[Side, ...]:
        """What is to be carried of this call."""
        turns: Counter[str] = Counter()
        found = []
        for note in self._notes:
            if note.call != call:
                continue
            turn = turns[note.part]
            turns[note.part] += 1
            if any(isinstance(leaf, Slot) for leaf in note.leaves):
                found.append(Side(note.part, turn, tuple(note.given), Returned(tuple(note.leaves), note.spec)))
        return tuple(found)


@dataclass
class _Note:
    part: str
    call: int
    given: list[Any]
    leaves: list[Any]
    spec: Any


@contextmanager
def heard(model: nn.Module, sides: Sequence[Side]) -> Iterator[list[Any]]:
    """What these parts return while this lasts, in their order; None for those that are not called."""
    found: list[Any] = [None] * len(sides)
    with ExitStack() as stack:
        for part in dict.fromkeys(side.part for side in sides):
            places = {side.turn: place for place, side in enumerate(sides) if side.part == part}
            stack.enter_context(model.get_submodule(part).register_forward_hook(_keeping(found, places)))
        yield found


def _keeping(found: list[Any], places: dict[int, int]) -> Callable[..., None]:
    turns = count()

    def hook(module: nn.Module, args: Any, output: Any) -> None:
        place = places.get(next(turns))
        if place is not None:
            found[place] = output

    return hook


def retell(part: nn.Module, args: Sequence[Any], output: Any) -> None:
    """Call the hooks of a part as if it had been given these arguments and had returned this."""
    own = part.__dict__.get("forward")
    part.__dict__["forward"] = lambda *_: output
    try:
        part(*args)
    finally:
        del part.__dict__["forward"]
        if own is not None:
            part.__dict__["forward"] = own
