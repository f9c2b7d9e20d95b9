"""From `layers_per_ipu` to the IPU of every layer: wildcards, and the cut between an encoder and a decoder."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from copy import deepcopy
from itertools import accumulate
from typing import Any, NamedTuple

from pipelined.config import IPUConfig
from pipelined.config_fields import LayerCounts
from pipelined.errors import IncompatibleIPUConfigError


def get_layer_ipu(
    ipu_config: IPUConfig | Sequence[int], target_number_of_layers: int | Sized | None = None
) -> list[int]:
    """The IPU of each layer, in order.

    The first argument is a config, or its `layers_per_ipu`. The second is the layers or their number; without it
    wildcards stand for no layer. IncompatibleIPUConfigError where the two do not fit.
    """
    return [ipu for ipu, count in enumerate(layer_counts(ipu_config, target_number_of_layers)) for _ in range(count)]


def layer_counts(ipu_config: IPUConfig | Sequence[int], target: int | Sized | None = None) -> list[int]:
    """How many layers each IPU holds, wildcards filled in."""
    name, counts, ipus = _asked(ipu_config)
    if not all(isinstance(count, int) and count >= -1 for count in counts):
        raise IncompatibleIPUConfigError(f"Invalid values in {name}={counts}: each must be a whole number >= -1")
    if ipus < 1:
        raise IncompatibleIPUConfigError(f"Invalid number of IPUs {ipus} for {name}={counts}: it must be >= 1")
    if target is None:
        return counts
    layers = target if isinstance(target, int) else len(target)
    if ipus == 1:
        return [layers]
    if counts in ([-1], [-1] * ipus):
        return _shared([-1] * ipus, layers)
    if len(counts) != ipus:
        raise IncompatibleIPUConfigError(
            f"{name} has a non-default value set, but its length does not match ipus_per_replica:"
            f" {name}={counts}, ipus_per_replica={ipus}"
        )
    fixed = sum(count for count in counts if count != -1)
    if -1 in counts and fixed <= layers:
        return _shared(counts, layers - fixed)
    if fixed != layers:
        raise IncompatibleIPUConfigError(
            f"{name} does not define the correct number of layers for the current model: {name}={counts} places"
            f" {fixed} layers and the model has {layers}",
            hint="let -1 stand for the layers that are left",
        )
    return counts


class EncoderDecoderConfigs(NamedTuple):
    """The configs of the two halves of an encoder-decoder model."""

    encoder: IPUConfig
    decoder: IPUConfig


def split_encoder_decoder_ipu_config(
    ipu_config: IPUConfig, num_encoder_layers: int, num_decoder_layers: int
) -> EncoderDecoderConfigs:
    """One config for the encoder's IPUs, one for the decoder's, in the mode that the given one is in.

    The encoder gets the largest power of two of IPUs that hold its layers and no other. IncompatibleIPUConfigError
    where there is none; ValueError where a serialised embedding or projection would lie on both sides.
    """
    if ipu_config._ipus_per_replica < 2:
        name = ipu_config.field_name("ipus_per_replica")
        raise IncompatibleIPUConfigError(
            f"Need {name} to be at least 2 to split ipu_config into encoder and decoder configs"
        )
    counts = layer_counts(ipu_config, num_encoder_layers + num_decoder_layers)
    cut = _encoder_cut(ipu_config, counts, num_encoder_layers)
    halves = EncoderDecoderConfigs(deepcopy(ipu_config), deepcopy(ipu_config))
    _split_serialized(ipu_config, halves, cut)
    for half, part in zip(halves, (slice(None, cut), slice(cut, None)), strict=True):
        half._layers_per_ipu = counts[part]
        half._ipus_per_replica = len(counts[part])
        if isinstance(ipu_config._matmul_proportion, list):
            half._matmul_proportion = ipu_config._matmul_proportion[part]
    return halves


def _asked(ipu_config: IPUConfig | Sequence[Any]) -> tuple[str, list[Any], int]:
    """The name of the field that is read, its values, and the number of IPUs."""
    if isinstance(ipu_config, IPUConfig):
        return ipu_config.field_name("layers_per_ipu"), list(ipu_config._layers_per_ipu), ipu_config._ipus_per_replica
    ipus = ipu_config.ipus if isinstance(ipu_config, LayerCounts) else None
    return "layers_per_ipu", list(ipu_config), len(ipu_config) if ipus is None else ipus


def _shared(counts: Sequence[int], layers: int) -> list[int]:
    """The counts with these layers shared by the wildcards; the last wildcard takes the whole remainder."""
    wildcards = [ipu for ipu, count in enumerate(counts) if count == -1]
    each, left = divmod(layers, len(wildcards))
    filled = [each if count == -1 else count for count in counts]
    filled[wildcards[-1]] += left
    return filled


def _encoder_cut(ipu_config: IPUConfig, counts: Sequence[int], encoder_layers: int) -> int:
    ends = [ipus for ipus, total in enumerate(accumulate(counts), start=1) if total == encoder_layers]
    powers = [ipus for ipus in ends if ipus & (ipus - 1) == 0]
    if not powers:
        name = ipu_config.field_name("layers_per_ipu")
        raise IncompatibleIPUConfigError(
            f"Unable to find a valid split of ipu_config.{name}: {name}={list(counts)} with {encoder_layers} encoder"
            f" layers and {sum(counts) - encoder_layers} decoder layers",
            hint="give the encoder IPUs of its own, and let their number be a power of 2",
        )
    return powers[-1]


def _split_serialized(ipu_config: IPUConfig, halves: EncoderDecoderConfigs, cut: int) -> None:
    """Embedding splits go to the encoder and projection splits to the decoder, whole or not at all."""
    if splits := ipu_config._serialized_embedding_splits_per_ipu:
        halves.encoder._serialized_embedding_splits_per_ipu = splits[:cut]
        halves.decoder._serialized_embedding_splits_per_ipu = None
        _refuse_splits("SerializedEmbedding", splits, splits[cut:], belongs="encoder", lies="decoder")
    if splits := ipu_config._serialized_projection_splits_per_ipu:
        halves.encoder._serialized_projection_splits_per_ipu = None
        halves.decoder._serialized_projection_splits_per_ipu = splits[cut:]
        _refuse_splits("SplitProjection", splits, splits[:cut], belongs="decoder", lies="encoder")


def _refuse_splits(what: str, splits: Sequence[int], stray: Sequence[int], *, belongs: str, lies: str) -> None:
    if sum(stray):
        raise ValueError(
            f"The `{what}` must have all splits placed on the {belongs}, but {splits} results in {stray} being placed"
            f" on the {lies}"
        )
