"""What holds for every pipelined class, also for one whose `parallelize` was written by hand.

`PipelineMixin` wraps these methods of each subclass, so that the promises do not depend on what the subclass does.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from types import MappingProxyType
from typing import Any

from torch import nn

from pipelined.blocks import blocks
from pipelined.changes import capture, undo
from pipelined.describe import allocation_table
from pipelined.errors import PipelineError, PlacementError

logger = logging.getLogger(__name__)

Method = Callable[..., Any]

_BUSY = "_pipeline_busy"
_CHANGES = "_pipeline_changes"


def original_class(cls: type) -> type:
    """The first base that is a model and not a pipelined one; PipelineError where there is none."""
    from pipelined.mixin import PipelineMixin

    for base in cls.__mro__[1:]:
        if issubclass(base, nn.Module) and base is not nn.Module and not issubclass(base, PipelineMixin):
            return base
    raise PipelineError(
        f"Was not able to find original transformers class for {cls.__name__}",
        hint="inherit from the original class and PipelineMixin, or name it in @register(...)",
    )


def is_parallelized(model: nn.Module) -> bool:
    """Whether `parallelize` has run and `deparallelize` has not."""
    return _CHANGES in model.__dict__


@contextmanager
def as_original(model: Any) -> Iterator[None]:
    """While this lasts the pipelined model is of its original class, whose name tells others how to treat it."""
    cls = type(model)
    model.__class__ = original_class(cls)
    try:
        yield
    finally:
        model.__class__ = cls


def guard(cls: type) -> None:
    """Wrap the guarded methods that the class has or inherits, each once."""
    for name, wrap in _GUARDS.items():
        method = getattr(cls, name, None)
        if method is not None and not hasattr(method, "_guarded"):
            guarded = wraps(method)(wrap(method))
            guarded._guarded = True  # type: ignore[attr-defined]
            setattr(cls, name, guarded)


def _remembering(parallelize: Method) -> Method:
    """Refuse to run twice; note what changes; put everything back if it fails; return the model whatever it returns."""

    def outermost(self: Any, *args: Any, **kwargs: Any) -> Any:
        if _BUSY in self.__dict__:
            return parallelize(self, *args, **kwargs)
        _refuse(self, parallelized=True)
        _refuse_scattered(self)
        before = capture(self)
        self.__dict__[_BUSY] = True
        try:
            parallelize(self, *args, **kwargs)
            _check_blocks(self)
        except BaseException:
            undo(before, capture(self))
            raise
        finally:
            self.__dict__.pop(_BUSY, None)
        self.__dict__[_CHANGES] = (before, capture(self))
        logger.info("Device Allocation\n%s", allocation_table(blocks(self)))
        return self

    return outermost


def _undoing(deparallelize: Method) -> Method:
    """Run what the class does itself, then undo whatever of `parallelize` is still there."""

    def outermost(self: Any, *args: Any, **kwargs: Any) -> Any:
        if _BUSY in self.__dict__:
            return deparallelize(self, *args, **kwargs)
        _refuse(self, parallelized=False)
        self.__dict__[_BUSY] = True
        try:
            deparallelize(self, *args, **kwargs)
        finally:
            self.__dict__.pop(_BUSY, None)
        undo(*self.__dict__.pop(_CHANGES))
        return self

    return outermost


def _as_original(save_pretrained: Method) -> Method:
    """Save under the name of the original class, which is what the checkpoint is for."""

    def save(self: Any, *args: Any, **kwargs: Any) -> Any:
        with as_original(self):
            return save_pretrained(self, *args, **kwargs)

    return save


def _with_words_of_ours(getattribute: Method) -> Method:
    """Answer for a missing config: `nn.Module` would drop the message of the property."""

    def get(self: Any, name: str) -> Any:
        if name == "ipu_config":
            raise AttributeError("No IPUConfig was found. Please set the ipu_config attribute")
        return getattribute(self, name)

    return get


_GUARDS: Mapping[str, Callable[[Method], Method]] = MappingProxyType(
    {
        "parallelize": _remembering,
        "deparallelize": _undoing,
        "save_pretrained": _as_original,
        "__getattr__": _with_words_of_ours,
    }
)


def _refuse(model: nn.Module, *, parallelized: bool) -> None:
    if is_parallelized(model) is not parallelized:
        return
    name = type(model).__name__
    if parallelized:
        raise PipelineError(f"{name} is parallelized already", hint="call deparallelize() before doing it anew")
    raise PipelineError(f"{name} is not parallelized, there is nothing to undo", hint="call parallelize() first")


def _refuse_scattered(model: nn.Module) -> None:
    """A model that something else has spread over devices cannot be placed."""
    devices = sorted({str(parameter.device) for parameter in model.parameters()})
    if len(devices) > 1 or getattr(model, "hf_device_map", None):
        raise PlacementError(
            f"{type(model).__name__} is spread over {', '.join(devices)} already",
            hint="load it without device_map, or move it to one device with .to(...), before parallelize()",
        )


def _check_blocks(model: Any) -> None:
    """A block is on one IPU, and that is an IPU of the config."""
    ipus = model.ipu_config._ipus_per_replica
    seen: dict[str, int | None] = {}
    for mark in blocks(model):
        if mark.ipu_id is not None and not 0 <= mark.ipu_id < ipus:
            raise PlacementError(
                f"block {mark.user_id!r} ({mark.module}) is placed on IPU {mark.ipu_id}, and the config has"
                f" {ipus}: IPU 0 to IPU {ipus - 1}",
                hint=f"raise {model.ipu_config.field_name('ipus_per_replica')}, or place it on one of these",
            )
        if mark.user_id is not None and seen.setdefault(mark.user_id, mark.ipu_id) != mark.ipu_id:
            raise PlacementError(
                f"the block name {mark.user_id!r} is given twice: on IPU {seen[mark.user_id]}, and on IPU"
                f" {mark.ipu_id} for {mark.module}",
                hint="modules of one name are one block: give this one a name of its own",
            )
