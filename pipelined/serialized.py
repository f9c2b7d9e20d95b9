"""Serialise the embedding and the output projection of a model, as its config asks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from torch import nn

from pipelined.embeddings import SerializedEmbedding, SharedEmbedding
from pipelined.errors import IncompatibleIPUConfigError
from pipelined.projections import SerializedLinear, SplitProjection

if TYPE_CHECKING:
    from pipelined.config import IPUConfig

__all__ = [
    "SerializedEmbedding",
    "SerializedLinear",
    "SharedEmbedding",
    "SplitProjection",
    "serialize",
]


def serialize(model: Any, config: IPUConfig, placed: Collection[str]) -> dict[str, list[int]]:
    """Replace the model's modules by serialised ones; return those that are spread over IPUs, with their splits.

    IncompatibleIPUConfigError where the model has no such module, or where one that is to be spread is not a block of
    its own; ValueError where its size is not divisible.
    """
    spread: dict[str, list[int]] = {}
    for part, find in (("embedding", _embeddings), ("projection", _projections)):
        factor = getattr(config, f"_{part}_serialization_factor") or 1
        splits = getattr(config, f"_serialized_{part}_splits_per_ipu")
        if splits is None and factor == 1:
            continue
        names = find(model)
        if not names:
            raise IncompatibleIPUConfigError(f"{type(model).__name__} has no {part} to serialise")
        for name in names if splits else ():
            _refuse_part_of_a_block(name, placed, part)
            spread[name] = splits
        for name in names:
            _replace(model, name, _SERIALIZED[part, splits is not None], sum(splits or [factor]))
    return spread


_SERIALIZED: Mapping[tuple[str, bool], Callable[[Any, int], nn.Module]] = {
    ("embedding", False): SerializedEmbedding.from_model,
    ("embedding", True): SerializedEmbedding.from_model,
    ("projection", False): SerializedLinear.from_model,
    ("projection", True): SplitProjection.from_model,
}
"""By the part, and by whether it is spread over IPUs, what makes its serialised version."""


def _embeddings(model: Any) -> list[str]:
    """The modules that look up the input embedding: several where stacks share its weight and each has its own."""
    shared = _asked(model.get_input_embeddings)
    weight = getattr(shared, "weight", None)
    names = [name for name, one in model.named_modules() if isinstance(one, nn.Embedding) and one.weight is weight]
    stacks = [name for name in names if "." in name and name.rpartition(".")[2] != "shared"]
    return stacks or names


def _projections(model: Any) -> list[str]:
    """The output projection, where there is one and it is a plain linear layer."""
    head = _asked(model.get_output_embeddings)
    return [name for name, module in model.named_modules() if module is head and type(module) is nn.Linear]


def _asked(getter: Callable[[], Any]) -> Any:
    """What the model answers; transformers raises this where a class has none."""
    try:
        return getter()
    except NotImplementedError:
        return None


def _replace(model: nn.Module, name: str, serialized: Callable[[Any, int], nn.Module], factor: int) -> None:
    parent, _, own = name.rpartition(".")
    holder = model.get_submodule(parent)
    setattr(holder, own, serialized(getattr(holder, own), factor))


def _refuse_part_of_a_block(name: str, placed: Collection[str], part: str) -> None:
    if name not in placed:
        raise IncompatibleIPUConfigError(
            f"serialized_{part}_splits_per_ipu spreads {name}, which is not a block of its own in this placement",
            hint=f"use {part}_serialization_factor, or a placement that names {name}",
        )
