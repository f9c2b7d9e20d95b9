"""Dry runs that hold for every length of a cache: two of them tell which sizes grow with it, and how fast.

What a block returns mostly depends on the new tokens alone. Where it does not, as with the position biases of T5, its
sizes are straight lines in the length; each stage checks them again when it runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from pipelined.dataflow import Argument, Dataflow, Slot, Value
from pipelined.fills import Fill


@dataclass(frozen=True)
class DryRun:
    """What flows through the model, and what each call of a block adds to the cache, at one length of the cache."""

    length: int
    flow: Dataflow
    fills: tuple[tuple[Fill, ...], ...]


class Known:
    """The dry runs for one signature of inputs, whatever the length."""

    def __init__(self) -> None:
        self._runs: list[DryRun] = []

    def at(self, length: int, run: Callable[[], DryRun]) -> tuple[DryRun, int | None]:
        """What holds at this length; and the length, where it holds at no other."""
        if not self._runs or (len(self._runs) == 1 and self._runs[0].length != length):
            self._runs.append(run())
        first, last = self._runs[0], self._runs[-1]
        if first.flow.values == last.flow.values and _rest(first) == _rest(last):
            return first, None
        for one in self._runs:
            if one.length == length:
                return one, length
        return _between(first, last, length) or run(), length


def _between(first: DryRun, last: DryRun, length: int) -> DryRun | None:
    """The straight line through two runs at another length; None where there is none."""
    if _rest(first) != _rest(last) or len(first.flow.values) != len(last.flow.values):
        return None
    share = (length - first.length, last.length - first.length)
    values = [_grown(a, b, share) for a, b in zip(first.flow.values, last.flow.values, strict=True)]
    found = tuple(value for value in values if value is not None)
    if len(found) < len(values):
        return None
    return replace(first, length=length, flow=replace(first.flow, values=found))


def _grown(first: Value, last: Value, share: tuple[int, int]) -> Value | None:
    if len(first.shape) != len(last.shape) or (first.dtype, first.written) != (last.dtype, last.written):
        return None
    steps, whole = share
    grown = [(a * whole + (b - a) * steps) for a, b in zip(first.shape, last.shape, strict=True)]
    if any(size % whole for size in grown):
        return None
    shape = tuple(size // whole for size in grown)
    return replace(first, shape=shape, bytes=_count(shape) * (first.bytes // max(_count(first.shape), 1)))


def _count(shape: tuple[int, ...]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count


def _rest(run: DryRun) -> Any:
    """What must be the same at every length."""
    calls = [
        (call.module, call.consumes, call.makes, [one for one in call.returned.leaves if isinstance(one, _COMPARED)])
        for call in run.flow.calls
    ]
    return calls, run.flow.outputs, run.fills


_COMPARED = (Slot, Argument, bool, int, float, str)
