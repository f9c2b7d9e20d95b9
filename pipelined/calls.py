"""Have the calls of blocks asked for, instead of made: inside a stage's forward its `Pass` answers them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from pipelined import torch_private
from pipelined.blocks import block_of, keeps_output
from pipelined.errors import PipelineError
from pipelined.layerdrop import dropped, layerdrop_inside
from pipelined.stage import CURRENT


@contextmanager
def answered(model: nn.Module) -> Iterator[None]:
    """While this lasts the model's blocks are answered for; outside a stage's forward they compute as ever.

    A block inside another is a part of it. Layers whose outputs alone are to be kept are computed again in the backward
    pass. Layers that are dropped now and then are dropped inside their blocks.
    """
    with layerdrop_inside(model) as probabilities, _replaced(model, probabilities):
        yield


@contextmanager
def _replaced(model: nn.Module, probabilities: Mapping[str, float]) -> Iterator[None]:
    found = outermost(model)
    before = [(module, module.__dict__.get("forward")) for module, _ in found]
    for module, name in found:
        module.__dict__["forward"] = _answering(model, module, name, probabilities.get(name, 0.0))
    try:
        yield
    finally:
        for module, own in before:
            del module.__dict__["forward"]
            if own is not None:
                module.__dict__["forward"] = own


def outermost(model: nn.Module) -> list[tuple[nn.Module, str]]:
    """The blocks of a model that are in no other block, with their names."""
    found: list[tuple[nn.Module, str]] = []
    for name, module in model.named_modules():
        if block_of(module, name) and not any(name.startswith(f"{other}.") for _, other in found):
            found.append((module, name))
    return found


def _answering(model: nn.Module, module: nn.Module, name: str, probability: float) -> Callable[..., Any]:
    compute: Callable[..., Any] = module.forward
    if probability:
        compute = dropped(compute, module, probability)
    again = keeps_output(module)

    def forward(*args: Any, **kwargs: Any) -> Any:
        run = model.__dict__.get(CURRENT)
        if run is not None:
            return run.call(name, recomputed(compute) if again and _trains(module) else compute, args, kwargs)
        if torch_private.in_backward():
            raise PipelineError(
                f"{name} is computed again in the backward pass from outside",
                hint="set recompute_checkpoint_every_layer in the IPUConfig instead",
            )
        if any(parameter.is_meta for parameter in module.parameters()):
            raise PipelineError(
                f"{name} is in another process",
                hint="have the session compute the model: evaluate(batch) returns it all",
            )
        return compute(*args, **kwargs)

    return forward


def recomputed(compute: Callable[..., Any]) -> Callable[..., Any]:
    """The same, but its activations are dropped and computed again when the backward pass needs them."""
    return lambda *args, **kwargs: checkpoint(compute, *args, use_reentrant=False, **kwargs)


def _trains(module: nn.Module) -> bool:
    return bool(module.training and torch.is_grad_enabled())
