"""The dry runs of a model, one for each signature of its inputs."""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

import torch

from pipelined import torch_private
from pipelined.dataflow import Dataflow, dataflow
from pipelined.errors import PipelineError, PlacementError
from pipelined.microbatches import Batch
from pipelined.registry import without_peft
from pipelined.sample import sample_batches

SHOWN = 4
"""How many of what is in the way a message names."""


def flow_of(model: Any, batch: Batch) -> Dataflow:
    """What flows for this batch, on empty tensors where that is possible.

    PipelineError with what the forward raises once not all weights are here; PlacementError where what it does between
    blocks cannot be cut: it says what that is.
    """
    try:
        flow = _undisturbed(model, batch, empty=True)
    except Exception as error:
        if any(parameter.is_meta for parameter in model.parameters()):
            raise PipelineError(f"{type(model).__name__} refuses the batch: {type(error).__name__}: {error}") from error
        flow = _undisturbed(model, batch, empty=False)
    if flow.obstacles:
        more = len(flow.obstacles) - SHOWN
        # What the output has says best what was asked for.
        found = sorted(flow.obstacles, key=lambda words: not words.startswith("the output"))
        listed = "; ".join((*found[:SHOWN], *([f"and {more} more"] if more > 0 else [])))
        raise PlacementError(
            f"{type(model).__name__} cannot be cut for these inputs: {listed}",
            hint="leave out what asks for it, or mark a larger block around it",
        )
    return flow


def sample_flow(model: Any, example: Batch | None) -> Dataflow:
    """The flow of the example, or of the first made-up batch that the forward accepts; PlacementError where none is."""
    refusal: Exception | None = None
    # What PEFT puts around a model takes anything, and hands it on.
    inner = without_peft(model)
    for batch in [example] if example is not None else sample_batches(inner, device=torch.device("cpu")):
        try:
            return flow_of(model, without_cache(model, batch))
        except Exception as error:  # noqa: BLE001 - a forward may raise anything
            refusal = refusal or error
    if isinstance(refusal, PlacementError):
        raise refusal
    raise PlacementError(
        f"the forward of {type(model).__name__} could not be run on a sample batch: {refusal}",
        hint="give distribute(..., example=batch) a batch that it takes",
    ) from refusal


def without_cache(model: Any, batch: Batch) -> Batch:
    """The batch, which says that no cache is wanted unless it says that one is."""
    cls: Any = type(without_peft(model))
    known = _takes_use_cache(cls) and hasattr(model.config.get_text_config(), "use_cache")
    return {"use_cache": False, **batch} if known else batch


@cache
def _takes_use_cache(cls: Any) -> bool:
    # Asked for every microbatch: looking it up takes as long as several layers of a small model.
    parameters = inspect.signature(cls.forward).parameters
    hands_on = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
    # A class that never generates may say it to its base model itself, and then has no room for ours.
    return "use_cache" in parameters or (hands_on and hasattr(cls, "can_generate") and cls.can_generate())


def _undisturbed(model: Any, batch: Batch, *, empty: bool) -> Dataflow:
    """A dry run that leaves random numbers and buffers as they were, and autocast no weights that are empty."""
    cached = torch.is_autocast_cache_enabled()
    torch.set_autocast_cache_enabled(False)
    buffers = [(buffer, buffer.clone()) for buffer in model.buffers() if not buffer.is_meta]
    try:
        with torch.random.fork_rng(devices=[]), torch_private.fakes_unlogged():
            return dataflow(model, batch, empty=empty)
    finally:
        torch.set_autocast_cache_enabled(cached)
        for buffer, value in buffers:
            buffer.copy_(value)
