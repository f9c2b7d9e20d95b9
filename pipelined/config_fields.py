"""Kinds of fields that an `IPUConfig` has beside plain ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pipelined.config import IPUConfig

LATER: Any = None
"""The default of a field that is worked out of others when the config is made: no reader ever sees it."""


class ForMode:
    """The field of that name in training mode, and its `inference_` twin in inference mode."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, config: IPUConfig, owner: type[IPUConfig] | None = None) -> Any:
        return getattr(config, config.field_name(self.name))

    def __set__(self, config: IPUConfig, value: Any) -> None:
        setattr(config, config.field_name(self.name), value)


class LayerCounts(list[int]):
    """Layers per IPU that also know over how many IPUs a lone wildcard `[-1]` spreads."""

    ipus: int | None = None
