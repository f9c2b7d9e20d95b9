"""A model as it would be spread: its parts, their IPUs and cost, and what crosses from one stage to the next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pipelined.blocks import blocks
from pipelined.config import IPUConfig
from pipelined.costs import estimated_loads
from pipelined.dataflow import Dataflow, dataflow
from pipelined.errors import PlacementError
from pipelined.plan import Plan
from pipelined.registry import to_pipelined
from pipelined.sample import sample_batches
from pipelined.schedule import turns_back


@dataclass(frozen=True)
class Part:
    """A block with its first stage, its parameters and their bytes, and the operations of one forward pass."""

    module: str
    ipu: int
    stage: int
    parameters: int
    bytes: int
    flops: float


@dataclass(frozen=True)
class Share:
    """What one IPU carries: its parameters, each counted once however many parts share it, and its operations."""

    ipu: int
    parameters: int
    bytes: int
    flops: float


@dataclass(frozen=True)
class Overview:
    """The parts by stage, in the order of their calls; `payload_bytes[s]` is what stage s hands on in one pass."""

    model: str
    parts: tuple[Part, ...]
    shares: tuple[Share, ...]
    glue_parameters: int
    ipu_of_stage: tuple[int, ...]
    payload_bytes: tuple[int, ...]
    batch: Mapping[str, tuple[int, ...]]


def overview(model: Any, config: IPUConfig, inputs: Mapping[str, Any] | None = None) -> Overview:
    """How the config spreads the model; on the meta device it takes neither memory nor time to compute.

    Without inputs the batch is a sample: one that the model's forward accepts. The model stays as it is.
    """
    pipelined = to_pipelined(model, config, force=True).parallelize()
    inputs, flow = run_empty(pipelined, inputs)
    plan = Plan.of(flow, config._ipus_per_replica, turning=turns_back(config.execution.schedule))
    ipu_of = {mark.module: mark.ipu_id or 0 for mark in blocks(pipelined)}
    stages: dict[str, int] = {}
    for call, stage in zip(flow.calls, plan.stage_of_call, strict=True):
        stages.setdefault(call.module, stage)
    found = (
        Part(name, ipu_of[name], stages[name], _count(pipelined.get_submodule(name)), load.memory, load.compute)
        for name, load in estimated_loads(pipelined, flow).items()
    )
    parts = tuple(sorted(found, key=lambda part: part.stage))
    placed = {parameter for part in parts for parameter in pipelined.get_submodule(part.module).parameters()}
    return Overview(
        type(model).__name__,
        parts,
        tuple(_share(pipelined, ipu, parts) for ipu in range(config._ipus_per_replica)),
        sum(parameter.numel() for parameter in pipelined.parameters() if parameter not in placed),
        plan.ipu_of_stage,
        plan.payload_bytes(flow),
        {name: tuple(tensor.shape) for name, tensor in inputs.items()},
    )


def run_empty(model: Any, inputs: Mapping[str, Any] | None) -> tuple[Mapping[str, Any], Dataflow]:
    """The inputs, or the first sample that the forward accepts, and what flows; PlacementError where none is."""
    refusal: Exception | None = None
    for batch in [inputs] if inputs is not None else sample_batches(model, batch=1, length=128):
        try:
            return batch, dataflow(model, batch)
        except Exception as error:  # noqa: BLE001 - a forward may raise anything
            refusal = error
    raise PlacementError(
        f"the forward of {type(model).__name__} could not be run on a sample batch: {refusal}",
        hint="give the inputs that it takes",
    )


def _share(model: Any, ipu: int, parts: tuple[Part, ...]) -> Share:
    ours = [part for part in parts if part.ipu == ipu]
    held = {parameter for part in ours for parameter in model.get_submodule(part.module).parameters()}
    size = sum(parameter.numel() * parameter.element_size() for parameter in held)
    return Share(ipu, sum(parameter.numel() for parameter in held), size, sum(part.flops for part in ours))


def _count(module: Any) -> int:
    return sum(parameter.numel() for parameter in module.parameters())
