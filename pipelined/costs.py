"""What each block of a model costs: operations counted in an empty run, or time measured in a real one."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from pipelined.balance import Load
from pipelined.blocks import block_of
from pipelined.dataflow import Dataflow


def estimated_loads(model: nn.Module, flow: Dataflow) -> dict[str, Load]:
    """By block, its operations in one forward pass and the bytes of its parameters."""
    flops: Counter[str] = Counter()
    for call in flow.calls:
        flops[call.module] += call.flops
    return {name: Load(flops[name], size_in_bytes(model.get_submodule(name))) for name in flops}


def measured_loads(model: nn.Module, inputs: Mapping[str, Any], *, repeats: int = 5) -> dict[str, Load]:
    """By block, the seconds of its fastest forward pass in this process, and the bytes of its parameters.

    The model is parallelized. On a GPU each block is waited for.
    """
    times: dict[str, float] = {}
    for repeat in range(repeats + 1):
        spent = _time_blocks(model, inputs)
        # The first pass pays for what is set up once.
        if repeat:
            times = {name: min(seconds, times.get(name, seconds)) for name, seconds in spent.items()}
    return {name: Load(seconds, size_in_bytes(model.get_submodule(name))) for name, seconds in times.items()}


def size_in_bytes(module: nn.Module) -> int:
    """The bytes of a module's parameters, each counted once."""
    return sum(parameter.numel() * parameter.element_size() for parameter in module.parameters())


def _time_blocks(model: nn.Module, inputs: Mapping[str, Any]) -> Counter[str]:
    spent: Counter[str] = Counter()

    def began(name: str) -> Any:
        return lambda *_: spent.subtract({name: _now()})

    def ended(name: str) -> Any:
        return lambda *_: spent.update({name: _now()})

    names = [name for name, module in model.named_modules() if block_of(module)]
    handles = [model.get_submodule(name).register_forward_pre_hook(began(name)) for name in names]
    handles += [model.get_submodule(name).register_forward_hook(ended(name)) for name in names]
    try:
        with torch.no_grad():
            model(**inputs)
    finally:
        for handle in handles:
            handle.remove()
    return spent


def _now() -> float:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()
