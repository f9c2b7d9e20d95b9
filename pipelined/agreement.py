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
    rows = ranks.rows if everywhere else (ranks.rows[ranks.replica],)
    group = ranks.everybody() if everywhere else ranks.pipeline()
    members = dist.get_process_group_ranks(group)
    own = int.from_bytes(blake2b(words.encode(), digest_size=8).digest(), signed=True)
    sent = torch.tensor([own, error is not None], dtype=torch.int64)
    parts = [torch.empty_like(sent) for _ in members]
    dist.all_gather(parts, sent, group=group)
    heard = dict(zip(members, (part.tolist() for part in parts), strict=True))
    if all(heard[rank] == [heard[row[0]][0], 0] for row in rows for rank in row):
        return None
    told: list[Any] = [None] * len(members)
    said = None if error is None else (type(error).__name__, str(error))
    dist.all_gather_object(told, (words, said), group=group)
    return _verdict(dict(zip(members, told, strict=True)), error, rows)


def _verdict(told: Mapping[int, Any], error: Exception | None, rows: Sequence[Sequence[int]]) -> Exception:
    """What all raise; `told` gives by process its words and its error."""
    errors = {rank: other for rank, (_, other) in sorted(told.items()) if other is not None}
    if error is not None and len(errors) == len(told) and len(set(errors.values())) == 1:
        return error
    for rank, (kind, text) in errors.items():
        return PipelineError(f"process {rank}: {kind}: {text}")
    first, rank = next((row[0], rank) for row in rows for rank in row if told[rank] != told[row[0]])
    return PipelineError(
        f"the processes were given different inputs: process {first} {told[first][0]}; process {rank} {told[rank][0]}",
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
