"""What a user can mend. Each message names the thing and the numbers, each hint the way out."""

from __future__ import annotations


class PipelineError(Exception):
    """Something that pipelining cannot do as asked; the text ends with what to do about it."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint

    def __str__(self) -> str:
        message = str(self.args[0])
        return f"{message}; {self.hint}" if self.hint else message


class IncompatibleIPUConfigError(PipelineError, ValueError):
    """An `IPUConfig` that contradicts itself, or does not fit the model."""


class PlacementError(PipelineError, ValueError):
    """A placement that does not fit the model: unknown module, module placed twice, too few layers."""


class BlockError(PipelineError, RuntimeError):
    """A block that cannot begin where it was asked to; the stand-in for `poptorch.Error`."""


class UnregisteredModelError(PipelineError, KeyError):
    """A class without a pipelined version."""
