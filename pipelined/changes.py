"""What `parallelize` changed in a model, so that `deparallelize` undoes exactly that and nothing that came later.

A capture holds references, never copies: children, parameters, buffers, hooks and attributes of every module by
identity, its class, and which parameters take gradients.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import nn

_ABSENT = object()


@dataclass(frozen=True)
class ModuleCapture:
    """One module: its class, its attributes, and the entries of each attribute that is a dictionary."""

    cls: type
    attributes: Mapping[str, Any]
    entries: Mapping[str, Mapping[Any, Any]]


@dataclass(frozen=True)
class Capture:
    """The structure of a model at one moment."""

    modules: Mapping[nn.Module, ModuleCapture]
    trainable: Mapping[nn.Parameter, bool]


def capture(model: nn.Module) -> Capture:
    """The structure of the model as it is now."""
    modules = {module: _capture_module(module) for module in model.modules()}
    trainable = {parameter: parameter.requires_grad for parameter in model.parameters()}
    return Capture(modules, trainable)


def undo(before: Capture, after: Capture) -> None:
    """Put back what differs between the two captures, where it is still as the second one saw it."""
    for module, old in before.modules.items():
        new = after.modules.get(module)
        if new is not None:
            _undo_module(module, old, new)
    for parameter, trainable in before.trainable.items():
        changed = after.trainable.get(parameter, trainable)
        if changed is not trainable and parameter.requires_grad is changed:
            parameter.requires_grad_(trainable)


def _capture_module(module: nn.Module) -> ModuleCapture:
    own = dict(module.__dict__)
    # Dictionaries such as `_modules` and `_forward_hooks` stay the same object while their entries change.
    entries = {name: dict(value) for name, value in own.items() if name.startswith("_") and isinstance(value, dict)}
    return ModuleCapture(type(module), own, entries)


def _undo_module(module: nn.Module, old: ModuleCapture, new: ModuleCapture) -> None:
    if old.cls is not new.cls and type(module) is new.cls:
        module.__class__ = old.cls
    _replace(module.__dict__, _undone(old.attributes, new.attributes, module.__dict__))
    for name, entries in old.entries.items():
        now = module.__dict__.get(name)
        if isinstance(now, dict):
            _replace(now, _undone(entries, new.entries.get(name, {}), now))


def _replace(entries: dict[Any, Any], wanted: Mapping[Any, Any]) -> None:
    """Give a dictionary these entries in this order; one that has them is left alone."""
    if [(key, id(value)) for key, value in entries.items()] != [(key, id(value)) for key, value in wanted.items()]:
        entries.clear()
        entries.update(wanted)


def _undone(old: Mapping[Any, Any], new: Mapping[Any, Any], now: Mapping[Any, Any]) -> dict[Any, Any]:
    """What is there now, but the old entry wherever the new one still stands; in the old order."""
    result = {}
    for key in [*old, *(key for key in now if key not in old)]:
        current = now.get(key, _ABSENT)
        value = old.get(key, _ABSENT) if current is new.get(key, _ABSENT) else current
        if value is not _ABSENT:
            result[key] = value
    return result
