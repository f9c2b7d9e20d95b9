"""Which IPUs hold which parameter: those whose blocks contain it, and all where code outside blocks reads it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from torch import nn

from pipelined.blocks import blocks


@dataclass(frozen=True)
class Holders:
    """By name the IPUs that hold a parameter or buffer, in ascending order; tied names have one entry each.

    `names` gives each parameter that is there once the first of its names.
    """

    ipus: Mapping[str, tuple[int, ...]]
    names: Mapping[str, str]

    def held_by(self, ipu: int) -> tuple[str, ...]:
        """The first names of the parameters that an IPU holds."""
        return tuple(name for name in dict.fromkeys(self.names.values()) if ipu in self.ipus[name])

    @cached_property
    def shared(self) -> dict[tuple[int, ...], tuple[str, ...]]:
        """By group of more than one IPU the first names of the parameters that they all hold."""
        groups: dict[tuple[int, ...], list[str]] = {}
        for name in dict.fromkeys(self.names.values()):
            if len(self.ipus[name]) > 1:
                groups.setdefault(self.ipus[name], []).append(name)
        return {ipus: tuple(names) for ipus, names in sorted(groups.items())}


def holders(model: nn.Module, ipus: int, glue: Iterable[str]) -> Holders:
    """Who holds what of a parallelized model; `glue` names the parameters that code outside blocks reads.

    What is in no block and is read by nothing in a forward pass is held by all: nobody knows what it is for.
    """
    first: dict[nn.Parameter, str] = {}
    names = {name: first.setdefault(one, name) for name, one in model.named_parameters(remove_duplicate=False)}
    inside: dict[str, set[int]] = {}
    for mark in blocks(model):
        for name, _ in model.get_submodule(mark.module).named_parameters(remove_duplicate=False):
            inside.setdefault(names[f"{mark.module}.{name}"], set()).add(mark.ipu_id or 0)
    everywhere = {names[name] for name in glue}
    found = {
        name: tuple(range(ipus)) if one in everywhere or one not in inside else tuple(sorted(inside[one]))
        for name, one in names.items()
    }
    return Holders(found, names)
