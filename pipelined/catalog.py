"""The placements that are known: a table a class in `placements/`, and the pipeline plans of transformers' configs."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from torch import nn

from pipelined.errors import PlacementError
from pipelined.placement import Placement


@cache
def families() -> Mapping[str, Mapping[str, Placement]]:
    """By family, which is the name of its file, the placement of each class."""
    folder = files("pipelined").joinpath("placements")
    found = sorted((file.name, file) for file in folder.iterdir() if file.name.endswith(".toml"))
    return {name.removesuffix(".toml"): _family(tomllib.loads(file.read_text("utf-8"))) for name, file in found}


@cache
def placements() -> Mapping[str, Placement]:
    """By name of the original class, its placement."""
    return {name: placement for family in families().values() for name, placement in family.items()}


def is_known(original: type) -> bool:
    """Whether the class has a placement that nobody needs to look for: a table, or a pipeline plan."""
    return _table_of(original) is not None or bool(_plan_of(original))


def placement_for(model: nn.Module, original: type) -> Placement:
    """The placement of a model: from its class's table, else from its config's pipeline plan, else discovered."""
    return _table_of(original) or from_pipeline_plan(model) or Placement.discover(model)


def from_pipeline_plan(model: Any) -> Placement | None:
    """The placement that `base_model_pp_plan` describes; None where the configuration has none for this model.

    The plan names the parts of the base model in the order of their calls. What the model has beside its base model
    and its plan does not name is a head.
    """
    plan = _plan_of(type(model))
    prefix = getattr(model, "base_model_prefix", "")
    prefix = prefix if hasattr(model, prefix) else ""
    base = model.get_submodule(prefix)
    names = [name for name in plan if isinstance(getattr(base, name, None), nn.Module)]
    lists = [name for name in names if isinstance(getattr(base, name), nn.ModuleList)]
    if len(names) < len(plan) or len(lists) != 1:
        return None
    at = names.index(lists[0])
    first, layers, last = ([f"{prefix}.{name}" if prefix else name for name in part] for part in _cut(names, at))
    heads = [name for name, part in model.named_children() if name != prefix and any(True for _ in part.parameters())]
    return Placement(first=tuple(first), layers=tuple(layers), last=tuple(last), head=tuple(heads) if prefix else ())


def _cut(names: list[str], at: int) -> tuple[list[str], list[str], list[str]]:
    return names[:at], names[at : at + 1], names[at + 1 :]


def _family(tables: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Placement]:
    defaults = tables.get("defaults", {})
    return {name: _read(name, {**defaults, **table}) for name, table in tables.items() if name != "defaults"}


def _read(name: str, table: Mapping[str, Any]) -> Placement:
    try:
        return Placement.from_table(table)
    except PlacementError as error:
        raise PlacementError(f"in the placement of {name}: {error.args[0]}", hint=error.hint) from error


def _table_of(original: type) -> Placement | None:
    """The table of a class; a class of the same name that somebody else wrote is another class."""
    package = original.__module__.partition(".")[0]
    return placements().get(original.__name__) if package in ("transformers", "pipelined") else None


def _plan_of(model_class: type) -> Mapping[str, Any]:
    return getattr(getattr(model_class, "config_class", None), "base_model_pp_plan", None) or {}
