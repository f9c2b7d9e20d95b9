"""The run that `dataflow` looks at: the model's own forward, with hooks on its blocks and on their parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from pipelined.blocks import block_of
from pipelined.dataflow import Dataflow
from pipelined.empty import Empty
from pipelined.recorder import Recorder, tensors_in


def record(model: nn.Module, inputs: Mapping[str, Any], *, empty: bool = False) -> Dataflow:
    """The flow of one forward pass; see `dataflow`."""
    if not empty:
        return _record(model, inputs, None)
    device = next((tensor.device for tensor in tensors_in(dict(inputs)) if not tensor.is_meta), torch.device("cpu"))
    nothing = Empty()
    with nothing.placed(model, device), _without_choice_of_experts(model):
        return _record(model, inputs, nothing)


def _record(model: nn.Module, inputs: Mapping[str, Any], empty: Empty | None) -> Dataflow:
    run = Recorder(model, inputs, empty)
    marked = [(module, mark) for name, module in model.named_modules() if (mark := block_of(module, name))]
    handles = [
        handle
        for module, mark in marked
        for handle in (
            # Around all other hooks: what they do to a block's output is done outside it.
            module.register_forward_pre_hook(run.enter(mark), with_kwargs=True),
            module.register_forward_hook(run.leave, with_kwargs=True, prepend=True),
        )
    ]
    inside = {part for module, _ in marked for part in module.modules() if part is not module}
    handles += [part.register_forward_hook(run.part(name)) for name, part in model.named_modules() if part in inside]
    try:
        with torch.no_grad(), run:
            output = model(**inputs)
    finally:
        for handle in handles:
            handle.remove()
    return run.flow(output)


@contextmanager
def _without_choice_of_experts(model: Any) -> Iterator[None]:
    """Let every expert compute: which ones a token goes to is nothing that an empty tensor can say."""
    before = getattr(getattr(model, "config", None), "_experts_implementation", None)
    if before is None or not any("Experts" in type(module).__name__ for module in model.modules()):
        yield
        return
    model.set_experts_implementation("batched_mm")
    try:
        yield
    finally:
        model.set_experts_implementation(before)
