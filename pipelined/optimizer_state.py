"""The state of an optimizer by name of parameter, so that it means the same in every placement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from pipelined.errors import PipelineError


@dataclass(frozen=True)
class OptimizerState:
    """By name of a parameter what an optimizer keeps for it, and the options that its group has.

    Tensors stand under `name.key`, all else that is kept under the name and the key.
    """

    tensors: Mapping[str, torch.Tensor]
    others: Mapping[str, Mapping[str, Any]]
    options: Mapping[str, Mapping[str, Any]]


def state_of(optimizer: torch.optim.Optimizer, names: Mapping[nn.Parameter, str]) -> OptimizerState:
    """The state of those parameters of an optimizer that have these names."""
    tensors: dict[str, torch.Tensor] = {}
    others: dict[str, dict[str, Any]] = {}
    for parameter, kept in optimizer.state.items():
        if name := names.get(parameter):
            found = {key: value for key, value in kept.items() if isinstance(value, torch.Tensor)}
            tensors |= {f"{name}.{key}": value for key, value in found.items()}
            others[name] = {key: value for key, value in kept.items() if key not in found}
    options = {
        names[parameter]: {key: value for key, value in group.items() if key != "params"}
        for group in optimizer.param_groups
        for parameter in group["params"]
        if parameter in names
    }
    return OptimizerState(tensors, {name: kept for name, kept in others.items() if kept}, options)


def arranged(
    optimizer: torch.optim.Optimizer, names: Mapping[nn.Parameter, str], state: OptimizerState
) -> dict[str, Any]:
    """The state as `load_state_dict` of this optimizer takes it, with the same tensors.

    PipelineError where the optimizer has other parameters than the state, or other groups.
    """
    kept: dict[str, dict[str, Any]] = {name: dict(others) for name, others in state.others.items()}
    for full, tensor in state.tensors.items():
        name, _, key = full.rpartition(".")
        kept.setdefault(name, {})[key] = tensor
    groups: list[dict[str, Any]] = []
    states: dict[int, dict[str, Any]] = {}
    count = 0
    for group in optimizer.param_groups:
        places = {names[parameter]: count + at for at, parameter in enumerate(group["params"]) if parameter in names}
        # A group that has none of the parameters here, as of adapters without biases, keeps its own.
        options = _options(list(places), state) if places else group
        groups.append({**options, "params": list(range(count, count + len(group["params"])))})
        states.update({at: kept[name] for name, at in places.items() if name in kept})
        count += len(group["params"])
    return {"state": states, "param_groups": groups}


def _options(names: list[str], state: OptimizerState) -> Mapping[str, Any]:
    """The options that all of these parameters had."""
    if missing := [name for name in names if name not in state.options]:
        raise PipelineError(
            f"the checkpoint's optimizer did not have {missing[0]}", hint="train the same parameters as before"
        )
    found = [state.options[name] for name in names]
    if any(one != found[0] for one in found):
        differs = next(name for name, one in zip(names, found, strict=True) if one != found[0])
        raise PipelineError(
            f"the checkpoint's optimizer had {names[0]} and {differs} in two groups, and this one has them in one",
            hint="group parameters by name, the same way as before",
        )
    return found[0]
