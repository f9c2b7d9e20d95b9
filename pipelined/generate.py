"""Generation over stages: every process runs transformers' own loop, and the stages compute each forward pass in it."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache, wraps
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_map
from transformers import DynamicCache

from pipelined.agreement import content
from pipelined.errors import PipelineError
from pipelined.flows import without_cache
from pipelined.registry import without_peft
from pipelined.relay import Relay
from pipelined.subbatches import Forward


def generate(relay: Relay, args: Sequence[Any], arguments: Mapping[str, Any]) -> Any:
    """What the model's `generate` returns for these arguments, in every process.

    What the loop itself raises, every process raises, and the session lives on.
    """
    model: Any = without_peft(relay.runner.model)
    if not callable(getattr(model, "generate", None)):
        raise PipelineError(f"{type(model).__name__} does not generate")
    args, arguments = tree_map(relay.runner.moved, (tuple(args), dict(arguments)))
    relay.raised_by_all = False
    relay.share_random_state()
    result, error = None, None
    beams, device = _beams(model, args, arguments), relay.runner.ranks.device
    try:
        with _evaluating(model), _on(model, device), _relayed(model, relay, beams):
            result = model.generate(*args, **arguments)
    except Exception as raised:
        if relay.raised_by_all:
            raise
        error = raised
    # The others are about to agree as well: on their next forward pass, or here on the end.
    relay.agree(f"generated {_generated(result):08x}", error)
    return result


@contextmanager
def _evaluating(model: nn.Module) -> Iterator[None]:
    """Have every module in eval mode for a while."""
    training = [module for module in model.modules() if module.training]
    for module in training:
        module.training = False
    try:
        yield
    finally:
        for module in training:
            module.training = True


@contextmanager
def _on(model: nn.Module, device: torch.device) -> Iterator[None]:
    """Have the model say that it is on this device: the first of its parameters may be on another process's."""
    kind: Any = type(model)
    model.__class__ = _located(kind, device)
    try:
        yield
    finally:
        model.__class__ = kind


@cache
def _located(kind: Any, device: torch.device) -> type:
    # One for each class, because others keep what they find out about a class.
    return type(kind.__name__, (kind,), {"device": device, "__module__": kind.__module__})


@contextmanager
def _relayed(model: Any, relay: Relay, beams: int) -> Iterator[None]:
    """While this lasts forward passes of the model go over the stages, and so do those of its encoder by itself."""
    own = model.forward
    with ExitStack() as replaced:
        if model.config.is_encoder_decoder:
            encoder = model.get_encoder()
            through = _relaying(relay, "encoder", encoder.forward, called=encoder, entered=encoder.forward, unit=1)
            replaced.enter_context(_forward(encoder, through))
        # Whatever is run, a stage or a dry run calls the model: it is the relay that knows what it is to do.
        through = _relaying(relay, "model", own, called=own, entered=relay.enter, unit=beams)
        replaced.enter_context(
            _forward(model, through if model.config.is_encoder_decoder else _with_cache(model, through))
        )
        if relay.runner.model is not model:
            # What is around an adapted model is not what the loop calls, but it is what stages call.
            replaced.enter_context(_forward(relay.runner.model, relay.enter))
        yield


def _relaying(relay: Relay, name: str, own: Forward, *, called: Forward, entered: Forward, unit: int) -> Forward:
    """A forward that looks like the module's own, for the loop to call: it has the stages call `called`.

    While a stage or a dry run is under way it is `entered`.
    """
    names = list(inspect.signature(own).parameters)

    @wraps(own)
    def forward(*args: Any, **kwargs: Any) -> Any:
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        return entered(**given) if relay.is_entered else relay.run(name, called, given, unit=unit)

    return forward


def _with_cache(model: Any, forward: Forward) -> Forward:
    """The same forward, given a cache where it would make one: guidance by a second prompt begins without."""
    name = next((one for one in _CACHES if one in inspect.signature(forward).parameters), None)

    @wraps(forward)
    def given(*args: Any, **kwargs: Any) -> Any:
        if name is not None and kwargs.get("use_cache") and kwargs.get(name) is None:
            kwargs[name] = DynamicCache(config=model.config.get_text_config(decoder=True))
        return forward(*args, **without_cache(model, kwargs))

    return given


_CACHES = ("cache", "past_key_values")
"""What transformers calls the argument, now and before."""


@contextmanager
def _forward(module: nn.Module, forward: Forward) -> Iterator[None]:
    """Have a module call this forward."""
    before = module.__dict__.get("forward")
    module.__dict__["forward"] = forward
    try:
        yield
    finally:
        del module.__dict__["forward"]
        if before is not None:
            module.__dict__["forward"] = before


def _beams(model: Any, args: Sequence[Any], arguments: Mapping[str, Any]) -> int:
    """How many rows of a sample have to stay together, because beam search moves them among each other."""
    config = arguments.get("generation_config") or (args[1] if len(args) > 1 else None)
    asked = (arguments.get("num_beams"), getattr(config, "num_beams", None), model.generation_config.num_beams)
    return next((beams for beams in asked if beams), 1)


def _generated(result: Any) -> int:
    """A number that differs where what was generated differs."""
    sequences = getattr(result, "sequences", result)
    return content([{"sequences": sequences}]) if isinstance(sequences, torch.Tensor) else 0
