"""What one field of an `IPUConfig` may hold. Fields that must agree with each other are compared in `config.py`."""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any, Union, get_args, get_origin

OUTPUT_MODES = ("all", "sum", "final", "default")

MINIMA: dict[str, int] = {
    "layers_per_ipu": -1,
    "matmul_proportion": 0,
    "replication_factor": 1,
    "gradient_accumulation_steps": 1,
    "ipus_per_replica": 1,
    "embedding_serialization_factor": 1,
    "projection_serialization_factor": 1,
    "device_iterations": 1,
    "serialized_embedding_splits_per_ipu": 0,
    "serialized_projection_splits_per_ipu": 0,
}
"""The least value of a field, or of each item of it; an `inference_` twin has the same."""


def check_type(name: str, value: object, hint: Any) -> None:
    """Raise TypeError unless the value, and every item of a list in it, is of the hinted type."""
    if not _is(value, hint):
        wanted = hint.__name__ if isinstance(hint, type) and not get_args(hint) else hint
        raise TypeError(
            f"`IPUConfig` attribute `{name}` must be of type {wanted}. You provided value={value!r}, {type(value)}"
        )


def check_value(name: str, value: Any) -> None:
    """Raise ValueError if the value is out of the field's range."""
    field = name.removeprefix("inference_")
    if value is None:
        return
    if field in MINIMA:
        _check_minimum(name, value, MINIMA[field])
    if field.endswith("_splits_per_ipu"):
        _check_splits(name, value)
    if field == "output_mode" and value not in OUTPUT_MODES:
        raise ValueError(f"`IPUConfig` attribute `{name}` can only be one of {OUTPUT_MODES}. You provided {value=}")


def _is(value: object, hint: Any) -> bool:
    if hint is Any:
        return True
    if get_origin(hint) in (Union, types.UnionType):
        return any(_is(value, one) for one in get_args(hint))
    if hint is None or hint is type(None):
        return value is None
    if get_origin(hint) is list:
        return isinstance(value, list) and all(_is(item, get_args(hint)[0]) for item in value)
    if get_origin(hint) is dict:
        return isinstance(value, dict) and all(isinstance(key, str) for key in value)
    # A whole number is a float here, as Python's numeric tower has it and JSON writes it.
    return isinstance(value, (int, float) if hint is float else hint)


def _check_minimum(name: str, value: float | Sequence[float], least: int) -> None:
    if isinstance(value, Sequence):
        if not all(item >= least for item in value):
            raise ValueError(f"`IPUConfig` attribute `{name}` must have all elements >= {least}. You provided {value=}")
    elif not value >= least:
        raise ValueError(f"`IPUConfig` attribute `{name}` must be >= {least}. You provided {value=}")


def _check_splits(name: str, splits: Sequence[int]) -> None:
    """At least one split, and no empty IPU between two that hold some."""
    if sum(splits) < 1:
        raise ValueError(f"`IPUConfig` attribute `{name}={splits}` must have atleast 1 split on 1 IPU.")
    used = [ipu for ipu, count in enumerate(splits) if count]
    if len(used) != used[-1] - used[0] + 1:
        raise ValueError(f"`IPUConfig` attribute `{name}={splits}` must have its splits on consecutive IPUs.")
