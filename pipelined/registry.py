"""Which pipelined class stands for which original one."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeVar

from torch import nn

from pipelined.catalog import is_known, placements
from pipelined.errors import PipelineError, UnregisteredModelError
from pipelined.guards import original_class
from pipelined.mixin import PipelineMixin

if TYPE_CHECKING:
    from pipelined.config import IPUConfig

C = TypeVar("C", bound=type)

_PIPELINED: dict[type, type[PipelineMixin]] = {}
_DERIVED: dict[type, type[PipelineMixin]] = {}


def register(transformers_cls: type | None = None, *, override: bool = False) -> Callable[[C], C]:
    """Decorate a pipelined class; `to_pipelined` then uses it for models of the original class.

    Without an argument the original is the first base that is neither `PipelineMixin` nor a mixin of a family.
    PipelineError where there is none, or where the original has a pipelined class and `override` is not given.
    """

    def decorate(cls: C) -> C:
        original = transformers_cls or original_class(cls)
        known = _PIPELINED.get(original)
        if known is not None and not override:
            raise PipelineError(
                f"{original.__name__} has a pipelined class already, {known.__module__}.{known.__qualname__}",
                hint=f"write @register(..., override=True) for {cls.__name__} to take its place",
            )
        _PIPELINED[original] = cls
        return cls

    return decorate


def registered(original: type) -> type[PipelineMixin]:
    """The pipelined class of an original class: one that was registered, or one made from its placement.

    UnregisteredModelError, a KeyError, names classes with similar names where there is neither.
    """
    if original in _PIPELINED:
        return _PIPELINED[original]
    if not is_known(original):
        names = sorted({cls.__name__ for cls in _PIPELINED} | set(placements()))
        near = get_close_matches(original.__name__, names, n=3)
        raise UnregisteredModelError(
            f"{original.__name__} pipelined version not found in registry.",
            hint=(f"similar names are there: {', '.join(near)}; " if near else "")
            + "register a class of your own, or let to_pipelined(..., force=True) find a placement",
        )
    return _derived(original)


def to_pipelined(
    model: nn.Module,
    ipu_config: IPUConfig,
    force: bool = False,  # noqa: FBT001, FBT002 - a published signature
) -> Any:
    """The pipelined version of a model, with the same parameters: no weight is copied.

    A PEFT model stays one, around the pipelined version of its base model. A class without a pipelined version is an
    UnregisteredModelError, unless `force` lets a placement be found when the model is parallelized.
    """
    base = without_peft(model)
    cls = _pipelined_class(type(base), force=force)
    return cls.from_transformers(model, ipu_config) if base is model else cls.from_peft(model, ipu_config)


def without_peft(model: nn.Module) -> nn.Module:
    """The model that a PEFT model adapts, or the model itself."""
    if hasattr(model, "peft_config") and hasattr(model, "get_base_model"):
        base: nn.Module = model.get_base_model()
        return base
    return model


def _pipelined_class(own: type, *, force: bool) -> type[PipelineMixin]:
    if issubclass(own, PipelineMixin):
        return own
    if force and own not in _PIPELINED:
        return _derived(own)
    return registered(own)


def _derived(original: type) -> type[PipelineMixin]:
    """A pipelined class of nothing but the original and the mixin; the same one each time."""
    if original not in _DERIVED:
        _DERIVED[original] = type(f"Pipelined{original.__name__}", (PipelineMixin, original), {})
    return _DERIVED[original]
