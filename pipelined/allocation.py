"""A placement for one model and one config: which block begins where, and on which IPU."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from torch import nn

from pipelined.errors import PlacementError
from pipelined.layers import get_layer_ipu, layer_counts
from pipelined.placement import Placement

if TYPE_CHECKING:
    from pipelined.config import IPUConfig

Parts = Mapping[str, nn.Module]


@dataclass(frozen=True)
class Assignment:
    """A module that begins a block, and the IPU of that block.

    `layer` counts the layers that are spread, from 0. `follows` is the layer that a part goes with wherever it goes.
    """

    module: str
    ipu: int
    layer: int | None = None
    follows: int | None = None


def allocate(model: nn.Module, placement: Placement, config: IPUConfig) -> tuple[Assignment, ...]:
    """Every block that this placement begins in the model.

    PlacementError where a name is not in the model, a module is placed twice or inside another, or wildcards leave
    an IPU without a layer; IncompatibleIPUConfigError where `layers_per_ipu` does not fit the layers.
    """
    parts = dict(model.named_modules(remove_duplicate=False))
    last = config._ipus_per_replica - 1
    found = [
        *(Assignment(name, 0) for name in _expanded(placement.first, parts)),
        *_spread(placement, parts, _layer_ipu(model, placement, parts, config)),
        *_in_quarters(placement.quarters, parts, last + 1),
        *(Assignment(name, last) for name in _expanded(placement.last, parts)),
        *(Assignment(name, 0) for name in _expanded(placement.back, parts)),
        *_heads(placement, parts, last),
    ]
    found += _beside(placement.beside, parts, {one.module: one for one in found})
    _refuse_overlap(found, parts)
    return tuple(found)


def layers_of(model: nn.Module, placement: Placement) -> tuple[str, ...]:
    """The names of the modules that `layers_per_ipu` counts, in order."""
    return tuple(_expanded(placement.layers, dict(model.named_modules(remove_duplicate=False))))


def _layer_ipu(model: nn.Module, placement: Placement, parts: Parts, config: IPUConfig) -> dict[str, int]:
    """The IPU of each layer; a wildcard that would stand for no layer is an error."""
    layers = list(_expanded(placement.layers, parts))
    ipus, asked = config._ipus_per_replica, config._layers_per_ipu
    counts = layer_counts(config, layers)
    wild = asked if len(asked) == ipus else [-1] * ipus
    if ipus > 1 and layers and any(count == 0 and ask == -1 for count, ask in zip(counts, wild, strict=True)):
        fixed = [ask for ask in wild if ask != -1]
        room = len(layers) - sum(fixed) + sum(ask > 0 for ask in fixed)
        raise PlacementError(
            f"{type(model).__name__} has too few layers ({len(layers)}) for {ipus} IPUs with"
            f" {config.field_name('layers_per_ipu')}={list(asked)}",
            hint=f"ask for no more IPUs than {max(room, 1)}, or write 0 for each IPU that is to stay without a layer",
        )
    return dict(zip(layers, get_layer_ipu(config, layers), strict=True))


def _spread(placement: Placement, parts: Parts, layer_ipu: Mapping[str, int]) -> Iterator[Assignment]:
    """The layers, each list between what stands beside its first and its last."""
    order = {name: index for index, name in enumerate(layer_ipu)}
    for entry in placement.layers:
        group = list(_expanded((entry,), parts))
        if not group:
            continue
        top, bottom = group[0], group[-1]
        for name in _expanded(placement.start.get(entry, ()), parts):
            yield Assignment(name, layer_ipu[top], follows=order[top])
        yield from (Assignment(name, layer_ipu[name], layer=order[name]) for name in group)
        for name in _expanded(placement.end.get(entry, ()), parts):
            yield Assignment(name, layer_ipu[bottom], follows=order[bottom])


def _in_quarters(quarters: Mapping[str, int], parts: Parts, ipus: int) -> Iterator[Assignment]:
    for entry, quarter in quarters.items():
        ipu = quarter if ipus >= 4 else quarter * ipus // 4
        yield from (Assignment(name, ipu) for name in _expanded((entry,), parts))


def _heads(placement: Placement, parts: Parts, last: int) -> Iterator[Assignment]:
    on_first = {parameter for name in _expanded(placement.first, parts) for parameter in parts[name].parameters()}
    for name in _expanded(placement.head, parts):
        tied = not on_first.isdisjoint(parts[name].parameters())
        yield Assignment(name, 0 if tied else last)


def _beside(beside: Mapping[str, str], parts: Parts, placed: Mapping[str, Assignment]) -> Iterator[Assignment]:
    for entry, neighbour in beside.items():
        for name in _expanded((entry,), parts):
            if neighbour not in placed:
                raise PlacementError(f"{name} is to go beside {neighbour}, which this placement puts nowhere")
            other = placed[neighbour]
            yield Assignment(name, other.ipu, follows=other.follows if other.layer is None else other.layer)


def _expanded(entries: Iterable[str], parts: Parts) -> Iterator[str]:
    """The modules that these names stand for: patterns resolved, lists replaced by their items."""
    for entry in entries:
        pattern = entry.removesuffix("?")
        names = [name for name in parts if _matches(name, pattern)] if "*" in pattern else [pattern]
        if (not names or names[0] not in parts) and not entry.endswith("?"):
            raise PlacementError(f"the model has no module {pattern!r}", hint=_near(pattern, parts))
        for name in names:
            if isinstance(parts.get(name), nn.ModuleList):
                yield from (f"{name}.{index}" for index in range(len(parts[name])))
            elif name in parts:
                yield name


def _matches(name: str, pattern: str) -> bool:
    """Whether each component of the name matches its component of the pattern."""
    ours, theirs = name.split("."), pattern.split(".")
    return len(ours) == len(theirs) and all(map(fnmatchcase, ours, theirs))


def _near(pattern: str, parts: Parts) -> str:
    near = get_close_matches(pattern, parts, n=3)
    return f"did you mean {', '.join(near)}?" if near else f"it begins with {', '.join(list(parts)[1:6])}"


def _refuse_overlap(found: Iterable[Assignment], parts: Parts) -> None:
    """Each module once, under one name, and none inside another that is placed too."""
    places: dict[nn.Module, Assignment] = {}
    for one in found:
        other = places.setdefault(parts[one.module], one)
        if other is not one:
            shared = "" if other.module == one.module else f" (it is the same module as {other.module})"
            raise PlacementError(
                f"{one.module}{shared} is placed twice: on IPU {other.ipu} and on IPU {one.ipu}",
                hint="name it once; a module that is called several times still is one block",
            )
    names = {one.module for one in places.values()}
    for name in sorted(names):
        heads = (name[:end] for end, letter in enumerate(name) if letter == ".")
        if outer := next((head for head in heads if head in names), None):
            raise PlacementError(
                f"{name} is placed, and so is {outer}, which it is a part of",
                hint="place either the whole or its parts",
            )
