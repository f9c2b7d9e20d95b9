"""What blocks add to caches of keys and values: noted in a dry run, done with empty tensors where others compute."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_map
from transformers import Cache

from pipelined.calls import outermost
from pipelined.errors import PipelineError

_FILLING = ("update", "update_conv_state", "update_recurrent_state", "update_indexer")
"""The methods of a transformers cache by which a layer of a model adds to it."""


@dataclass(frozen=True)
class _Empty:
    shape: tuple[int, ...]
    dtype: torch.dtype


@dataclass(frozen=True)
class Fill:
    """One addition to a cache: which method of which of its stores is called, with tensors of what shapes."""

    store: str
    method: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


class Fills:
    """What each call of a block adds to a cache while it is watched, `of_call[call]`."""

    def __init__(self) -> None:
        self.of_call: list[list[Fill]] = []
        self._inside = False

    @contextmanager
    def watched(self, model: nn.Module, cache: Any) -> Iterator[None]:
        """While this lasts calls of blocks are counted, and what they add to this cache is noted.

        PipelineError is raised where code outside blocks adds to it: what that is would depend on the process.
        """
        handles = []
        for module, _ in outermost(model):
            handles.append(module.register_forward_pre_hook(self._enter))
            handles.append(module.register_forward_hook(self._leave))
        for name, store in stores(cache).items():
            for method in _FILLING:
                setattr(store, method, self._noting(name, method, getattr(store, method)))
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def _enter(self, *_: object) -> None:
        self.of_call.append([])
        self._inside = True

    def _leave(self, *_: object) -> None:
        self._inside = False

    def _noting(self, store: str, method: str, fill: Callable[..., Any]) -> Callable[..., Any]:
        def noting(*args: Any, **kwargs: Any) -> Any:
            if not self._inside:
                raise PipelineError("code outside blocks adds to the cache", hint="mark a larger block around it")
            self.of_call[-1].append(Fill(store, method, *tree_map(_described, (args, kwargs))))
            return fill(*args, **kwargs)

        return noting


def fill(cache: Any, fills: Iterable[Fill]) -> None:
    """Add tensors of these shapes, on the meta device."""
    found = stores(cache)
    for one in fills:
        args, kwargs = tree_map(_made, (one.args, one.kwargs))
        getattr(found[one.store], one.method)(*args, **kwargs)


def stores(cache: Any) -> dict[str, Any]:
    """By name the caches that have layers: the cache itself, or the two of one for encoder and decoder."""
    if cache is None:
        return {}
    if hasattr(cache, "layers"):
        return {"": cache}
    return {name: one for name, one in vars(cache).items() if isinstance(one, Cache)}


def _described(leaf: Any) -> Any:
    return _Empty(tuple(leaf.shape), leaf.dtype) if isinstance(leaf, torch.Tensor) else leaf


def _made(leaf: Any) -> Any:
    return torch.empty(leaf.shape, dtype=leaf.dtype, device="meta") if isinstance(leaf, _Empty) else leaf
