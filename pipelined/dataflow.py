"""What flows between the blocks of a model: one forward pass on small or empty tensors, noting what comes from where.

A value is a tensor that a block returns. Whatever is computed from it outside blocks derives from it; a block that is
given such a tensor consumes the value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any
from zlib import crc32

if TYPE_CHECKING:
    from torch import nn

    from pipelined.decisions import Decisions


@dataclass(frozen=True)
class Value:
    """A tensor that a call returns; `call` is an index into `Dataflow.calls`.

    `written` says that code outside blocks writes into it, so that whoever passes it on has to copy it first.
    """

    call: int
    shape: tuple[int, ...]
    dtype: str
    bytes: int
    written: bool = False


@dataclass(frozen=True)
class Slot:
    """Where a value stands in what a call returns; an index into `Dataflow.values`."""

    value: int


@dataclass(frozen=True)
class Argument:
    """Where one of the call's own arguments stands in what it returns; an index into its flattened arguments."""

    index: int


@dataclass(frozen=True)
class Returned:
    """What a call returns, with slots in place of tensors: the leaves, and the pytree that they hang in."""

    leaves: tuple[Any, ...] = ()
    spec: Any = None


@dataclass(frozen=True)
class Side:
    """What a part of a block returns when it is called for the `turn`th time in one call of the block.

    `given` are its arguments: those of the block as such, and None for others. Leaves that nobody reads are None.
    """

    part: str
    turn: int
    given: tuple[Any, ...]
    returned: Returned


@dataclass(frozen=True)
class Call:
    """One call of a block: the module, its IPU, its operations, and the indices of the values that it consumes.

    `flops` counts a multiplication and an addition as two. `sides` leave it otherwise than as what it returns.
    """

    module: str
    ipu: int
    consumes: frozenset[int]
    flops: int = 0
    returned: Returned = field(default=Returned(), compare=False, repr=False)
    sides: tuple[Side, ...] = field(default=(), compare=False, repr=False)

    @property
    def makes(self) -> tuple[int, ...]:
        """The values that it returns, by its sides too."""
        leaves = (
            leaf for returned in (self.returned, *(side.returned for side in self.sides)) for leaf in returned.leaves
        )
        return tuple(leaf.value for leaf in leaves if isinstance(leaf, Slot))


@dataclass(frozen=True)
class Dataflow:
    """The calls of blocks in their order, the values that they return, and those that the model's output consumes.

    `glue_parameters` are read outside blocks. `obstacles` say in words what no cut of the model could get right.
    `loss` is the shape of the loss, or None where the output has none. `decided` is what inputs have to have in common
    with those of the dry run, besides their shapes, for all this to be so.
    """

    calls: tuple[Call, ...]
    values: tuple[Value, ...]
    outputs: frozenset[int]
    glue_parameters: frozenset[str] = field(default=frozenset(), compare=False)
    obstacles: tuple[str, ...] = field(default=(), compare=False)
    loss: tuple[int, ...] | None = field(default=None, compare=False)
    decided: Decisions | None = field(default=None, compare=False, repr=False)

    @cached_property
    def digest(self) -> int:
        """A number that differs where another cut would follow: the processes have to have the same."""
        calls = [(call.module, call.ipu, sorted(call.consumes)) for call in self.calls]
        return crc32(repr((calls, self.values, sorted(self.outputs))).encode())


def dataflow(model: nn.Module, inputs: Mapping[str, Any], *, empty: bool = False) -> Dataflow:
    """The flow of one forward pass of a parallelized model.

    On the meta device, or with `empty`, it takes no memory and computes nothing inside blocks or after them; `empty`
    leaves real what is computed from the inputs alone, so that a mask can be asked what it masks, and needs no weights.
    A block inside another is a part of it. What the forward raises is raised, and no hook is left behind.
    """
    from pipelined.recording import record

    return record(model, inputs, empty=empty)
