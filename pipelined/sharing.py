"""A second model on the same parameters: its own modules and configuration, not one more weight in memory."""

from __future__ import annotations

import copy
from itertools import chain
from typing import Any

from torch import nn

from pipelined.errors import PipelineError


def share(model: nn.Module) -> Any:
    """A copy of the model whose parameters and buffers are those of the model, tied where they are tied."""
    tensors = chain(model.parameters(), model.buffers())
    return copy.deepcopy(model, {id(tensor): tensor for tensor in tensors})


def share_into(target: nn.Module, model: nn.Module) -> None:
    """Give the target the parameters and buffers of the model; PipelineError where the target lacks one of them."""
    parts = dict(target.named_modules(remove_duplicate=False))
    for path, module in model.named_modules(remove_duplicate=False):
        for kind in ("_parameters", "_buffers"):
            ours: dict[str, Any] = getattr(parts.get(path), kind, {})
            theirs: dict[str, Any] = getattr(module, kind)
            if missing := [name for name in theirs if name not in ours]:
                raise PipelineError(
                    f"{type(target).__name__} has no {path}.{missing[0]}, which {type(model).__name__} has",
                    hint="let its __init__ build what the original builds; change modules in parallelize()",
                )
            ours.update(theirs)
