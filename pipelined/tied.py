"""Gradients of parameters that several processes hold: summed over IPUs, reduced over replicas, counted once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
import torch.distributed as dist
from torch import nn

from pipelined.holders import Holders
from pipelined.ranks import Ranks

BUCKET_BYTES = 25 * 2**20
"""As much as is sent at once; what DistributedDataParallel takes."""


def synchronize(parameters: Mapping[str, nn.Parameter], holders: Holders, ranks: Ranks, *, mean: bool) -> None:
    """Give every holder of a parameter the same gradient, and every replica.

    Over IPUs gradients are summed, one that is missing being zero, over replicas too, or averaged if `mean`.
    """
    for ipus, names in holders.shared().items():
        group = ranks.of_ipus(ipus)
        if group is not None:
            _reduce([parameters[name] for name in names], group, ranks.device, divisor=1)
    if ranks.replicas > 1:
        divisor = ranks.replicas if mean else 1
        _reduce(list(parameters.values()), ranks.of_replicas(), ranks.device, divisor=divisor)


def clip(parameters: Mapping[str, nn.Parameter], holders: Holders, ranks: Ranks, max_norm: float) -> torch.Tensor:
    """Scale all gradients so that their common 2-norm is at most `max_norm`; return what it was.

    A parameter that several IPUs hold is counted once. Every process gets the same norm.
    """
    own = [one for name, one in parameters.items() if holders.ipus[name][0] == ranks.ipu and one.grad is not None]
    norm = torch.nn.utils.get_total_norm([one.grad for one in own]).to(ranks.device, torch.float32)
    squares = norm**2
    dist.all_reduce(squares, group=ranks.pipeline())
    total = squares.sqrt()
    torch.nn.utils.clip_grads_with_norm_(list(parameters.values()), max_norm, total)
    return total


def _reduce(parameters: Sequence[nn.Parameter], group: Any, device: torch.device, *, divisor: int) -> None:
    for bucket in _buckets(_gradients(parameters, group, device)):
        flat = torch.cat([gradient.reshape(-1) for gradient in bucket])
        dist.all_reduce(flat, group=group)
        parts = (flat / divisor if divisor > 1 else flat).split([gradient.numel() for gradient in bucket])
        for gradient, part in zip(bucket, parts, strict=True):
            gradient.copy_(part.view_as(gradient))


def _gradients(parameters: Sequence[nn.Parameter], group: Any, device: torch.device) -> list[torch.Tensor]:
    """The gradients of those parameters that have one in any process of the group; zeros where it is another that has.

    A parameter that nobody has a gradient of keeps none: an optimizer leaves it alone then, weight decay included.
    """
    trained = [parameter for parameter in parameters if parameter.requires_grad]
    there = torch.tensor([parameter.grad is not None for parameter in trained], dtype=torch.int32, device=device)
    dist.all_reduce(there, group=group)
    found = []
    for parameter, count in zip(trained, there.tolist(), strict=True):
        if count and parameter.grad is None:
            parameter.grad = torch.zeros_like(parameter)
        if parameter.grad is not None:
            found.append(parameter.grad)
    return found


def _buckets(gradients: Sequence[torch.Tensor]) -> Iterator[list[torch.Tensor]]:
    """The gradients in their order, in groups of one type and bounded size."""
    bucket: list[torch.Tensor] = []
    size = 0
    for gradient in gradients:
        more = gradient.numel() * gradient.element_size()
        if bucket and (size + more > BUCKET_BYTES or gradient.dtype != bucket[0].dtype):
            yield bucket
            bucket, size = [], 0
        bucket.append(gradient)
        size += more
    if bucket:
        yield bucket
