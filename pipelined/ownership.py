"""Who saves what: every entry of the state dict belongs to one process, although several may hold it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from torch import nn

from pipelined.blocks import blocks
from pipelined.guards import original_class
from pipelined.holders import Holders
from pipelined.raising import raised_by_all
from pipelined.ranks import Ranks
from pipelined.registry import without_peft


@dataclass(frozen=True)
class Ownership:
    """The part that this process has of a model; `talk` is what has to be around sending, of a session `together`.

    A parameter belongs to the first IPU that holds it, a buffer to the IPU of its block, for it alone computes with it,
    and what is in no block to IPU 0. Processes of other replicas own nothing.
    """

    model: Any
    holders: Holders
    ranks: Ranks
    talk: Callable[[], AbstractContextManager[object]]

    @property
    def class_name(self) -> str:
        """The name of the class that the model, or the model that it adapts, had before it was pipelined."""
        return original_class(type(without_peft(self.model))).__name__

    def names(self) -> dict[nn.Parameter, str]:
        """The parameters that this process holds, each with the first of its names."""
        found = dict(self.model.named_parameters(remove_duplicate=False))
        return {found[name]: name for name in self.holders.held_by(self.ranks.ipu)}

    def owners(self) -> dict[str, int]:
        """By key of the state dict the IPU that it belongs to; names of one parameter belong to one."""
        begun = {mark.module: mark.ipu_id or 0 for mark in blocks(self.model)}
        return {key: self._owner(key, begun) for key in self.model.state_dict()}

    def own(self) -> dict[str, Any]:
        """What belongs to this process, detached and where it is."""
        if self.ranks.replica:
            return {}
        owners = self.owners()
        return {key: value for key, value in self.model.state_dict().items() if owners[key] == self.ranks.ipu}

    def gathered(self, keys: Iterable[str] | None = None, *, everywhere: bool = False) -> dict[str, Any]:
        """All entries, or these, in main memory: in process 0, or in all; tied ones are one tensor.

        One tensor after another is on its way, and elsewhere the result is empty.
        """
        state, owners = self.model.state_dict(), self.owners()
        there: dict[str, Any] = {}
        found = {}
        with self.talk():
            for key in state if keys is None else keys:
                first = self.holders.names.get(key, key)
                if first not in there:
                    there[first] = self._sent(state[key], owners[key], everywhere=everywhere)
                found[key] = there[first]
        return found if everywhere or dist.get_rank() == 0 else {}

    def all_or_none(self) -> AbstractContextManager[None]:
        """What one process raises inside, all raise, and the session lives on."""
        return raised_by_all(self.ranks, self.talk)

    def first_says(self, value: Any) -> Any:
        """What process 0 gives, in every process."""
        sent = [value]
        with self.talk():
            dist.broadcast_object_list(sent, src=0, group=self.ranks.everybody())
        return sent[0]

    def told_first(self, value: Any) -> list[Any]:
        """What each process gives, by rank; in all but process 0 nothing."""
        told = [None] * self.ranks.size if dist.get_rank() == 0 else None
        with self.talk():
            dist.gather_object(value, told, dst=0, group=self.ranks.everybody())
        return told or []

    def _owner(self, key: str, begun: dict[str, int]) -> int:
        holders = self.holders.ipus.get(key)
        if holders is not None:
            return holders[0]
        parts = key.split(".")
        outer = (".".join(parts[:end]) for end in range(1, len(parts)))
        return next((begun[path] for path in outer if path in begun), 0)

    def _sent(self, value: Any, owner: int, *, everywhere: bool) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        rank, group = dist.get_rank(), self.ranks.everybody()
        if not everywhere and rank not in (0, owner):
            return None
        # As bytes, for there are types that not every backend can send.
        moved = (
            value.detach().cpu().contiguous().clone() if rank == owner else torch.empty(value.shape, dtype=value.dtype)
        )
        raw = moved.reshape(-1).view(torch.uint8)
        if everywhere:
            dist.broadcast(raw, src=owner, group=group)
        elif rank == owner != 0:
            dist.send(raw, dst=0, group=group)
        elif owner != 0:
            dist.recv(raw, src=owner, group=group)
        return moved
