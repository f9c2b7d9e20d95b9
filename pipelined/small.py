"""What a checkpoint holds besides tensors of the model and the optimizer: a file that is safe to load."""

from __future__ import annotations

import io
import pickle
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import torch
import torch.distributed as dist

from pipelined.errors import PipelineError
from pipelined.folders import flush
from pipelined.ranks import Ranks

NAME = "session.pt"


class Stateful(Protocol):
    """What can be saved along with a session, such as a learning rate scheduler."""

    def state_dict(self) -> dict[str, Any]: ...

    def load_state_dict(self, state_dict: dict[str, Any]) -> Any: ...


@dataclass(frozen=True)
class Small:
    """The name of the model's class, how far it was trained and with which seed, and the states of things by name.

    `options` and `others` are what the optimizer has by parameter that are no tensors, None where there was none;
    `generators` are the states of random generators by process, of which `ipus` were a replica.
    """

    model: str
    step: int
    seed: int
    options: Mapping[str, Mapping[str, Any]] | None
    others: Mapping[str, Mapping[str, Any]]
    also: Mapping[str, Any]
    generators: list[Any]
    ipus: int

    def generators_for(self, ranks: Ranks) -> Mapping[str, Any]:
        """The states for this process: its own, or where there were others those of the first of its replica."""
        if (self.ipus, len(self.generators)) == (ranks.ipus, ranks.size):
            own: Mapping[str, Any] = self.generators[dist.get_rank()]
            return own
        replica = min(ranks.replica, len(self.generators) // self.ipus - 1)
        first: Mapping[str, Any] = self.generators[replica * self.ipus]
        return first


def write_small(folder: Path, small: Small) -> None:
    """Write it into the folder and onto the disk; PipelineError where it has things that are not safe to load."""
    for name, state in small.also.items():
        _refuse_unsafe(name, state)
    torch.save(asdict(small), folder / NAME)
    flush(folder / NAME)


def read_small(folder: Path) -> Small:
    """What is in the folder; PipelineError where it is damaged, or something else."""
    path = folder / NAME
    if not path.is_file():
        raise PipelineError(f"{folder} lacks {NAME}: it is half a checkpoint, or none of a session's")
    try:
        return Small(**torch.load(path, weights_only=True))
    except Exception as error:
        reason = str(error).partition("\n")[0]
        raise PipelineError(f"{path} is damaged: {reason}", hint="use another checkpoint") from error


def _refuse_unsafe(name: str, state: Any) -> None:
    written = io.BytesIO()
    try:
        torch.save(state, written)
        written.seek(0)
        torch.load(written, weights_only=True)
    except (pickle.PickleError, AttributeError, TypeError) as error:
        raise PipelineError(
            f"the state of {name!r} cannot be saved: {str(error).partition(chr(10))[0]}",
            hint="its state_dict() may hold numbers, text, tensors, and lists and dictionaries of them",
        ) from error
