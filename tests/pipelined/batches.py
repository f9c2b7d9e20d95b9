"""Batches to train tiny models on: random, padded unevenly, with labels; and a loss for models that return none."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from pipelined.microbatches import loss_of
from pipelined.sample import sample_inputs

Batch = dict[str, Any]


def training_batch(model: Any, rows: int = 8) -> Batch:
    """A batch that the model returns a loss for, if it returns one for any, the same each time.

    Token ids are random, but for the last of each row, which ends a text for some models. Of row r the last r % 4
    twelfths are masked out, where the model takes a mask; a label of such a token is one that does not count.
    """
    generator = torch.Generator().manual_seed(1)
    probe = copy.deepcopy(model).eval()
    sample = sample_inputs(probe)
    batch = {name: _varied(name, _rows(value, rows), generator) for name, value in sample.items()}
    takes_mask = "attention_mask" in inspect.signature(probe.forward).parameters
    if takes_mask and "input_values" in batch and batch["input_values"].dim() == 2:
        batch["attention_mask"] = torch.ones(batch["input_values"].shape, dtype=torch.long)
    if "attention_mask" in batch:
        for row, mask in enumerate(batch["attention_mask"]):
            mask[..., mask.shape[-1] * (12 - row % 4) // 12 :] = 0
    wanted = next((more for more in _labels(probe, batch, generator) if _returns_loss(probe, {**batch, **more})), {})
    return {**batch, **wanted}


def cut(batch: Mapping[str, Any], count: int) -> list[Batch]:
    """As many microbatches of equally many rows."""
    size = len(next(iter(batch.values()))) // count
    return [rows_of(batch, at * size, size) for at in range(count)]


def rows_of(batch: Mapping[str, Any], start: int, count: int) -> Batch:
    """These rows of the tensors of a batch, and the rest of it."""
    tensors = {name: value for name, value in batch.items() if isinstance(value, torch.Tensor)}
    return {**batch, **{name: value[start : start + count] for name, value in tensors.items()}}


def with_loss(pipelined: Any) -> Any:
    """The same pipelined model, whose forward returns a loss besides: what its outputs come to under fixed weights."""
    own = type(pipelined)

    @functools.wraps(own.forward)
    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        output = own.forward(self, *args, **kwargs)
        floats = (leaf for leaf in tree_leaves(output) if isinstance(leaf, torch.Tensor) and leaf.is_floating_point())
        loss = torch.stack([_score(leaf) for leaf in floats]).sum()
        if isinstance(output, tuple):
            return loss.reshape(1), *output
        output["loss"] = loss
        return output

    pipelined.__class__ = type(f"{own.__name__}WithLoss", (own,), {"forward": forward})
    return pipelined


def _score(value: torch.Tensor) -> torch.Tensor:
    weights = torch.sin(torch.arange(value.shape[1:].numel(), dtype=torch.float32)).reshape(value.shape[1:])
    return (value.float() * weights).mean()


def _rows(value: torch.Tensor, rows: int) -> torch.Tensor:
    return value.repeat(-(-rows // value.shape[0]), *[1] * (value.dim() - 1))[:rows]


def _varied(name: str, value: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    if value.is_floating_point():
        return value + 0.5 * torch.randn(value.shape, generator=generator)
    if not name.endswith("input_ids"):
        return value
    varied = torch.randint(3, max(int(value.max()), 4), value.shape, generator=generator)
    varied[..., -1] = value[..., -1]
    return varied


def _labels(model: Any, batch: Batch, generator: torch.Generator) -> Iterator[Batch]:
    """What may make a model return a loss; a label is one of two classes where it is not a token."""
    yield {}
    rows = len(next(iter(batch.values())))
    classes = torch.randint(0, 2, (rows,), generator=generator)
    yield {"start_positions": classes, "end_positions": classes + 2}
    ids = batch.get("decoder_input_ids", batch.get("input_ids"))
    if ids is not None:
        tokens = _uncounted(ids.roll(-1, -1), batch)
        if "next_sentence_label" in inspect.signature(model.forward).parameters:
            yield {"labels": tokens, "next_sentence_label": classes}
        yield {"labels": tokens}
        yield {"labels": _uncounted(torch.randint(0, 2, ids.shape, generator=generator), batch)}
    yield {"labels": classes}
    yield {"labels": torch.randint(1, 30, (rows, 3), generator=generator)}
    if "mask_time_indices" in inspect.signature(model.forward).parameters:
        length = int(model._get_feat_extract_output_lengths(batch["input_values"].shape[-1]))
        masked = torch.rand(rows, length, generator=generator) < 0.5
        negatives = torch.randint(0, rows // 4 * length, (rows, length, 5), generator=generator)
        yield {"mask_time_indices": masked, "sampled_negative_indices": negatives}


def _uncounted(tokens: torch.Tensor, batch: Batch) -> torch.Tensor:
    mask = batch.get("attention_mask")
    return tokens if mask is None or mask.shape != tokens.shape else tokens.masked_fill(mask == 0, -100)


def _returns_loss(model: Any, batch: Batch) -> bool:
    try:
        with torch.no_grad():
            return loss_of(model(**batch)) is not None
    except Exception:  # noqa: BLE001 - whatever it is, the model does not take them
        return False
