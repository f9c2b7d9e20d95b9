"""Find a placement by looking: which lists of modules a model repeats, and in what order a forward calls its parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from pipelined.dataflow import dataflow
from pipelined.errors import PlacementError
from pipelined.placement import Placement
from pipelined.sample import sample_batches, sample_inputs

SMALL_LIST = 0.1
"""A list with less than this share of the largest list's parameters is a detail of some part, not layers to spread."""


def discover(model: nn.Module, inputs: Mapping[str, Any] | None = None) -> Placement:
    """The placement that the order of calls shows; see `Placement.discover`."""
    calls = _sampled_order(model) if inputs is None else call_order(model, inputs)
    entries = _layer_entries(model, calls)
    if not entries:
        raise PlacementError(
            f"{type(model).__name__} has no list of layers that its forward calls, so there is nothing to spread",
            hint="state a placement for it, or keep it on one IPU",
        )
    return _placement(model, calls, entries)


def call_order(model: nn.Module, inputs: Mapping[str, Any], *, empty: bool = False) -> tuple[str, ...]:
    """The names of all modules that a forward calls, each where it is called first; PlacementError where it fails.

    Nothing is left behind: no hook, no changed buffer, no step of the random number generator. With `empty` the forward
    needs no weights: whatever depends on one is not computed.
    """
    order: dict[str, None] = {}
    names = dict(model.named_modules())
    handles = [
        module.register_forward_pre_hook(lambda *_, name=name: order.setdefault(name)) for name, module in names.items()
    ]
    try:
        with torch.no_grad(), torch.random.fork_rng(devices=[]), _buffers_kept(model):
            dataflow(model, inputs, empty=True) if empty else model(**inputs)
    except Exception as error:
        raise PlacementError(
            f"the forward of {type(model).__name__} could not be run on {', '.join(inputs) or 'no inputs'}: {error}",
            hint="give Placement.discover(model, inputs) the inputs that it takes, or state a placement",
        ) from error
    finally:
        for handle in handles:
            handle.remove()
    return tuple(order)


@contextmanager
def _buffers_kept(model: nn.Module) -> Iterator[None]:
    """Afterwards the model has the buffers that it had, and they hold what they held."""
    before = [
        (module, name, buffer, buffer.clone())
        for module in model.modules()
        for name, buffer in module._buffers.items()
        if buffer is not None
    ]
    try:
        yield
    finally:
        for module, name, buffer, value in before:
            module._buffers[name] = buffer
            buffer.copy_(value)


def _sampled_order(model: nn.Module) -> tuple[str, ...]:
    """The order of calls for the first sample batch that the forward accepts; PlacementError where it refuses all."""
    try:
        with _buffers_kept(model):
            return call_order(model, sample_inputs(model))
    except PlacementError:
        if not any(parameter.is_meta for parameter in model.parameters()):
            raise
    # Without weights, some forwards cannot be run on empty inputs: they ask what is in them.
    refusal: PlacementError | None = None
    for inputs in sample_batches(model, device=torch.device("cpu")):
        try:
            return call_order(model, inputs, empty=True)
        except PlacementError as error:
            refusal = refusal or error
    raise refusal or PlacementError(f"no batch could be made up for {type(model).__name__}")


@dataclass(frozen=True)
class _Entry:
    """A name as it stands in `Placement.layers`, and the modules that it stands for."""

    name: str
    items: tuple[str, ...]


def _layer_entries(model: nn.Module, calls: tuple[str, ...]) -> list[_Entry]:
    """The lists of layers in the order of their calls; where two lists take turns, their items one by one."""
    lists = _large(model, _outermost(model, nn.ModuleList, calls) or _outermost(model, nn.Sequential, calls))
    owner = {item: entry for entry in lists for item in entry.items}
    sequence = [name for name in calls if name in owner]
    whole = all(_is_whole(model, entry, sequence) for entry in lists)
    if whole:
        return sorted(lists, key=lambda entry: sequence.index(entry.items[0]))
    return [_Entry(name, (name,)) for name in sequence]


def _outermost(model: nn.Module, kind: Any, calls: Iterable[str]) -> list[_Entry]:
    """Each container of that kind with items that are called, unless it lies in an item of another."""
    called = set(calls)
    found: list[_Entry] = []
    for name, module in model.named_modules():
        if not isinstance(module, kind) or any(_inside(name, item) for entry in found for item in entry.items):
            continue
        items = tuple(item for own, _ in module.named_children() if (item := f"{name}.{own}") in called)
        # A list of one stands for no repetition: what repeats is inside.
        if len(items) == 1 and _outermost(model.get_submodule(items[0]), kind, _below(items[0], called)):
            continue
        if items:
            found.append(_Entry(name, items))
    return found


def _large(model: nn.Module, lists: list[_Entry]) -> list[_Entry]:
    sizes = {entry: sum(_size(model.get_submodule(item)) for item in entry.items) for entry in lists}
    most = max(sizes.values(), default=0)
    return [entry for entry in lists if sizes[entry] and sizes[entry] >= SMALL_LIST * most]


def _is_whole(model: nn.Module, entry: _Entry, sequence: list[str]) -> bool:
    """Whether all items of a list are called, in order, and no other layer in between."""
    at = sequence.index(entry.items[0])
    module = model.get_submodule(entry.name)
    listed = isinstance(module, nn.ModuleList) and len(module) == len(entry.items)
    return listed and tuple(sequence[at : at + len(entry.items)]) == entry.items


def _placement(model: nn.Module, calls: tuple[str, ...], entries: list[_Entry]) -> Placement:
    """Place what has parameters and is no layer by where it is called: before, between or after the layers."""
    entry_of = {item: entry for entry in entries for item in entry.items}
    first: list[str] = []
    head: list[str] = []
    start: dict[str, tuple[str, ...]] = {}
    end: dict[str, tuple[str, ...]] = {}
    beside: dict[str, str] = {}
    position = {name: index for index, name in enumerate(calls)}
    layers = sorted(entry_of, key=lambda item: position[item])
    for atom in _atoms(model, calls, layers):
        before = [item for item in layers if position[item] < position[atom]]
        after = [item for item in layers if position[item] > position[atom]]
        if not before or (after and _tied(model, atom, first)):
            first.append(atom)
        elif not after:
            head.append(atom)
        elif entry_of[before[-1]] is entry_of[after[0]]:
            beside[atom] = before[-1]
        elif _kinship(atom, after[0]) > _kinship(atom, before[-1]):
            start[entry_of[after[0]].name] = (*start.get(entry_of[after[0]].name, ()), atom)
        else:
            end[entry_of[before[-1]].name] = (*end.get(entry_of[before[-1]].name, ()), atom)
    names = tuple(entry.name for entry in entries)
    return Placement(first=tuple(first), layers=names, start=start, end=end, head=tuple(head), beside=beside)


def _atoms(model: nn.Module, calls: tuple[str, ...], layers: list[str]) -> list[str]:
    """The largest called modules with parameters that neither are, nor hold, nor lie in a layer.

    A module that holds one that was called before it, from outside, is taken apart as well.
    """
    atoms: list[str] = []
    for name in calls:
        related = any(_inside(name, other) or _inside(other, name) for other in [*layers, *atoms])
        if not related and _size(model.get_submodule(name)):
            atoms.append(name)
    return atoms


def _tied(model: nn.Module, name: str, others: list[str]) -> bool:
    shared = {parameter for other in others for parameter in model.get_submodule(other).parameters()}
    return not shared.isdisjoint(model.get_submodule(name).parameters())


def _kinship(one: str, other: str) -> int:
    """How many components two names have in common at their beginning."""
    common = 0
    for ours, theirs in zip(one.split("."), other.split("."), strict=False):
        if ours != theirs:
            break
        common += 1
    return common


def _inside(name: str, outer: str) -> bool:
    return outer in ("", name) or name.startswith(f"{outer}.")


def _below(outer: str, names: Iterable[str]) -> list[str]:
    return [name.removeprefix(f"{outer}.") for name in names if name.startswith(f"{outer}.")]


def _size(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())
