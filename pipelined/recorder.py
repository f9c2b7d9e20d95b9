"""What is noted in a dry run: hooks note calls of blocks, a dispatch mode carries origins through the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_leaves, tree_leaves_with_path
from torch.utils.flop_counter import flop_registry
from torch.utils.weak import WeakIdKeyDictionary

from pipelined.blocks import BlockMark
from pipelined.dataflow import Argument, Call, Dataflow, Returned, Slot, Value
from pipelined.decisions import Deciding
from pipelined.empty import Empty
from pipelined.microbatches import loss_of
from pipelined.sides import Parts

SCALARS = (bool, int, float, str, type(None))


class Recorder(TorchDispatchMode):
    """Carries origins from the inputs of every operation outside blocks to its outputs, and counts those inside."""

    def __init__(self, model: nn.Module, inputs: Mapping[str, Any], empty: Empty | None) -> None:
        super().__init__()
        self.calls: list[Call] = []
        self.values: list[Value] = []
        self._empty = empty
        self._origins: Any = WeakIdKeyDictionary()
        self._inside: Any = WeakIdKeyDictionary()
        """What was made inside a block, and by which call."""
        self._stained: Any = WeakIdKeyDictionary()
        """What a block was given and wrote into, and by which call."""
        self._index: Any = WeakIdKeyDictionary()
        self._names: Any = WeakIdKeyDictionary({tensor: name for name, tensor in model.named_parameters()})
        self._buffers: Any = WeakIdKeyDictionary({tensor: name for name, tensor in model.named_buffers()})
        self._glue: set[str] = set()
        self._obstacles: dict[str, None] = {}
        self._parts = Parts()
        self._given: list[Any] = []
        """What the block that is running was given."""
        self._decisions: list[int] = []
        """How many calls had been made whenever code outside blocks decided by what a block returned."""
        self._deciding = Deciding(inputs)
        self._depth = 0

    def flow(self, output: Any) -> Dataflow:
        """What was seen, once the forward has returned this."""
        for path, leaf in tree_leaves_with_path(output):
            if isinstance(leaf, torch.Tensor):
                self._side(leaf, f"the output has {_spelled(path)}")
        for tensor in _hidden(output):
            self._side(tensor, "the output has a cache")
        # After the last call everything that the output needs is there.
        if any(calls < len(self.calls) for calls in self._decisions):
            self._obstacles["code outside blocks decides by what a block returned"] = None
        consumed = self.origins(output)
        glue = frozenset(self._glue)
        loss = loss_of(output)
        shape = tuple(loss.shape) if isinstance(loss, torch.Tensor) else None
        decided = self._deciding.seen(len(self.calls))
        calls = tuple(replace(call, sides=self._parts.sides(index)) for index, call in enumerate(self.calls))
        return Dataflow(calls, tuple(self.values), consumed, glue, tuple(self._obstacles), shape, decided)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        return self._in_block(func, args, kwargs) if self._depth else self._outside(func, args, kwargs)

    def _in_block(self, func: Any, args: Any, kwargs: Any) -> Any:
        call = self.calls[-1]
        for tensor in tensors_in((args, kwargs)):
            maker = self._inside.get(tensor)
            if maker is not None and self.calls[maker].module != call.module:
                self._side(tensor, f"{call.module} reads a tensor")
        # What a block reads without having been given it: code outside has left it somewhere, or another block has.
        if not call.consumes.issuperset(origins := self.origins((args, kwargs))):
            self.calls[-1] = replace(call, consumes=call.consumes | origins)
        result = self._compute(func, args, kwargs)
        self._count(func, args, kwargs, result)
        for tensor in tensors_in(result):
            if tensor not in self._origins and tensor not in self._inside:
                self._inside[tensor] = len(self.calls) - 1
        self._note_writes(func, args, inside=True)
        return result

    def _outside(self, func: Any, args: Any, kwargs: Any) -> Any:
        for tensor in tensors_in((args, kwargs)):
            if name := self._names.get(tensor):
                self._glue.add(name)
            self._side(tensor, "code outside blocks reads a tensor")
        origins = self.origins((args, kwargs))
        if origins and func is torch.ops.aten._local_scalar_dense.default:
            self._decisions.append(len(self.calls))
        result = self._compute(func, args, kwargs)
        if not origins:
            self._deciding.note(func, args, kwargs, result, calls=len(self.calls))
        for tensor in tensors_in(result) if origins else ():
            self._origins[tensor] = origins
        self._note_writes(func, args, inside=False)
        return result

    def origins(self, value: Any) -> frozenset[int]:
        """The values that the tensors in it derive from."""
        return frozenset().union(*(self._origins.get(tensor, frozenset()) for tensor in tensors_in(value)))

    def enter(self, mark: BlockMark) -> Any:
        """A hook that notes what a call of this block is given."""

        def hook(module: nn.Module, args: Any, kwargs: Any) -> None:
            if self._depth == 0:
                self._given = tree_leaves((args, kwargs))
                for tensor in tensors_in((args, kwargs)):
                    self._side(tensor, f"{mark.module} is given a tensor")
                self.calls.append(Call(mark.module, mark.ipu_id or 0, self.origins((args, kwargs))))
            self._depth += 1

        return hook

    def part(self, name: str) -> Any:
        """A hook that notes what a part of a block returns, if somebody else has a hook there."""

        def hook(module: nn.Module, args: Any, output: Any) -> None:
            if self._depth and len(module._forward_hooks) > 1:
                self._parts.note(name, len(self.calls) - 1, args, output, self._given)

        return hook

    def leave(self, module: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
        """A hook that notes what a call returns."""
        self._depth -= 1
        if self._depth:
            return
        leaves, spec = tree_flatten(output)
        noted = tuple(self._noted(leaf) for leaf in leaves)
        self.calls[-1] = replace(self.calls[-1], returned=Returned(noted, spec))
        self._given = []

    def _noted(self, leaf: Any) -> Any:
        """What stands for a leaf of what a call returns."""
        if isinstance(leaf, torch.Tensor):
            return Slot(self._valued(leaf, len(self.calls) - 1))
        if isinstance(leaf, SCALARS):
            return leaf
        return next((Argument(index) for index, one in enumerate(self._given) if one is leaf), leaf)

    def _valued(self, tensor: torch.Tensor, call: int) -> int:
        """Make a value of a tensor that leaves this call; its index."""
        index = len(self.values)
        self._origins[tensor] = frozenset({index})
        self._index[tensor] = index
        self._inside.pop(tensor, None)
        self._stained.pop(tensor, None)
        size = tensor.numel() * tensor.element_size()
        dtype = str(tensor.dtype).removeprefix("torch.")
        self.values.append(Value(call, tuple(tensor.shape), dtype, size))
        return index

    def _compute(self, func: Any, args: Any, kwargs: Any) -> Any:
        if self._empty is None:
            return func(*args, **kwargs)
        return self._empty.run(func, args, kwargs, inside=self._depth > 0)

    def _side(self, tensor: torch.Tensor, who: str) -> None:
        """Have a tensor carried that left a block otherwise than as what the block returned, or note an obstacle."""
        maker = self._inside.get(tensor)
        if maker is not None and self._parts.knows(tensor):
            self._parts.carry(tensor, self._valued(tensor, maker))
            return
        for how, calls in (("makes inside", self._inside), ("writes into", self._stained)):
            call = calls.get(tensor)
            if call is not None:
                self._obstacles[f"{who} that {self.calls[call].module} {how} and does not return"] = None

    def _note_writes(self, func: Any, args: Any, *, inside: bool) -> None:
        """Note which values an operation writes into, itself or through a view."""
        if not func._schema.is_mutable:
            return
        for argument, given in zip(func._schema.arguments, args, strict=False):
            if argument.alias_info is None or not argument.alias_info.is_write:
                continue
            for tensor in tensors_in(given):
                for target in (tensor, tensor._base) if tensor._base is not None else (tensor,):
                    self._note_write(target, self.origins(args), inside=inside)

    def _note_write(self, tensor: torch.Tensor, origins: frozenset[int], *, inside: bool) -> None:
        index = self._index.get(tensor)
        if inside:
            if self._inside.get(tensor) != len(self.calls) - 1:
                self._stained[tensor] = len(self.calls) - 1
            return
        if origins:
            self._origins[tensor] = self._origins.get(tensor, frozenset()) | origins
        if index is not None:
            self.values[index] = replace(self.values[index], written=True)
        if name := self._buffers.get(tensor):
            self._obstacles[f"code outside blocks writes the buffer {name}"] = None

    def _count(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        formula = flop_registry.get(_COUNTED_AS.get(func.overloadpacket, func.overloadpacket))
        if formula is not None:
            call = self.calls[-1]
            self.calls[-1] = replace(call, flops=call.flops + formula(*args, **kwargs, out_val=result))


_COUNTED_AS = {
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: torch.ops.aten._scaled_dot_product_flash_attention
}
"""Operations that torch has no formula for, and others that take the same number of steps."""


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """The tensors in whatever containers they stand."""
    for leaf in tree_leaves(value):
        if isinstance(leaf, torch.Tensor):
            yield leaf


def _hidden(value: Any) -> Iterator[torch.Tensor]:
    """The tensors in the layers of a cache, or of the caches that it is made of, which no pytree shows."""
    for leaf in tree_leaves(value):
        for cache in (leaf, *getattr(leaf, "__dict__", {}).values()):
            for layer in getattr(cache, "layers", ()):
                yield from (one for one in vars(layer).values() if isinstance(one, torch.Tensor))


def _spelled(path: Any) -> str:
    return "".join(str(key) for key in path).replace("['", ".").replace("']", "").lstrip(".") or "a tensor"
