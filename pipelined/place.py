"""Act on a placement: serialise what the config asks to serialise, begin the blocks, set the checkpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import nn

from pipelined.allocation import Assignment, allocate
from pipelined.blocks import BeginBlock, recomputation_checkpoint
from pipelined.serialized import serialize

if TYPE_CHECKING:
    from pipelined.config import IPUConfig
    from pipelined.placement import Placement


def place(model: Any, placement: Placement, config: IPUConfig) -> list[Any]:
    """Begin every block; return the handles of the hooks that keep the layers' outputs from being recomputed.

    A block is named after its module. Where an embedding or projection is spread over IPUs, its parts are the blocks.
    """
    assignments = allocate(model, placement, config)
    spread = serialize(model, config, placed=[one.module for one in assignments])
    for one in assignments:
        if one.module not in spread:
            BeginBlock(model.get_submodule(one.module), one.module, ipu_id=one.ipu)
    for name, splits_per_ipu in spread.items():
        model.get_submodule(name).parallelize(splits_per_ipu, name)
    return _checkpoints(model, assignments) if config.recompute_checkpoint_every_layer else []


def _checkpoints(model: nn.Module, assignments: tuple[Assignment, ...]) -> list[Any]:
    """On every layer but the last, whose output the backward pass needs at once."""
    layers = [model.get_submodule(one.module) for one in assignments if one.layer is not None]
    return [recomputation_checkpoint(layer) for layer in layers[:-1]]
