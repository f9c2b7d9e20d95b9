"""Where a process spends its time: spans of named kinds, each moment counted for the innermost one.

Nothing is measured, and next to nothing spent on it, unless a `Spans` records.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Literal

import torch

Kind = Literal["blocks", "glue", "ending", "backward", "waiting", "agreeing", "sharing", "updating", "scheduling"]
"""What a process does; `pipelined.profile` has a few words on each."""

Clock = Callable[[], float]


class Spans:
    """Seconds by kind, and bytes sent by boundary, in this process."""

    def __init__(self, clock: Clock) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.sent: Counter[tuple[int, int]] = Counter()
        """Bytes by the two stages, from and to."""
        self._clock = clock
        self._open: list[str] = []
        self._since = 0.0

    @contextmanager
    def span(self, kind: Kind) -> Iterator[None]:
        """Count what happens inside for this kind, as far as no other span inside counts it."""
        self._charge()
        depth = len(self._open)
        self._open.append(kind)
        try:
            yield
        finally:
            self._charge()
            del self._open[depth:]

    def turn(self, kind: Kind) -> None:
        """Count the rest of the innermost span for another kind."""
        self._charge()
        if self._open:
            self._open[-1] = kind

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Have `span` and `sent` count here while this lasts."""
        _recording.append(self)
        try:
            yield
        finally:
            _recording.remove(self)

    def _charge(self) -> None:
        now = self._clock()
        if self._open:
            self.seconds[self._open[-1]] += now - self._since
        self._since = now


_recording: list[Spans] = []


def span(kind: Kind) -> AbstractContextManager[None]:
    """Count what happens inside for this kind, if anything records."""
    return _recording[-1].span(kind) if _recording else nullcontext()


def turn(kind: Kind) -> None:
    """Count the rest of the innermost span for another kind, if anything records."""
    if _recording:
        _recording[-1].turn(kind)


def sent(source: int, target: int, size: int) -> None:
    """Count bytes that one stage sends to another, if anything records."""
    if _recording:
        _recording[-1].sent[source, target] += size


def clock_of(device: torch.device) -> Clock:
    """A clock for what runs on a device; on a GPU it waits until all that was started has ended."""
    if device.type != "cuda":
        return time.perf_counter

    def clock() -> float:
        torch.cuda.synchronize(device)
        return time.perf_counter()

    return clock
