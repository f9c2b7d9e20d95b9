"""The forward of a model that several processes compute: whoever calls it has it go through the pipeline.

Inside the pipeline it is the model's own forward, or in training what makes a loss of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import update_wrapper
from inspect import signature
from typing import Any

Loss = Callable[[dict[str, Any]], Any]
"""Takes the arguments of a forward and returns the loss to be differentiated; it calls the model for it."""


class Routed:
    """Stands in the place of a model's forward, once it is `put`; it has the signature of the model's own.

    `outside` computes what a call from outside the pipeline returns. A call from outside that is positional is given
    names first.
    """

    def __init__(self, model: Any, outside: Callable[[dict[str, Any]], Any]) -> None:
        self._model, self._outside = model, outside
        self._inside = False
        self._loss: Loss | None = None
        self.put()

    def put(self) -> None:
        """Take the place of whatever the model's forward is now."""
        self._own: Callable[..., Any] = self._model.forward
        update_wrapper(self, self._own)
        self._model.__dict__["forward"] = self

    @contextmanager
    def aside(self) -> Iterator[None]:
        """For as long as this lasts the model has its own forward, which may be changed."""
        self._model.__dict__["forward"] = self._own
        try:
            yield
        finally:
            self.put()

    @contextmanager
    def inside(self, loss: Loss | None = None) -> Iterator[None]:
        """For as long as this lasts calls come from the pipeline; with `loss` they are to return one."""
        self._inside, self._loss = True, loss
        try:
            yield
        finally:
            self._inside, self._loss = False, None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self._inside:
            return self._outside({**self._named(args), **kwargs})
        if self._loss is None:
            return self._own(*args, **kwargs)
        loss, self._loss = self._loss, None
        try:
            return {"loss": loss(kwargs)}
        finally:
            self._loss = loss

    def _named(self, args: tuple[Any, ...]) -> Mapping[str, Any]:
        return dict(zip(signature(self._own).parameters, args, strict=False))
