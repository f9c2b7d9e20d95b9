"""The processes of a pipeline: a grid of replicas by IPUs, and the groups in which they talk."""

from __future__ import annotations

import atexit
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

from pipelined.errors import PipelineError


@dataclass
class Ranks:
    """One process among `replicas` times `ipus`: process r is IPU r % ipus of replica r // ipus.

    The groups are the session's own; a group of IPUs is made by all processes at once, in the same order.
    """

    ipus: int
    replicas: int
    device: torch.device
    timeout: timedelta
    _groups: dict[tuple[str, tuple[int, ...]], Any] = field(default_factory=dict)

    @property
    def ipu(self) -> int:
        """The IPU that this process stands for."""
        return int(dist.get_rank()) % self.ipus

    @property
    def replica(self) -> int:
        """The replica that this process is in."""
        return int(dist.get_rank()) // self.ipus

    @property
    def size(self) -> int:
        """How many processes there are."""
        return self.ipus * self.replicas

    def everybody(self) -> Any:
        """A group of all processes that talks through main memory."""
        return self._group("everybody", [tuple(range(self.size))], "gloo")

    def pipeline(self) -> Any:
        """The IPUs of this replica."""
        return self.of_ipus(range(self.ipus))

    def of_ipus(self, ipus: Iterable[int]) -> Any:
        """Some of this replica's IPUs; called by every process of all replicas. None where this IPU is none of them."""
        chosen = tuple(sorted(set(ipus)))
        rows = [tuple(replica * self.ipus + ipu for ipu in chosen) for replica in range(self.replicas)]
        return self._group(f"ipus {chosen}", rows, None)

    def of_replicas(self) -> Any:
        """The processes that hold the same part of the model, one a replica."""
        return self._group("replicas", [tuple(range(ipu, self.size, self.ipus)) for ipu in range(self.ipus)], None)

    def global_rank(self, ipu: int) -> int:
        """The process that is this IPU in this replica."""
        return self.replica * self.ipus + ipu

    def close(self) -> None:
        """Give the groups up; whoever waits for this process in one of them learns of it."""
        for group in self._groups.values():
            if group is not None:
                dist.destroy_process_group(group)
        self._groups.clear()

    def _group(self, name: str, rows: list[tuple[int, ...]], backend: str | None) -> Any:
        if (name, rows[0]) not in self._groups:
            # Every process has to make every group, its own or not.
            made = {row: dist.new_group(row, timeout=self.timeout, backend=backend) for row in rows}
            own = next((row for row in rows if dist.get_rank() in row), None)
            self._groups[name, rows[0]] = None if own is None else made[own]
        return self._groups[name, rows[0]]


def join(ipus: int, replicas: int, device: torch.device | str | None, timeout: timedelta) -> Ranks:
    """This process's place; a default group is made where there is none, and kept until the process ends.

    PipelineError where the number of processes is not `ipus * replicas`.
    """
    processes = dist.get_world_size() if dist.is_initialized() else int(os.environ.get("WORLD_SIZE", "1"))
    if processes != ipus * replicas:
        of_each = f" in each of {replicas} replicas" if replicas > 1 else ""
        raise PipelineError(
            f"{ipus} IPUs{of_each} need {ipus * replicas} processes, and there are {processes}",
            hint=f"start the script with torchrun --nproc-per-node {ipus * replicas}",
        )
    chosen = torch.device(device) if device is not None else _own_device()
    if not dist.is_initialized():
        _make_default_group(chosen, timeout)
    return Ranks(ipus, replicas, chosen, timeout)


def _make_default_group(device: torch.device, timeout: timedelta) -> None:
    backend = "gloo"
    if device.type == "cuda":
        torch.cuda.set_device(device)
        backend = "cpu:gloo,cuda:nccl"
    # A process that was started by itself has nobody to find.
    alone = {} if "WORLD_SIZE" in os.environ else {"store": dist.HashStore(), "rank": 0, "world_size": 1}
    dist.init_process_group(backend, timeout=timeout, **alone)
    atexit.register(_leave_default_group)


def _leave_default_group() -> None:
    if dist.is_initialized():
        dist.destroy_process_group()


def _own_device() -> torch.device:
    """This process's GPU where there is one for every process of the machine, else the CPU."""
    local = int(os.environ.get("LOCAL_RANK", "0"))
    if torch.cuda.device_count() >= int(os.environ.get("LOCAL_WORLD_SIZE", "1")):
        return torch.device("cuda", local)
    return torch.device("cpu")
