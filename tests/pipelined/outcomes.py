"""What a model computes, as plain values that two models can be compared by."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

import torch

from pipelined.sample import sample_inputs

Outcome = dict[str, torch.Tensor]


def outcome(model: Any, inputs: Mapping[str, Any]) -> Outcome:
    """Every tensor of the model's output by its place in it; the random numbers drawn are the same each time."""
    torch.manual_seed(0)
    with torch.no_grad():
        return flattened(model(**inputs))


def flattened(output: Any) -> Outcome:
    """Every tensor of an output by its place in it."""
    return dict(_tensors(output, ""))


def same(ours: Outcome, theirs: Outcome, *, within: float = 0.0) -> bool:
    """Whether two outcomes have the same tensors: bit for bit, or up to a difference."""
    if ours.keys() != theirs.keys():
        return False
    pairs = [(ours[name], theirs[name]) for name in ours]
    return all(
        one.shape == other.shape and one.dtype == other.dtype and torch.allclose(one, other, 0, within, equal_nan=True)
        for one, other in pairs
    )


def full_inputs(model: Any) -> dict[str, Any]:
    """A padded batch, with labels and with all hidden states asked for, as far as the model takes them."""
    inputs: dict[str, Any] = dict(sample_inputs(model, padded=True))
    signature = inspect.signature(model.forward).parameters
    for more in ({"output_hidden_states": True}, *_labels(inputs)):
        takes_it = all(name in signature or "kwargs" in signature for name in more)
        if takes_it and not more.keys() & inputs.keys() and _accepts(model, {**inputs, **more}):
            inputs |= more
    return inputs


def _labels(inputs: Mapping[str, torch.Tensor]) -> Iterator[dict[str, torch.Tensor]]:
    batch = next(iter(inputs.values())).shape[0]
    zero = torch.zeros(batch, dtype=torch.long)
    yield {"start_positions": zero, "end_positions": zero + 2}
    for ids in ("decoder_input_ids", "input_ids"):
        if ids in inputs:
            yield {"labels": inputs[ids]}
    yield {"labels": zero}
    yield {"labels": torch.tensor([[3, 4, 5]] * batch)}


def _accepts(model: Any, inputs: Mapping[str, Any]) -> bool:
    try:
        found = outcome(model, inputs)
    except Exception:  # noqa: BLE001 - whatever it is, the model does not take them
        return False
    return bool(found)


def _tensors(value: Any, place: str) -> Iterator[tuple[str, torch.Tensor]]:
    if isinstance(value, torch.Tensor):
        yield place, value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from _tensors(item, f"{place}.{name}")
    elif isinstance(value, tuple | list):
        for index, item in enumerate(value):
            yield from _tensors(item, f"{place}.{index}")
