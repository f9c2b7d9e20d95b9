"""LayerDrop where layers run in different processes: whether one is skipped is decided inside its block.

Models decide it outside, by a random number, so that a block would sometimes not be called at all. Here it is called
always, and sometimes returns what it was given. See https://huggingface.co/papers/1909.11556.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import unwrap
from typing import Any

import torch
from torch import nn

_SETTINGS = "_pipeline_layerdrop"


@contextmanager
def layerdrop_inside(model: nn.Module) -> Iterator[dict[str, float]]:
    """While this lasts the model's own LayerDrop is off; give the probability of each layer that has one, by name."""
    found: dict[str, float] = {}
    settings: dict[tuple[int, str], tuple[Any, str, float]] = {}
    for name, module in model.named_modules():
        for owner, attribute in _settings(module):
            probability = getattr(owner, attribute)
            if isinstance(probability, float) and probability > 0:
                settings[id(owner), attribute] = (owner, attribute, probability)
                found.update(dict.fromkeys(_layers(module, name), probability))
    for owner, attribute, _ in settings.values():
        setattr(owner, attribute, 0.0)
    model.__dict__[_SETTINGS] = tuple(settings.values())
    try:
        yield found
    finally:
        del model.__dict__[_SETTINGS]
        for owner, attribute, probability in settings.values():
            setattr(owner, attribute, probability)


@contextmanager
def layerdrop_as_set(model: nn.Module) -> Iterator[None]:
    """While this lasts the configuration says what its owner set: a session that is open has it changed."""
    settings = model.__dict__.get(_SETTINGS, ())
    for owner, attribute, probability in settings:
        setattr(owner, attribute, probability)
    try:
        yield
    finally:
        for owner, attribute, _ in settings:
            setattr(owner, attribute, 0.0)


def dropped(compute: Callable[..., Any], module: nn.Module, probability: float) -> Callable[..., Any]:
    """The same layer, which in training returns its first argument with this probability."""

    def maybe(*args: Any, **kwargs: Any) -> Any:
        if module.training and torch.rand(()) < probability:
            return args[0] if args else next(iter(kwargs.values()))
        return compute(*args, **kwargs)

    return maybe


def _settings(module: nn.Module) -> Iterator[tuple[Any, str]]:
    """Where a probability stands that the module's forward reads: on the module, or on its configuration."""
    code = getattr(unwrap(type(module).forward), "__code__", None)
    for attribute in () if code is None else code.co_names:
        if attribute.endswith("layerdrop"):
            yield from ((owner, attribute) for owner in _owners(module) if hasattr(owner, attribute))


def _owners(module: nn.Module) -> Iterator[Any]:
    yield module
    if hasattr(module, "config"):
        yield module.config


def _layers(module: nn.Module, name: str) -> Iterator[str]:
    for own, child in module.named_children():
        if isinstance(child, nn.ModuleList):
            yield from (f"{name}.{own}.{index}" if name else f"{own}.{index}" for index in range(len(child)))
