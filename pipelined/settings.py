"""What decides, besides its inputs, what flows through a model: its modes, its configuration, what of it trains."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from zlib import crc32

import torch
from torch import nn


def modes(model: nn.Module, device_type: str) -> str:
    """In words, the same in every process: whether it is in training, and in which precision it computes."""
    casts = torch.get_autocast_dtype(device_type) if torch.is_autocast_enabled(device_type) else None
    return f"training={model.training} autocast={casts}"


def configured(model: nn.Module) -> int:
    """A number that changes where the configuration does, in this process: saving writes into that of one alone."""
    return crc32(repr(_plain(getattr(model, "config", None))).encode())


def trains(model: nn.Module) -> str:
    """In words which parameters take gradients, those that are elsewhere too."""
    flags = bytes(parameter.requires_grad for parameter in model.parameters())
    return f"{sum(flags)} of {len(flags)} parameters train ({crc32(flags):08x})"


def _plain(config: Any) -> Mapping[str, Any]:
    """What a configuration and those in it say; they have words of their own, which take long to find."""
    return {
        name: _plain(value) if hasattr(value, "__dict__") else value
        for name, value in getattr(config, "__dict__", {}).items()
    }
