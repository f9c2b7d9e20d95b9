"""What layers computed in parts have in common: they take over a module as it is, and their parts begin blocks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from torch import nn

from pipelined.blocks import BeginBlock
from pipelined.errors import IncompatibleIPUConfigError


def adopt(target: nn.Module, source: nn.Module) -> None:
    """Give a new module the parameters, buffers, hooks and attributes of another; dictionaries become its own."""
    own = {name: value.copy() if isinstance(value, dict) else value for name, value in source.__dict__.items()}
    target.__dict__.update(own)


def refuse_remainder(dimension: str, size: int, factor: int) -> None:
    """Raise ValueError unless the size is a multiple of the factor; it names the factors that would do."""
    if factor < 1 or size % factor:
        divisors = ", ".join(str(number) for number in range(1, min(size, 64) + 1) if size % number == 0)
        raise ValueError(
            f"{dimension}={size} must be divisible by the serialization factor {factor}; {divisors} divide it"
        )


def begin_blocks(splits: nn.ModuleList, splits_per_ipu: Sequence[int], name: str) -> None:
    """Begin a block at the first split of each IPU; IncompatibleIPUConfigError unless every split has a place."""
    if sum(splits_per_ipu) != len(splits):
        raise IncompatibleIPUConfigError(
            f"splits_per_ipu={list(splits_per_ipu)} places {sum(splits_per_ipu)} splits and {name} has {len(splits)}"
        )
    for ipu, (end, count) in enumerate(zip(accumulate(splits_per_ipu), splits_per_ipu, strict=True)):
        if count:
            shards = f"{end - count}-{end - 1}" if count > 1 else f"{end - 1}"
            BeginBlock(splits[end - count], f"{name}-{shards}", ipu_id=ipu)
