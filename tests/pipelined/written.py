"""Models that nobody but a user would write, to be cut between their layers."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from transformers import PretrainedConfig, PreTrainedModel

WIDTH, LAYERS = 8, 4


class WrittenConfig(PretrainedConfig):
    model_type = "written"


class InPlace(PreTrainedModel):
    """Writes into what its layers return: an addition, and zeros where a mask says so."""

    config_class = WrittenConfig

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.embed = nn.Linear(3, WIDTH)
        self.layers = nn.ModuleList(nn.Sequential(nn.Tanh(), nn.Linear(WIDTH, WIDTH)) for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, 1)
        self.post_init()

    def forward(self, values: torch.Tensor, mask: torch.Tensor) -> dict[str, torch.Tensor]:
        hidden = self.embed(values)
        first = hidden
        for layer in self.layers:
            hidden = layer(hidden)
            hidden += 0.5
            hidden[mask] = 0
        hidden = hidden + first
        return {"loss": self.head(hidden).square().mean(), "hidden": hidden}


class Normalised(PreTrainedModel):
    """Convolutions, each with a batch normalisation."""

    config_class = WrittenConfig

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.layers = nn.ModuleList(
            nn.Sequential(nn.Conv2d(3, 3, 3, padding=1), nn.BatchNorm2d(3), nn.ReLU()) for _ in range(LAYERS)
        )
        self.head = nn.Linear(3, 1)
        self.post_init()

    def forward(self, values: torch.Tensor) -> dict[str, torch.Tensor]:
        hidden = values
        for layer in self.layers:
            hidden = layer(hidden)
        return {"loss": self.head(hidden.mean((2, 3))).square().mean()}


class Skipping(nn.Module):
    """Adds what the first layer returned to what the last returns, where the inputs say so."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(LAYERS))

    def forward(self, values: torch.Tensor, flags: torch.Tensor) -> dict[str, torch.Tensor]:
        first = hidden = self.layers[0](values)
        for layer in self.layers[1:]:
            hidden = layer(hidden).tanh()
        return {"loss": (hidden + first if flags.any() else hidden).square().mean()}


class Plain(nn.Module):
    """No more than torch asks of a module."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(LAYERS))

    def forward(self, values: torch.Tensor) -> dict[str, torch.Tensor]:
        for layer in self.layers:
            values = layer(values).tanh()
        return {"loss": values.square().mean()}
