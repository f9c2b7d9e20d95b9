"""Caches of keys and values whose layers are on several stages.

Each stage has a cache of its own for each sub-batch. The layers that its blocks fill hold their keys and values there,
all others hold shapes on the meta device: so every stage finds the positions and the masks that the whole model would.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_map
from transformers import Cache, StaticCache

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
    """What a block does to a cache: which method of which part of it is called, with what shapes."""

    part: str
    method: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def apply(self, cache: Any) -> None:
        """Do the same, with tensors that have no content."""
        args, kwargs = tree_map(_made, (self.args, self.kwargs))
        getattr(_parts(cache)[self.part], self.method)(*args, **kwargs)


class Fills:
    """What each call of a block did to the cache in the last run, `of_call[call]`."""

    def __init__(self) -> None:
        self.of_call: list[list[Fill]] = []
        self._inside = False

    @contextmanager
    def watched(self, model: nn.Module, cache: Any) -> Iterator[None]:
        """While this lasts calls of blocks are counted, and what they add to this cache is noted."""
        handles = []
        for module, _ in outermost(model):
            handles.append(module.register_forward_pre_hook(self._enter))
            handles.append(module.register_forward_hook(self._leave))
        for part, store in _parts(cache).items():
            for method in _FILLING:
                if hasattr(store, method):
                    setattr(store, method, self._noting(part, method, getattr(store, method)))
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

    def _noting(self, part: str, method: str, fill: Callable[..., Any]) -> Callable[..., Any]:
        def noting(*args: Any, **kwargs: Any) -> Any:
            if not self._inside:
                raise PipelineError("code outside blocks adds to the cache", hint="mark a larger block around it")
            self.of_call[-1].append(Fill(part, method, *tree_map(_described, (args, kwargs))))
            return fill(*args, **kwargs)

        return noting


def caches_in(values: dict[str, Any]) -> dict[str, Any]:
    """The caches among a forward's arguments, or in its output."""
    return {name: value for name, value in values.items() if isinstance(value, Cache)}


def check_cache(cache: Any) -> None:
    """PipelineError where a cache is not of a kind that can be on several stages."""
    stores = list(_parts(cache).values())
    if any(isinstance(store, StaticCache) or getattr(store, "offloading", False) for store in stores):
        raise PipelineError(
            f"a {type(cache).__name__} cannot be spread over stages",
            hint="leave cache_implementation out: the dynamic cache grows with what is generated",
        )
    if not isinstance(cache, SpreadCache) and any(_filled(layer) for store in stores for layer in store.layers):
        raise PipelineError(
            "a cache that was filled outside this pipeline cannot be spread over stages",
            hint="give an empty cache, or one that this session's generate returned",
        )


def outline(cache: Any) -> str:
    """What the shapes that a block is given depend on, besides lengths: the layers' kinds, and which hold something."""
    layers = [(part, layer) for part, store in _parts(cache).items() for layer in store.layers]
    return repr([(part, type(layer).__name__, _filled(layer)) for part, layer in layers])


def length_of(cache: Any) -> int:
    """How many tokens the cache holds; 0 without a cache, and where its layers do not count."""
    if cache is None or all(cache.is_linear):
        return 0
    return int(cache.get_seq_length())


def husk(cache: Any, device: torch.device) -> Any:
    """A copy of the cache for a dry run: its tensors are on the device, and take no memory."""
    # Not on the meta device: attention asks whether all that it is given is on one device.
    empty = copy.deepcopy(
        cache, {id(one): one.new_zeros((), device=device).expand(one.shape) for one in _tensors(cache)}
    )
    settle(empty)
    return empty


def settle(cache: Any) -> None:
    """Have a cache for encoder and decoder know which of its layers hold what the encoder returned."""
    if hasattr(cache, "is_updated"):
        cross = cache.cross_attention_cache
        cache.is_updated = {index: cross.get_seq_length(index) > 0 for index in range(len(cross.layers))}


class SpreadCache:
    """Mixed into the class of the cache that `generate` holds: it has shapes only, and its parts have the content.

    `parts[stage][sub-batch]` are this process's; `rows` says how many rows each sub-batch has, and `filling` in which
    stage which block fills the cache.
    """

    parts: list[list[Any]]
    rows: list[int]
    filling: tuple[tuple[str, int], ...]

    def reorder_cache(self, beam_idx: torch.Tensor) -> None:
        """Reorder rows; none may leave its sub-batch. Shapes stay as they are, so nothing is done to them."""
        start = 0
        for index, count in enumerate(self.rows):
            own = beam_idx[start : start + count] - start
            if int(own.min()) < 0 or int(own.max()) >= count:
                raise PipelineError("rows of a cache cannot move from one sub-batch to another")
            for parts in self.parts:
                parts[index].reorder_cache(own)
            start += count

    def batch_repeat_interleave(self, repeats: int) -> None:
        raise PipelineError("the rows of a cache that is spread over stages cannot be repeated")

    def batch_select_indices(self, indices: torch.Tensor) -> None:
        raise PipelineError("the rows of a cache that is spread over stages cannot be selected")


def spread(cache: Any, parts: list[list[Any]], rows: Sequence[int], filling: Sequence[tuple[str, int]]) -> None:
    """Make the cache one that stands for these parts."""
    kind: Any = type(cache)
    cache.__class__ = _spread_class(kind)
    cache.parts, cache.rows, cache.filling = parts, list(rows), tuple(filling)


@lru_cache
def _spread_class(kind: Any) -> type:
    everywhere = {name: _everywhere(kind, name) for name in ("crop", "reset", "activate_past_recording")}
    return type(f"Spread{kind.__name__}", (SpreadCache, kind), everywhere)


def _everywhere(kind: Any, name: str) -> Callable[..., None]:
    def method(self: Any, *args: Any) -> None:
        getattr(kind, name)(self, *args)
        for part in (part for parts in self.parts for part in parts):
            getattr(part, name)(*args)

    return method


def _parts(cache: Any) -> dict[str, Any]:
    """The caches that have layers: itself, or the two of a cache for encoder and decoder."""
    if cache is None:
        return {}
    if hasattr(cache, "layers"):
        return {"": cache}
    return {name: one for name, one in vars(cache).items() if isinstance(one, Cache)}


def _filled(layer: Any) -> bool:
    return any(one.numel() > 0 and one.dim() > 0 for one in _held(layer))


def _tensors(cache: Any) -> Iterator[torch.Tensor]:
    for store in _parts(cache).values():
        for layer in store.layers:
            yield from _held(layer)


def _held(layer: Any) -> Iterator[torch.Tensor]:
    for value in vars(layer).values():
        for one in value if isinstance(value, list | tuple) else (value,):
            if isinstance(one, torch.Tensor):
                yield one


def _described(leaf: Any) -> Any:
    return _Empty(tuple(leaf.shape), leaf.dtype) if isinstance(leaf, torch.Tensor) else leaf


def _made(leaf: Any) -> Any:
    return torch.empty(leaf.shape, dtype=leaf.dtype, device="meta") if isinstance(leaf, _Empty) else leaf
