"""Caches of keys and values whose layers are on several stages.

Each stage has a cache of its own for each sub-batch. The layers that its blocks fill hold their keys and values there,
all others hold shapes on the meta device: so every stage finds the positions and the masks that the whole model would.
The cache that `generate` holds stands for them all, and has shapes only.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import torch
from torch.utils._pytree import tree_leaves
from transformers import Cache, QuantizedCache, StaticCache

from pipelined.errors import PipelineError
from pipelined.fills import Fill, fill, stores


class SpreadCache:
    """Mixed into the class of the cache that `generate` holds.

    `parts[stage][sub-batch]` are this process's, one row of parts where it has no stage; `rows` says how many rows each
    sub-batch has, and `filling` in which stage which block fills the cache.
    """

    parts: list[list[Any]]
    rows: list[int]
    filling: dict[str, int]

    def reorder_cache(self, beam_idx: torch.Tensor) -> None:
        """Reorder the rows of the parts; PipelineError where one would leave its sub-batch. Shapes stay as they are."""
        start = 0
        for number, count in enumerate(self.rows):
            own = beam_idx[start : start + count] - start
            if int(own.min()) < 0 or int(own.max()) >= count:
                raise PipelineError("rows of a cache cannot move from one sub-batch to another")
            for parts in self.parts:
                parts[number].reorder_cache(own)
            start += count

    def batch_repeat_interleave(self, repeats: int) -> None:
        """Always a PipelineError: the number of rows in a sub-batch stays."""
        raise PipelineError("the rows of a cache that is spread over stages cannot be repeated")

    def batch_select_indices(self, indices: torch.Tensor) -> None:
        """Always a PipelineError: the number of rows in a sub-batch stays."""
        raise PipelineError("the rows of a cache that is spread over stages cannot be selected")


def spread(cache: Any, rows: Sequence[int], stages: int, filling: Mapping[str, int]) -> None:
    """Make an empty cache stand for those of this process's stages; one that does already must be for the same.

    PipelineError where rows, or the stages of the blocks that fill it, are others than when it was begun.
    """
    if not isinstance(cache, SpreadCache):
        parts = [[copy.deepcopy(cache) for _ in rows] for _ in range(max(stages, 1))]
        kind: Any = type(cache)
        cache.__class__ = _spread_class(kind)
        cache.parts, cache.rows, cache.filling = parts, list(rows), {}
    moved = any(cache.filling.setdefault(block, stage) != stage for block, stage in filling.items())
    if moved or cache.rows != list(rows):
        raise PipelineError("the cache was begun with other rows, or by other stages", hint="begin with a new cache")


def advance(cache: Any, fills_of: Sequence[tuple[slice, Sequence[Sequence[Fill]]]], *, alone: bool) -> None:
    """Have the cache grow as those of the stages did, and if `alone`, where there is no stage, its parts too.

    `fills_of` says what each call of a block adds to which sub-batches.
    """
    fill(cache, [one for fills in fills_of[0][1] for one in fills])
    for numbers, by_call in fills_of:
        for part in (part for parts in cache.parts for part in parts[numbers]):
            if alone:
                fill(part, [one for fills in by_call for one in fills])
            _settle(part)


def caches_in(values: Mapping[str, Any]) -> dict[str, Any]:
    """The caches among a forward's arguments, or in its output."""
    return {name: value for name, value in values.items() if isinstance(value, Cache)}


def check_cache(cache: Any) -> None:
    """PipelineError where a cache is not of a kind that can be on several stages."""
    found = list(stores(cache).values())
    if any(isinstance(store, StaticCache | QuantizedCache) or getattr(store, "offloading", False) for store in found):
        raise PipelineError(
            f"a {type(cache).__name__} cannot be spread over stages",
            hint="leave cache_implementation out: the dynamic cache grows with what is generated",
        )
    if not isinstance(cache, SpreadCache) and any(_filled(layer) for store in found for layer in store.layers):
        raise PipelineError(
            "a cache that was filled outside this pipeline cannot be spread over stages",
            hint="give an empty cache, or one that this session's generate returned",
        )


def outline(cache: Any) -> str:
    """What the shapes that a block is given depend on, besides lengths: the layers' kinds, and which hold something."""
    layers = [(name, layer) for name, store in stores(cache).items() for layer in store.layers]
    return repr([(name, type(layer).__name__, _filled(layer)) for name, layer in layers])


def length_of(cache: Any) -> int:
    """How many tokens the cache holds; 0 without a cache, and where its layers do not count."""
    if cache is None or all(cache.is_linear):
        return 0
    return int(cache.get_seq_length())


def empty_copy(cache: Any, number: int, device: torch.device) -> Any:
    """A copy of a sub-batch's cache for a dry run: its tensors are on the device, and take no memory."""
    if cache is None:
        return None
    part = cache.parts[0][number] if isinstance(cache, SpreadCache) else cache
    # Not on the meta device: attention asks whether all that it is given is on one device.
    empty = {id(one): one.new_zeros((), device=device).expand(one.shape) for one in _tensors(part)}
    copied = copy.deepcopy(part, empty)
    _settle(copied)
    return copied


@lru_cache
def _spread_class(kind: Any) -> type:
    everywhere = {name: _everywhere(kind, name) for name in ("crop", "reset", "activate_past_recording")}
    return type(f"Spread{kind.__name__}", (SpreadCache, kind), everywhere)


def _everywhere(kind: Any, name: str) -> Callable[..., None]:
    """A method that is called for the cache and all its parts."""

    def method(self: Any, *args: Any) -> None:
        getattr(kind, name)(self, *args)
        for part in (part for parts in self.parts for part in parts):
            getattr(part, name)(*args)

    return method


def _settle(cache: Any) -> None:
    """Have a cache for encoder and decoder know which of its layers hold what the encoder returned."""
    if hasattr(cache, "is_updated"):
        cross = cache.cross_attention_cache
        cache.is_updated = {index: cross.get_seq_length(index) > 0 for index in range(len(cross.layers))}


def _filled(layer: Any) -> bool:
    return any(one.numel() > 0 and one.dim() > 0 for one in _held(layer))


def _tensors(cache: Any) -> Iterator[torch.Tensor]:
    for store in stores(cache).values():
        for layer in store.layers:
            yield from _held(layer)


def _held(layer: Any) -> Iterator[torch.Tensor]:
    for one in tree_leaves(vars(layer)):
        if isinstance(one, torch.Tensor):
            yield one
