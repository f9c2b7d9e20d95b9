"""Compute without computing: tensors that have a shape, a type and a device, and no content.

What is computed from real tensors alone is real. What a block computes, and whatever is computed from that, is empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, cast

import torch
from torch import nn
from torch.utils._pytree import tree_leaves, tree_map

from pipelined import torch_private


class Empty:
    """Runs one operation after another, on empty tensors where one of them is empty or has no weights."""

    def __init__(self) -> None:
        self._mode = torch_private.fake_mode()

    @contextmanager
    def placed(self, model: nn.Module, device: torch.device) -> Iterator[None]:
        """While this lasts weights that are not here are empty ones on the device: autocast asks where a weight is."""
        gone = [
            (module, name, weight)
            for module in model.modules()
            for name, weight in module._parameters.items()
            if weight is not None and weight.is_meta
        ]
        for module, name, weight in gone:
            module._parameters[name] = torch_private.fake_on(self._mode, weight, device)
            # What a block casts in its forward, torch would swap; that cannot be done with a weight that is looked at.
            module.__dict__["_apply"] = partial(_converted, module)
        try:
            yield
        finally:
            for module, name, weight in gone:
                module._parameters[name] = weight
                module.__dict__.pop("_apply", None)

    def run(self, func: Any, args: Any, kwargs: Any, *, inside: bool) -> Any:
        """The result of an operation; `inside` a block nothing is computed whatever it is given."""
        tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        if not inside and not any(torch_private.is_fake(tensor) or tensor.is_meta for tensor in tensors):
            return func(*args, **kwargs)
        if any(tensor.is_meta and not torch_private.is_fake(tensor) for tensor in tensors):
            device = next((one.device for one in tensors if not one.is_meta), torch.device("cpu"))
            args, kwargs = tree_map(lambda leaf: self._placed(leaf, device), (args, kwargs))
        try:
            with self._mode:
                return func(*args, **kwargs)
        except Exception:  # noqa: BLE001 - torch has many ways to say that an operation needs content
            return self._on_zeros(func, args, kwargs)

    def _on_zeros(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Operations whose result has a shape, or is a number, that depends on content: what zeros would give."""
        result = func(*tree_map(_zeros, args), **tree_map(_zeros, kwargs))
        return tree_map(lambda leaf: self._mode.from_tensor(leaf) if isinstance(leaf, torch.Tensor) else leaf, result)

    def _placed(self, leaf: Any, device: torch.device) -> Any:
        """A weight that is not here, as if it were on the device where its block runs."""
        if isinstance(leaf, torch.Tensor) and leaf.is_meta and not torch_private.is_fake(leaf):
            return torch_private.fake_on(self._mode, leaf, device)
        return leaf


def _converted(module: nn.Module, convert: Callable[[torch.Tensor], torch.Tensor]) -> nn.Module:
    """The module, with converted weights in place of its own."""
    for child in module.children():
        child._apply(convert)
    for name, weight in module._parameters.items():
        if weight is not None:
            module._parameters[name] = cast("nn.Parameter", convert(weight))
    return module


def _zeros(leaf: Any) -> Any:
    empty = isinstance(leaf, torch.Tensor) and torch_private.is_fake(leaf)
    return torch.zeros(leaf.shape, dtype=leaf.dtype, device=leaf.device) if empty else leaf
