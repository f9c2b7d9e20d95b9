"""Marks that say which module runs on which IPU: poptorch's own where it is installed, ours elsewhere.

`block_of` and `blocks` read both kinds; they are what the torch engines go by.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import torch
from torch import nn
from torch.utils.hooks import RemovableHandle

HAS_POPTORCH = find_spec("poptorch") is not None

if HAS_POPTORCH:
    from poptorch import (
        BeginBlock,
        Block,
        BlockFunction,
        MatMulSerializationMode,
        identity_loss,
        recomputationCheckpoint,
        removeBlocks,
    )
else:
    from pipelined.stand_ins import (
        BeginBlock,
        Block,
        BlockFunction,
        MatMulSerializationMode,
        identity_loss,
        recomputationCheckpoint,
        removeBlocks,
    )

__all__ = [
    "HAS_POPTORCH",
    "BeginBlock",
    "Block",
    "BlockFunction",
    "BlockMark",
    "MatMulSerializationMode",
    "block_of",
    "blocks",
    "identity_loss",
    "keeps_output",
    "recomputationCheckpoint",
    "recomputation_checkpoint",
    "removeBlocks",
]


@dataclass(frozen=True)
class BlockMark:
    """Where a block begins: `module` is its name in the model."""

    module: str
    user_id: str | None
    ipu_id: int | None


def block_of(module: nn.Module, name: str = "") -> BlockMark | None:
    """The block that begins with this module, if one does."""
    for hook in module._forward_pre_hooks.values():
        if _is_mark(hook):
            return BlockMark(name, hook._user_id, hook._ipu_id)
    return None


def blocks(model: nn.Module) -> tuple[BlockMark, ...]:
    """All blocks of a model, in the order in which its modules are declared."""
    return tuple(mark for name, module in model.named_modules() if (mark := block_of(module, name)))


def recomputation_checkpoint(module: nn.Module) -> RemovableHandle:
    """Keep the module's output for the backward pass where other activations are recomputed; return the hook's handle.

    Every tensor of the output is kept, whatever containers it stands in; other values pass through as they are.
    """
    return module.register_forward_hook(_keep_output)


def keeps_output(module: nn.Module) -> bool:
    """Whether `recomputation_checkpoint` was asked of the module."""
    return _keep_output in module._forward_hooks.values()


def _is_mark(hook: object) -> bool:
    return type(hook).__name__ == "_BlockHook" and hasattr(hook, "_ipu_id")


def _keep_output(module: nn.Module, args: tuple[Any, ...], output: Any) -> Any:
    return _kept(output)


def _kept(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return recomputationCheckpoint(value)
    if isinstance(value, dict):
        # In place of a copy: a ModelOutput must stay one.
        for key, item in value.items():
            value[key] = _kept(item)
        return value
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_kept(item) for item in value))
    if isinstance(value, tuple | list):
        return type(value)(_kept(item) for item in value)
    return value
