"""The sizes that a batch for a model has, read from the model's configuration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch


class Sizes:
    """Sizes found by name in a configuration and in those inside it, and tensors of them that are always the same."""

    def __init__(self, config: Any, batch: int, length: int, device: torch.device) -> None:
        self.configs = tuple(_nested(config))
        self.batch, self.length, self.device = batch, length, device

    def get(self, *names: str, default: int) -> int:
        """The first of these fields that is a number, or a list of equal ones, in any of the configurations."""
        for config in self.configs:
            for name in names:
                value = getattr(config, name, None)
                if isinstance(value, (list, tuple)) and value and len(set(value)) == 1:
                    value = value[0]
                if isinstance(value, int) and not isinstance(value, bool):
                    return value
        return default

    def ids(self, *shape: int) -> torch.Tensor:
        """Token ids that vary, none of them special: a vocabulary keeps its special tokens at its ends."""
        top = min(self.get("vocab_size", "text_vocab_size", default=100), 100)
        least = min(3, top - 1)
        count = torch.Size(shape).numel()
        return (torch.arange(count, device=self.device) * 7 % (top - least) + least).reshape(shape)

    def noise(self, *shape: int) -> torch.Tensor:
        """Numbers between -1 and 1 that look random."""
        count = torch.Size(shape).numel()
        return torch.sin(torch.arange(count, device=self.device, dtype=torch.float32) * 12.9898).reshape(shape)


def _nested(config: Any) -> Iterator[Any]:
    """The configuration itself, then those that it holds."""
    yield config
    for name in getattr(config, "sub_configs", {}):
        if (inner := getattr(config, name, None)) is not None:
            yield from _nested(inner)
