"""The processes of a pipeline: a grid of replicas by IPUs, and the groups in which they talk."""

from __future__ import annotations

import atexit
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh

from pipelined.errors import PipelineError


@dataclass
class Ranks:
    """This process among others: a mesh whose dimension `dp` counts replicas, and `pp` the IPUs of each.

    The groups are the session's own; a group of IPUs is made by all processes at once, in the same order.
    """

    mesh: DeviceMesh
    device: torch.device
    timeout: timedelta
    _groups: dict[tuple[str, tuple[int, ...]], Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        grid = self.mesh.mesh if self.mesh.mesh_dim_names == ("dp", "pp") else self.mesh.mesh.T
        self.rows: tuple[tuple[int, ...], ...] = tuple(tuple(row) for row in grid.tolist())
        """By replica the processes that are its IPUs."""
        own = dist.get_rank()
        self.replica = next(index for index, row in enumerate(self.rows) if own in row)
        self.ipu = self.rows[self.replica].index(own)

    @property
    def ipus(self) -> int:
        """How many IPUs a replica has."""
        return len(self.rows[0])

    @property
    def replicas(self) -> int:
        """How many replicas there are."""
        return len(self.rows)

    @property
    def size(self) -> int:
        """How many processes there are."""
        return self.ipus * self.replicas

    def everybody(self) -> Any:
        """A group of all processes that talks through main memory."""
        return self._group("everybody", [tuple(sorted(rank for row in self.rows for rank in row))], "gloo")

    def pipeline(self) -> Any:
        """The IPUs of this replica."""
        return self.of_ipus(range(self.ipus))

    def of_ipus(self, ipus: Iterable[int]) -> Any:
        """Some of this replica's IPUs; called by every process of all replicas. None where this IPU is none of them."""
        chosen = sorted(set(ipus))
        return self._group(f"ipus {chosen}", [tuple(row[ipu] for ipu in chosen) for row in self.rows], None)

    def of_replicas(self) -> Any:
        """The processes that hold the same part of the model, one a replica."""
        return self._group("replicas", list(zip(*self.rows, strict=True)), None)

    def global_rank(self, ipu: int) -> int:
        """The process that is this IPU in this replica."""
        return self.rows[self.replica][ipu]

    def close(self) -> None:
        """Give the groups up; whoever waits for this process in one of them learns of it."""
        for group in self._groups.values():
            if group is not None:
                dist.destroy_process_group(group)
        self._groups.clear()

    def _group(self, name: str, rows: Sequence[tuple[int, ...]], backend: str | None) -> Any:
        if (name, rows[0]) not in self._groups:
            # Every process has to make every group, its own or not. Torch would sort the members; stages go by rows.
            made = {row: dist.new_group(row, timeout=self.timeout, backend=backend, sort_ranks=False) for row in rows}
            own = next((row for row in rows if dist.get_rank() in row), None)
            self._groups[name, rows[0]] = None if own is None else made[own]
        return self._groups[name, rows[0]]


def join(
    ipus: int, replicas: int, *, device: torch.device | str | None, mesh: DeviceMesh | None, timeout: timedelta
) -> Ranks:
    """This process's place; a default group is made where there is none, and kept until the process ends.

    Without a mesh process r is IPU r % ipus of replica r // ipus. PipelineError where the number of processes is not
    `ipus * replicas`, or the mesh has other dimensions or sizes.
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
    return Ranks(_checked(mesh, ipus, replicas) or _own_mesh(chosen.type, replicas, ipus), chosen, timeout)


def _checked(mesh: DeviceMesh | None, ipus: int, replicas: int) -> DeviceMesh | None:
    """The mesh, if it has a place for every IPU of every replica."""
    if mesh is None:
        return None
    sizes = dict(zip(mesh.mesh_dim_names or (), mesh.mesh.shape, strict=False))
    if sizes != {"dp": replicas, "pp": ipus}:
        raise PipelineError(
            f"the mesh has dimensions {sizes}, and the config asks for {replicas} replicas of {ipus} IPUs",
            hint=f'init_device_mesh(device_type, ({replicas}, {ipus}), mesh_dim_names=("dp", "pp"))',
        )
    return mesh


@cache
def _own_mesh(device_type: str, replicas: int, ipus: int) -> DeviceMesh:
    """Made once a process: torch makes groups for every mesh, and keeps them."""
    return init_device_mesh(device_type, (replicas, ipus), mesh_dim_names=("dp", "pp"))


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
