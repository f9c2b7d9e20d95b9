"""Where the parts of a class go, as data: names of modules, and a rule for each that knows no number of IPUs.

`placements/*.toml` holds one table a class. `allocation.py` turns a placement into IPUs for one model and one config.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

from pipelined.errors import PlacementError

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True, kw_only=True)
class Placement:
    """The parts of a model and the rule by which each gets its IPU.

    A name is a module's path; `*` stands for one component of it, a question mark at the end says that a model may
    lack the part. A list of modules stands for its items.
    """

    first: tuple[str, ...] = ()
    """On IPU 0, before the layers."""
    layers: tuple[str, ...] = ()
    """Counted together, in this order, and spread by `layers_per_ipu`."""
    start: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Beside the first layer that the key, one of `layers`, stands for."""
    end: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Beside the last layer that the key, one of `layers`, stands for."""
    last: tuple[str, ...] = ()
    """On the last IPU, after the layers."""
    back: tuple[str, ...] = ()
    """After the layers, but back on IPU 0: where the weights are that they share."""
    head: tuple[str, ...] = ()
    """After the layers: back on IPU 0 where it shares a parameter with one of `first`, else on the last IPU."""
    beside: Mapping[str, str] = field(default_factory=dict)
    """On the IPU of another part."""
    quarters: Mapping[str, int] = field(default_factory=dict)
    """On this one of four IPUs, whatever `layers_per_ipu` says; with fewer IPUs neighbours share one."""
    tied: tuple[tuple[str, ...], ...] = ()
    """Parameters that are one tensor when the configuration ties them."""

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> Self:
        """The placement that a TOML table describes; PlacementError names a key that means nothing."""
        known = [one.name for one in fields(cls)]
        if unknown := sorted(set(table) - set(known)):
            raise PlacementError(
                f"a placement has no key {', '.join(unknown)}", hint=f"the keys are {', '.join(known)}"
            )
        return cls(**{name: _frozen(value) for name, value in table.items()})

    @classmethod
    def discover(cls, model: nn.Module, inputs: Mapping[str, Any] | None = None) -> Placement:
        """The placement of any model, from its structure and the order in which a forward pass calls its parts.

        Without inputs a small batch is made up from the model's configuration. PlacementError where the model has no
        repeated layers, or where its forward cannot be run.
        """
        from pipelined.discover import discover

        return discover(model, inputs)


def _frozen(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_frozen(item) for item in value)
    if isinstance(value, dict):
        return MappingProxyType({key: _frozen(item) for key, item in value.items()})
    return value
