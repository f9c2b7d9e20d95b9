"""Before anything is sent: all processes are about to do the same, or all of them raise the same error."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

import torch
import torch.distributed as dist
from torch.utils._pytree import tree_leaves

from pipelined.errors import PipelineError
from pipelined.ranks import Ranks


def agree(words: str, error: Exception | None, ranks: Ranks, *, everywhere: bool = True) -> Exception | None:
    """None if in every replica all processes say the same words, and nobody has an error.

    Else what every process is to raise: the error where all have the same, or a PipelineError that tells who has what.
    If not `everywhere`, this replica alone agrees, and does not wait for others.
    """
    replicas, group = (ranks.replicas, ranks.everybody()) if everywhere else (1, ranks.pipeline())
    own = int.from_bytes(blake2b(words.encode(), digest_size=8).digest(), signed=True)
    sent = torch.tensor([own, error is not None], dtype=torch.int64)
    parts = [torch.empty_like(sent) for _ in range(replicas * ranks.ipus)]
    dist.all_gather(parts, sent, group=group)
    received = torch.stack(parts)
    by_replica = received.view(replicas, ranks.ipus, 2)
    if not received[:, 1].any() and bool((by_replica[:, :, 0] == by_replica[:, :1, 0]).all()):
        return None
    told: list[Any] = [None] * len(parts)
    said = None if error is None else (type(error).__name__, str(error))
    dist.all_gather_object(told, (words, said), group=group)
    return _verdict(told, error, ranks.ipus, first=0 if everywhere else ranks.global_rank(0))


def _verdict(told: Sequence[Any], error: Exception | None, ipus: int, *, first: int) -> Exception:
    if error is not None and all(other == told[0][1] for _, other in told):
        return error
    for rank, (_, other) in enumerate(told):
        if other is not None:
            return PipelineError(f"process {first + rank}: {other[0]}: {other[1]}")
    rank = next(rank for rank, (words, _) in enumerate(told) if words != told[rank - rank % ipus][0])
    against = rank - rank % ipus
    return PipelineError(
        f"the processes were given different inputs: process {first + against}"
        f" {told[against][0]}; process {first + rank} {told[rank][0]}",
        hint="give the same batch to every process of a replica",
    )


def content(batches: Sequence[Mapping[str, Any]]) -> int:
    """A number that differs where what the tensors hold differs."""
    found = 0
    for leaf in tree_leaves(list(batches)):
        if isinstance(leaf, torch.Tensor):
            flat = leaf.detach().cpu().contiguous().view(-1)
            found = zlib.crc32(flat.view(torch.uint8).numpy() if flat.numel() else b"", found)
    return found
