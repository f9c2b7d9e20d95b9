"""The classes that the tests go through: those with a placement, and others that have to be looked at."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import transformers
from torch import nn

from pipelined.catalog import families, placements

OURS = {"groupbert": "pipelined.models.groupbert"}


def original(name: str) -> Any:
    """The class of that name: of transformers, or of our own models."""
    family = next(family for family, classes in families().items() if name in classes)
    return getattr(importlib.import_module(OURS.get(family, "transformers")), name)


def registered_classes() -> tuple[str, ...]:
    """The names of all classes with a placement of their own."""
    return tuple(placements())


@cache
def all_classes() -> dict[str, Any]:
    """Every class of the installed transformers that has a forward, by name; a module that does not import has none."""
    return {cls.__name__: cls for module in _modeling_modules() for cls in _models(module)}


def _modeling_modules() -> Iterator[Any]:
    folder = Path(str(transformers.__file__)).parent / "models"
    for path in sorted(folder.glob("*/modeling_*.py")):
        try:
            yield importlib.import_module(f"transformers.models.{path.parent.name}.{path.stem}")
        except ImportError:
            continue


def _models(module: Any) -> Iterator[Any]:
    for value in vars(module).values():
        own = isinstance(value, type) and value.__module__ == module.__name__
        if own and issubclass(value, transformers.PreTrainedModel) and value.forward is not nn.Module.forward:
            yield value
