"""How fast a session trains: what a step takes, samples and tokens a second."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

import torch

WINDOW = 32
"""Of how many steps, the last ones, the median is taken: an evaluation in between is then no slow step."""


@dataclass(frozen=True)
class Step:
    """From the beginning of one step to the beginning of the next, or to its own end where there is none."""

    seconds: float
    samples: int
    tokens: int


class Throughput:
    """Counts of one process, and rates over its last steps; of this replica's batches.

    Tokens are those of the model's main input, padding included, as it is computed too; none where that holds no
    numbers of tokens.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.steps = self.samples = self.tokens = 0
        self._clock = clock
        self._last: deque[Step] = deque(maxlen=WINDOW)
        self._begun: float | None = None
        self._open = False

    def begin(self) -> None:
        """A step begins."""
        now = self._clock()
        if self._last and self._open and self._begun is not None:
            step = self._last.pop()
            self._last.append(Step(now - self._begun, step.samples, step.tokens))
        self._begun, self._open = now, False

    def end(self, samples: int, tokens: int) -> None:
        """The step that began last has ended."""
        begun = self._clock() if self._begun is None else self._begun
        self._last.append(Step(self._clock() - begun, samples, tokens))
        self._open = True
        self.steps, self.samples, self.tokens = self.steps + 1, self.samples + samples, self.tokens + tokens

    @property
    def step_seconds(self) -> float:
        """What a step takes, the median of the last ones; 0 before the first one has ended."""
        return self._median(lambda step: step.seconds)

    @property
    def samples_per_second(self) -> float:
        """Samples of this replica a second."""
        return self._median(lambda step: step.samples / step.seconds if step.seconds else 0.0)

    @property
    def tokens_per_second(self) -> float:
        """Tokens of this replica a second."""
        return self._median(lambda step: step.tokens / step.seconds if step.seconds else 0.0)

    def __str__(self) -> str:
        rate = f"{self.tokens_per_second:,.0f} tokens/s" if self.tokens else f"{self.samples_per_second:,.1f} samples/s"
        return f"step {self.steps}, {self.step_seconds:.3f} s a step, {rate}"

    def _median(self, of: Callable[[Step], float]) -> float:
        return float(median(map(of, self._last))) if self._last else 0.0


def tokens_of(model: Any, batch: Mapping[str, Any]) -> int:
    """How many tokens the model's main input holds in a batch; 0 where it holds something else."""
    given = batch.get(getattr(model, "main_input_name", "input_ids"))
    counts = isinstance(given, torch.Tensor) and not given.is_floating_point()
    return given.numel() if counts and given is not None else 0
