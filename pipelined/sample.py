"""Small batches that a model's forward may accept, made up from its signature and its configuration."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

import torch
from torch import nn

from pipelined.errors import PlacementError
from pipelined.sizes import Sizes

Batch = dict[str, torch.Tensor]
Maker = Callable[[Sizes], torch.Tensor]


def sample_batches(
    model: Any, *, batch: int = 2, length: int = 12, device: torch.device | None = None
) -> Iterator[Batch]:
    """Keyword arguments for the model's forward, the likeliest first, on the device or that of its parameters.

    `batch` is in samples, `length` in tokens, fewer where the model has fewer positions. A forward may refuse some of
    them, and all of them where it takes something that cannot be made up.
    """
    if not hasattr(model, "config"):
        raise PlacementError(
            f"no batch can be made up for {type(model).__name__}, which has no configuration",
            hint="register a pipelined class for it that states a placement, and give distribute(..., example=batch)",
        )
    sizes = Sizes(model.config, batch, length, device or next(model.parameters()).device)
    # Some models count positions from behind that of the padding.
    positions = sizes.get("max_position_embeddings", "n_positions", "max_target_positions", default=length + 4)
    sizes.length = min(length, positions - 4) if positions > 4 else length
    signature = inspect.signature(model.forward).parameters
    needed = [name for name in _needed(model, signature) if name in MAKERS]
    extra = [name for name in EXTRAS if name in signature and name not in needed]
    choices = 2 if "MultipleChoice" in type(model).__name__ else 0
    attempts = [needed, [*needed, *extra]]
    if sizes.device.type == "meta":
        # Most models ask of a mask whether it masks anything, which an empty tensor cannot say.
        attempts = [[name for name in names if name != "attention_mask"] for names in attempts] + attempts
    for names, variant in product(attempts, range(4)):
        if variant and all(variant >= len(MAKERS[name]) for name in names):
            continue
        made = {name: MAKERS[name][min(variant, len(MAKERS[name]) - 1)](sizes) for name in names}
        yield {name: _several(value, choices) if choices else value for name, value in made.items()}


def sample_inputs(model: nn.Module, *, padded: bool = False) -> Batch:
    """The first of the sample batches that the model's forward accepts; PlacementError where it refuses them all.

    With `padded` the last quarter of the first row is masked out, where the model takes a mask.
    """
    refusal: Exception | None = None
    for inputs in sample_batches(model):
        if padded and "attention_mask" in inputs:
            inputs["attention_mask"][:1, ..., -3:] = 0
        try:
            with torch.no_grad(), torch.random.fork_rng(devices=[]):
                model(**inputs)
        except Exception as error:  # noqa: BLE001 - a forward may raise anything
            refusal = refusal or error
        else:
            return inputs
    raise PlacementError(
        f"the forward of {type(model).__name__} could not be run on a sample batch: {refusal}",
        hint="give the inputs that it takes",
    ) from refusal


def _needed(model: Any, signature: Mapping[str, inspect.Parameter]) -> list[str]:
    """The arguments that the class calls its main ones, those without a default, and what goes with them."""
    main = model.main_input_name
    wanted = [main] if isinstance(main, str) else list(main)
    wanted += [name for name, one in signature.items() if one.default is one.empty and one.kind is not one.VAR_KEYWORD]
    if "input_ids" in wanted:
        wanted += ["attention_mask", "bbox"]
    if getattr(model.config, "is_encoder_decoder", False):
        wanted += ["decoder_input_ids"]
    return [name for name in dict.fromkeys(wanted) if name in signature]


def _several(value: torch.Tensor, choices: int) -> torch.Tensor:
    """The same for each of several choices: (batch, choices, ...)."""
    return value.unsqueeze(1).repeat(1, choices, *[1] * (value.dim() - 1))


def _sentence(sizes: Sizes) -> torch.Tensor:
    """Token ids that end with the token that ends a text."""
    ids = sizes.ids(sizes.batch, sizes.length)
    ids[:, -1] = sizes.get("eos_token_id", default=2)
    return ids


def _mask(sizes: Sizes) -> torch.Tensor:
    return torch.ones(sizes.batch, sizes.length, dtype=torch.long, device=sizes.device)


def _bbox(sizes: Sizes) -> torch.Tensor:
    corners = torch.tensor([1, 2, 5, 6], device=sizes.device)
    return corners.expand(sizes.batch, sizes.length, 4).clone()


def _image(sizes: Sizes) -> torch.Tensor:
    channels, side = sizes.get("num_channels", "in_channels", "in_chans", default=3), sizes.get(
        "image_size", default=32
    )
    return sizes.noise(sizes.batch, channels, side, side)


def _video(sizes: Sizes) -> torch.Tensor:
    channels, side = sizes.get("num_channels", default=3), sizes.get("image_size", "crop_size", default=32)
    frames = sizes.get("num_frames", "frames_per_clip", default=4)
    return sizes.noise(sizes.batch, frames, channels, side, side)


def _bands(sizes: Sizes) -> int:
    names = ("num_mel_bins", "input_feat_per_channel", "feature_projection_input_dim", "input_dim", "feature_size")
    return sizes.get(*names, default=16)


def _spectrogram(sizes: Sizes) -> torch.Tensor:
    return sizes.noise(sizes.batch, _bands(sizes), 2 * sizes.get("max_source_positions", default=32))


def _frames(sizes: Sizes) -> torch.Tensor:
    return sizes.noise(sizes.batch, sizes.get("max_length", default=64), _bands(sizes))


def _hidden(sizes: Sizes) -> torch.Tensor:
    return sizes.noise(sizes.batch, sizes.length, sizes.get("hidden_size", "d_model", default=32))


def _regions(sizes: Sizes) -> torch.Tensor:
    return sizes.noise(sizes.batch, 5, sizes.get("visual_feat_dim", "visual_embedding_dim", default=16))


def _series(sizes: Sizes) -> torch.Tensor:
    """As many values as the model looks back on: its context and the longest of its lags."""
    lags = max(getattr(sizes.configs[0], "lags_sequence", None) or [0])
    return sizes.noise(sizes.batch, sizes.get("context_length", default=8) + lags)


def _channels(sizes: Sizes) -> torch.Tensor:
    length, channels = sizes.get("context_length", default=8), sizes.get("num_input_channels", default=1)
    return sizes.noise(sizes.batch, length, channels)


def _time_features(sizes: Sizes, length: int) -> torch.Tensor:
    return sizes.noise(sizes.batch, length, max(sizes.get("num_time_features", default=0), 1))


MAKERS: Mapping[str, tuple[Maker, ...]] = {
    "input_ids": (
        lambda sizes: sizes.ids(sizes.batch, sizes.length),
        _sentence,
        lambda sizes: sizes.ids(sizes.batch, sizes.get("num_codebooks", default=1), sizes.length).squeeze(1),
        lambda sizes: sizes.ids(sizes.batch * sizes.get("num_codebooks", default=1), sizes.length),
    ),
    "decoder_input_ids": (
        lambda sizes: sizes.ids(sizes.batch, sizes.length),
        lambda sizes: sizes.ids(sizes.batch * sizes.get("num_codebooks", default=1), sizes.length),
    ),
    "attention_mask": (_mask,),
    "bbox": (_bbox,),
    "pixel_values": (_image, _video, lambda sizes: _image(sizes).unsqueeze(1)),
    "pixel_values_videos": (_video,),
    "input_values": (
        lambda sizes: sizes.noise(sizes.batch, 2000),
        lambda sizes: sizes.noise(sizes.batch, 1, 2000),
        _frames,
    ),
    "input_features": (_spectrogram, _frames),
    "inputs_embeds": (_hidden,),
    "hidden_states": (_hidden, _image),
    "visual_feats": (_regions,),
    "visual_pos": (lambda sizes: sizes.noise(sizes.batch, 5, 4),),
    "past_values": (_series, _channels),
    "past_observed_mask": (lambda sizes: torch.ones_like(_series(sizes)),),
    "past_time_features": (lambda sizes: _time_features(sizes, _series(sizes).shape[1]),),
    "future_values": (lambda sizes: sizes.noise(sizes.batch, sizes.get("prediction_length", default=4)),),
    "future_time_features": (lambda sizes: _time_features(sizes, sizes.get("prediction_length", default=4)),),
}
"""For each argument what can be made up for it; later variants are for models that refuse the earlier."""

EXTRAS = (
    "pixel_values",
    "input_features",
    "input_values",
    "decoder_input_ids",
    "visual_feats",
    "visual_pos",
    "future_values",
    "future_time_features",
)
"""Arguments that have a default and that some forwards do not do without."""
