"""Batches cut into microbatches by rows, and what a model returns for microbatches put together again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_map_with_path, tree_unflatten

Batch = Mapping[str, Any]

NOT_BY_ROW = ("cache_position",)
"""Arguments whose first dimension is never that of the batch, whatever its size."""


def named(batch: Any) -> Batch:
    """The batch, if it gives the forward's arguments by name; else TypeError."""
    if not isinstance(batch, Mapping):
        raise TypeError(
            f"a batch gives the forward's arguments by name, as a dict does, and this is a {type(batch).__name__}"
        )
    return batch


def rows_of(batch: Batch) -> int:
    """How many samples a batch holds; ValueError where no tensor says so."""
    for name, value in named(batch).items():
        for leaf in tree_leaves(value):
            if isinstance(leaf, torch.Tensor) and leaf.dim() and name not in (*NOT_BY_ROW, "position_ids"):
                return int(leaf.shape[0])
    raise ValueError(
        f"no argument of {', '.join(batch) or 'nothing'} holds a tensor, so there are no samples to divide"
    )


def split(batch: Batch, count: int) -> list[dict[str, Any]]:
    """As many microbatches of equally many samples; ValueError where the samples cannot be divided so.

    Tensors with a row a sample are cut, along the second dimension where the first is another; all else goes to every
    microbatch as it is.
    """
    rows = rows_of(batch)
    if rows % count:
        fitting = ", ".join(str(number) for number in range(1, rows + 1) if rows % number == 0)
        raise ValueError(
            f"a batch of {rows} samples cannot be cut into {count} equal microbatches; {fitting} would do, or a batch"
            f" of {rows - rows % count or count} samples"
        )
    return split_rows(batch, rows // count)


def split_rows(batch: Batch, rows: int) -> list[dict[str, Any]]:
    """Microbatches of this many samples each, the last of what is left."""
    total = rows_of(batch)
    if not total:
        raise ValueError("the batch holds no samples")
    parts = []
    for start in range(0, total, rows):
        cut = partial(_part, total=total, start=start, rows=rows)
        parts.append({name: tree_map(partial(cut, name), value) for name, value in batch.items()})
    return parts


def merge(outputs: Sequence[Any], rows: Sequence[int]) -> Any:
    """What a model would have returned for all microbatches at once.

    Tensors with a row a sample are joined, and those with more, as the logits of routers have a row a token; a scalar,
    such as the loss, is averaged by samples; the rest is the first's.
    """
    if len(outputs) == 1:
        return outputs[0]
    flat = [tree_flatten(output) for output in outputs]
    leaves = [_merged(column, rows) for column in zip(*(leaves for leaves, _ in flat), strict=True)]
    return tree_unflatten(leaves, flat[0][1])


def loss_of(output: Any) -> Any:
    """The loss that a model returns, or None: by its name, or first in a tuple where it has one element."""
    if isinstance(output, dict):
        return output.get("loss")
    first = output[0] if isinstance(output, tuple | list) and output else output
    return first if isinstance(first, torch.Tensor) and first.numel() == 1 else None


def _part(name: str, leaf: Any, *, total: int, start: int, rows: int) -> Any:
    if not isinstance(leaf, torch.Tensor) or name in NOT_BY_ROW or not leaf.dim():
        return leaf
    if leaf.shape[0] == total:
        return leaf[start : start + rows]
    # Positions of several kinds a token: (kinds, samples, tokens).
    if leaf.dim() > 2 and leaf.shape[1] == total:
        return leaf[:, start : start + rows]
    return leaf


def _merged(column: Sequence[Any], rows: Sequence[int]) -> Any:
    first = column[0]
    if not isinstance(first, torch.Tensor):
        return first
    if first.dim() and _have_rows(column, rows):
        return torch.cat(list(column))
    if first.dim() == 0 and first.is_floating_point():
        return sum(one * count for one, count in zip(column, rows, strict=True)) / sum(rows)
    return first


def _have_rows(column: Sequence[torch.Tensor], rows: Sequence[int]) -> bool:
    """Whether each tensor has a row a sample, or as many rows for each; what is alike in all may be a table instead."""
    each = {divmod(one.shape[0], count) for one, count in zip(column, rows, strict=True)}
    if each == {(1, 0)}:
        return True
    return len(each) == 1 and not next(iter(each))[1] and any(not torch.equal(one, column[0]) for one in column[1:])


def signature(batch: Batch) -> str:
    """What a dry run depends on, in words: names, shapes and types, and values that are no tensors."""
    return repr(tree_map_with_path(lambda _, leaf: _signed(leaf), dict(batch)))


def _signed(leaf: Any) -> Any:
    if isinstance(leaf, torch.Tensor):
        return (tuple(leaf.shape), str(leaf.dtype), leaf.device.type)
    return leaf if isinstance(leaf, bool | int | float | str | None) else type(leaf).__name__
