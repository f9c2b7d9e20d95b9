"""What flows between the blocks of a model: one forward pass on small or empty tensors, noting what comes from where.

A value is a tensor that a block returns. Whatever is computed from it outside blocks derives from it; a block that is
given such a tensor consumes the value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry
from torch.utils.weak import WeakIdKeyDictionary

from pipelined.blocks import BlockMark, block_of


@dataclass(frozen=True)
class Value:
    """A tensor that a call returns; `call` is an index into `Dataflow.calls`."""

    call: int
    shape: tuple[int, ...]
    dtype: str
    bytes: int


@dataclass(frozen=True)
class Call:
    """One call of a block: the module, its IPU, its operations, and the indices of the values that it consumes.

    `flops` counts a multiplication and an addition as two.
    """

    module: str
    ipu: int
    consumes: frozenset[int]
    flops: int = 0


@dataclass(frozen=True)
class Dataflow:
    """The calls of blocks in their order, the values that they return, and those that the model's output consumes."""

    calls: tuple[Call, ...]
    values: tuple[Value, ...]
    outputs: frozenset[int]


def dataflow(model: nn.Module, inputs: Mapping[str, Any]) -> Dataflow:
    """The flow of one forward pass of a parallelized model; on the meta device it takes no memory.

    A block inside another is a part of it. What the forward raises is raised, and no hook is left behind.
    """
    run = _Run()
    marked = [(module, mark) for name, module in model.named_modules() if (mark := block_of(module, name))]
    handles = [
        handle
        for module, mark in marked
        for handle in (
            module.register_forward_pre_hook(run.enter(mark), with_kwargs=True),
            module.register_forward_hook(run.leave),
        )
    ]
    try:
        with torch.no_grad(), run:
            output = model(**inputs)
    finally:
        for handle in handles:
            handle.remove()
    return Dataflow(tuple(run.calls), tuple(run.values), run.origins(output))


class _Run(TorchDispatchMode):
    """Carries origins from the inputs of every operation outside blocks to its outputs, and counts those inside."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[Call] = []
        self.values: list[Value] = []
        self._origins: Any = WeakIdKeyDictionary()
        self._depth = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        if self._depth:
            self._count(func, args, kwargs, result)
        elif origins := self.origins((args, kwargs)):
            for tensor in _tensors(result):
                self._origins[tensor] = origins
        return result

    def origins(self, value: Any) -> frozenset[int]:
        """The values that the tensors in it derive from."""
        return frozenset().union(*(self._origins.get(tensor, frozenset()) for tensor in _tensors(value)))

    def enter(self, mark: BlockMark) -> Any:
        """A hook that notes what a call of this block is given."""

        def hook(module: nn.Module, args: Any, kwargs: Any) -> None:
            if self._depth == 0:
                self.calls.append(Call(mark.module, mark.ipu_id or 0, self.origins((args, kwargs))))
            self._depth += 1

        return hook

    def leave(self, module: nn.Module, args: Any, output: Any) -> None:
        """A hook that notes what a call returns."""
        self._depth -= 1
        if self._depth:
            return
        for tensor in _tensors(output):
            self._origins[tensor] = frozenset({len(self.values)})
            size = tensor.numel() * tensor.element_size()
            dtype = str(tensor.dtype).removeprefix("torch.")
            self.values.append(Value(len(self.calls) - 1, tuple(tensor.shape), dtype, size))

    def _count(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        formula = flop_registry.get(_COUNTED_AS.get(func.overloadpacket, func.overloadpacket))
        if formula is not None:
            call = self.calls[-1]
            self.calls[-1] = replace(call, flops=call.flops + formula(*args, **kwargs, out_val=result))


_COUNTED_AS = {
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: torch.ops.aten._scaled_dot_product_flash_attention
}
"""Operations that torch has no formula for, and others that take the same number of steps."""


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    for leaf in tree_leaves(value):
        if isinstance(leaf, torch.Tensor):
            yield leaf
