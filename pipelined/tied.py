"""Gradients of parameters that several processes hold: summed over IPUs, reduced over replicas, counted once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
import torch.distributed as dist
from torch import nn

from pipelined.holders import Holders
from pipelined.ranks import Ranks
from pipelined.spans import span

BUCKET_BYTES = 25 * 2**20
"""As much as is sent at once; what DistributedDataParallel takes."""


def synchronize(parameters: Mapping[str, nn.Parameter], holders: Holders, ranks: Ranks, *, mean: bool) -> None:
    """Give every holder of a parameter the same gradient, and every replica.

    Over IPUs gradients are summed, one that is missing being zero, over replicas too, or averaged if `mean`.
    """
    with span("sharing"):
        for ipus, names in holders.shared.items():
            group = ranks.of_ipus(ipus)
            if group is not None:
                _reduce([parameters[name] for name in names], group, ranks.device, divisor=1)
        if ranks.replicas > 1:
            divisor = ranks.replicas if mean else 1
            _reduce(list(parameters.values()), ranks.of_replicas(), ranks.device, divisor=divisor)


@contextmanager
def set_aside(parameters: Iterable[nn.Parameter]) -> Iterator[None]:
    """Add the gradients that are there to the new ones afterwards: they are what all holders have in common already."""
    before = [(parameter, parameter.grad) for parameter in parameters if parameter.grad is not None]
    for parameter, _ in before:
        parameter.grad = None
    try:
        yield
    finally:
        for parameter, gradient in before:
            parameter.grad = gradient if parameter.grad is None else parameter.grad.add_(gradient)


def clip(parameters: Mapping[str, nn.Parameter], holders: Holders, ranks: Ranks, max_norm: float) -> torch.Tensor:
    """Scale all gradients so that their common 2-norm is at most `max_norm`; return what it was.

    A parameter that several IPUs hold is counted once. Every process gets the same norm.
    """
    own = [one for name, one in parameters.items() if holders.ipus[name][0] == ranks.ipu and one.grad is not None]
    norm = torch.nn.utils.get_total_norm([one.grad for one in own]).to(ranks.device, torch.float32)
    squares = norm**2
    with span("sharing"):
        dist.all_reduce(squares, group=ranks.pipeline())
    total = squares.sqrt()
    torch.nn.utils.clip_grads_with_norm_(list(parameters.values()), max_norm, total)
    return total


def _reduce(parameters: Sequence[nn.Parameter], group: Any, device: torch.device, *, divisor: int) -> None:
    """Add gradients up, each with a one where there is one.

    A parameter that nobody has a gradient of keeps none: an optimizer leaves it alone then, weight decay included.
    """
    for bucket in _buckets([parameter for parameter in parameters if parameter.requires_grad]):
        there = torch.tensor([parameter.grad is not None for parameter in bucket], dtype=bucket[0].dtype, device=device)
        flat = torch.cat([*map(_gradient, bucket), there])
        dist.all_reduce(flat, group=group)
        *parts, counts = flat.split([*(parameter.numel() for parameter in bucket), len(bucket)])
        for parameter, part, count in zip(bucket, parts, counts.tolist(), strict=True):
            if count and parameter.grad is None:
                parameter.grad = torch.empty_like(parameter)
            if parameter.grad is not None:
                parameter.grad.copy_((part / divisor if divisor > 1 else part).view_as(parameter))


def _gradient(parameter: nn.Parameter) -> torch.Tensor:
    """What a parameter adds, in one dimension."""
    if parameter.grad is None:
        return torch.zeros((), dtype=parameter.dtype, device=parameter.device).expand(parameter.numel())
    return parameter.grad.reshape(-1)


def _buckets(parameters: Sequence[nn.Parameter]) -> Iterator[list[nn.Parameter]]:
    """The parameters in their order, in groups of one type and bounded size."""
    bucket: list[nn.Parameter] = []
    size = 0
    for parameter in parameters:
        more = parameter.numel() * parameter.element_size()
        if bucket and (size + more > BUCKET_BYTES or parameter.dtype != bucket[0].dtype):
            yield bucket
            bucket, size = [], 0
        bucket.append(parameter)
        size += more
    if bucket:
        yield bucket
