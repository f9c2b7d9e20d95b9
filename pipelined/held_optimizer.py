"""Optimizers of a model that is spread over processes: each process has one, of the parameters that it holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from torch import nn

from pipelined.errors import PipelineError
from pipelined.session import Session


@contextmanager
def only_held(model: nn.Module) -> Iterator[None]:
    """While this lasts no parameter seems to train but those that this process holds."""
    elsewhere = [one for one in model.parameters() if one.is_meta and one.requires_grad]
    for parameter in elsewhere:
        parameter.requires_grad = False
    try:
        yield
    finally:
        for parameter in elsewhere:
            parameter.requires_grad = True


def keep_held(optimizer: Any, known: Iterable[nn.Parameter], session: Session) -> None:
    """Leave in an optimizer what this process holds; PipelineError where it holds what is none of the model's."""
    ours = set(known)
    held = set(session.parameters().values())
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            if parameter not in ours:
                raise PipelineError(
                    f"the optimizer holds a parameter of shape {list(parameter.shape)} that is none of the model's",
                    hint="make it of the parameters of the very model that the trainer is given",
                )
            if parameter not in held:
                optimizer.state.pop(parameter, None)
        group["params"] = [parameter for parameter in group["params"] if parameter in held]
