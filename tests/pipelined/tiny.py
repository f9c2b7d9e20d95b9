"""Tiny configurations of transformers classes: the same architecture with every size as small as it goes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

SIZES: Mapping[str, int] = {
    "hidden_size": 32,
    "d_model": 32,
    "n_embd": 32,
    "dim": 32,
    "n_dim": 32,
    "embed_dim": 32,
    "embedding_size": 32,
    "emb_dim": 32,
    "model_dim": 32,
    "word_embed_proj_dim": 32,
    "encoder_hidden_size": 32,
    "decoder_hidden_size": 32,
    "text_hidden_size": 32,
    "vision_hidden_size": 32,
    "projection_dim": 32,
    "hidden_dim": 32,
    "intermediate_size": 64,
    "d_ff": 64,
    "d_inner": 64,
    "d_kv": 8,
    "ffn_dim": 64,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "moe_intermediate_size": 32,
    "shared_expert_intermediate_size": 32,
    "head_dim": 8,
    "num_hidden_layers": 4,
    "n_layer": 4,
    "n_layers": 4,
    "num_layers": 4,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "num_encoder_layers": 2,
    "num_decoder_layers": 2,
    "l_layers": 2,
    "x_layers": 2,
    "r_layers": 2,
    "depth": 2,
    "num_attention_heads": 4,
    "n_head": 4,
    "n_heads": 4,
    "num_heads": 4,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "num_key_value_heads": 4,
    "vocab_size": 160,
    "max_position_embeddings": 64,
    "n_positions": 64,
    "max_source_positions": 32,
    "max_target_positions": 32,
    "image_size": 32,
    "crop_size": 32,
    "frames_per_clip": 4,
    "num_frames": 4,
    "patch_size": 8,
    "num_mel_bins": 16,
    "num_experts": 4,
    "num_local_experts": 4,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
}
"""What a field of that name becomes, where it is larger."""

LISTS: Mapping[str, list[int]] = {
    "conv_dim": [16, 16],
    "conv_stride": [5, 4],
    "conv_kernel": [10, 8],
    "tdnn_dim": [16, 16],
    "tdnn_kernel": [3, 1],
    "tdnn_dilation": [1, 1],
    "num_heads": [2, 4, 8, 16],
    "num_attention_heads": [2, 4, 8, 16],
}
"""What a field of that name becomes when it is a list."""

MISSING: Mapping[str, int] = {"pad_token_id": 0, "vocab_size": 160, "prediction_length": 4, "num_key_value_heads": 4}
"""What a field of that name becomes when its default is None and a model cannot do without it."""


def tiny_config(config_class: type, **given: Any) -> Any:
    """A configuration of that class with small sizes; given fields win."""
    return config_class(**{**_small(config_class()), **given})


def tiny_model(model_class: Any, **given: Any) -> Any:
    """A model of that class in eval mode, with the same random weights each time and no dropout anywhere."""
    torch.manual_seed(0)
    return model_class(tiny_config(model_class.config_class, **given)).eval()


def _small(config: Any) -> dict[str, Any]:
    """The fields of a configuration that are too large, and what they become."""
    found: dict[str, Any] = {}
    layers = getattr(config, "num_hidden_layers", None)
    tokens = iter(range(159, 100, -1))
    for name, value in vars(config).items():
        if name in getattr(config, "sub_configs", {}) and value is not None:
            found[name] = tiny_config(type(value))
        elif name in MISSING and value is None:
            found[name] = MISSING[name]
        elif isinstance(value, bool) or value is None:
            continue
        elif name.endswith(("token_id", "token_index")) and isinstance(value, int):
            found[name] = value if value < 3 else next(tokens)
        elif isinstance(value, int) and name in SIZES:
            found[name] = min(value, SIZES[name])
        elif isinstance(value, list | tuple) and name in LISTS:
            found[name] = LISTS[name][: len(value)]
        elif isinstance(value, list) and isinstance(layers, int) and len(value) == layers > 4:
            found[name] = value[:2] + value[-2:]
    return found
