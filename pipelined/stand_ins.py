"""What we use of poptorch, for where it is not installed: the same names, signatures and errors.

Off an IPU poptorch's own do nothing to what a module computes, and neither do these. `blocks.py` chooses.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import torch
from torch import nn

from pipelined.errors import BlockError

P = ParamSpec("P")
R = TypeVar("R")


class Block(nn.Module):
    """A block as a context manager: `with Block("head", ipu_id=1): ...`. Off an IPU it does nothing."""

    _stages_manager = None

    def __init__(self, user_id: str | None = None, ipu_id: int | None = None) -> None:
        super().__init__()
        self._user_id = user_id
        self._ipu_id = ipu_id

    @staticmethod
    def useAutoId() -> None:  # noqa: N802 - poptorch's name
        """Number the blocks without a name anew; there is nothing to number off an IPU."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, *raised: object) -> None:
        return None


def BlockFunction(  # noqa: N802 - poptorch's name
    user_id: str | None = None, ipu_id: int | None = None
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function whose whole body is a block."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def inside(*args: P.args, **kwargs: P.kwargs) -> R:
            with Block(user_id, ipu_id):
                return function(*args, **kwargs)

        return inside

    return decorate


def BeginBlock(layer_to_call: Any, user_id: str | None = None, ipu_id: int | None = None) -> Any:  # noqa: N802
    """Mark a module as the beginning of a block and return it; a plain callable is wrapped in a module.

    BlockError where the module begins a block already, or where there is nothing to call.
    """
    if not isinstance(layer_to_call, nn.Module):
        if callable(layer_to_call):
            return _BlockCallable(layer_to_call, user_id, ipu_id)
        raise BlockError(f"{layer_to_call!r} is not an instance of torch.nn.Module or function.")
    for hook in layer_to_call._forward_pre_hooks.values():
        if isinstance(hook, _BlockHook):
            raise BlockError(
                f"module has already been assigned to a block: {type(layer_to_call).__name__} has {hook} and cannot"
                f" begin {user_id!r} on IPU {ipu_id}",
                hint="mark each module once; call deparallelize() before placing it anew",
            )
    layer_to_call.register_forward_pre_hook(_BlockHook(user_id, ipu_id))
    return layer_to_call


def removeBlocks(module: nn.Module) -> None:  # noqa: N802 - poptorch's name
    """Take the marks off a module and all modules in it."""
    assert isinstance(module, nn.Module)
    for part in module.modules():
        for key, hook in list(part._forward_pre_hooks.items()):
            if isinstance(hook, _BlockHook):
                del part._forward_pre_hooks[key]


def recomputationCheckpoint(*tensors: Any) -> Any:  # noqa: N802 - poptorch's name
    """Tensors that are kept, not recomputed, in the backward pass; off an IPU they come back as they are."""
    if len(tensors) == 1 and isinstance(tensors[0], tuple | list):
        return type(tensors[0])(recomputationCheckpoint(*tensors[0]))
    if not all(isinstance(tensor, torch.Tensor) for tensor in tensors):
        raise ValueError("All inputs must be tensors")
    return tensors[0] if len(tensors) == 1 else tensors


def identity_loss(x: torch.Tensor, reduction: str) -> torch.Tensor:
    """Mark a tensor as part of the loss and reduce it by `sum`, `mean` or `none`."""
    reductions = {"sum": torch.sum, "mean": torch.mean, "none": torch.clone}
    if reduction not in reductions:
        raise ValueError(f"Unsupported reduction type {reduction!r}, choose one of {', '.join(reductions)}")
    return reductions[reduction](x)


class MatMulSerializationMode(Enum):
    """The dimension along which a matrix product is cut."""

    InputChannels = "input_channels"
    ReducingDim = "reducing_dim"
    OutputChannels = "output_channels"
    Disabled = "none"


class _BlockHook:
    """The mark itself: a hook that tells and does nothing."""

    def __init__(self, user_id: str | None, ipu_id: int | None) -> None:
        self._user_id = user_id
        self._ipu_id = ipu_id

    def __call__(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        return None

    def __repr__(self) -> str:
        return f"BeginBlock(user_id={self._user_id}, ipu_id={self._ipu_id})"


class _BlockCallable(nn.Module):
    """A plain function as the beginning of a block."""

    def __init__(self, function: Callable[..., Any], user_id: str | None, ipu_id: int | None) -> None:
        super().__init__()
        self._function = function
        self.register_forward_pre_hook(_BlockHook(user_id, ipu_id))

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)
