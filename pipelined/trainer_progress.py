"""The progress bar of a trainer, with how fast it trains."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from transformers import ProgressCallback

from pipelined.throughput import Throughput


class RateProgress(ProgressCallback):
    """Trainer's own bar; behind it the tokens a second of all replicas, or samples where there are no tokens."""

    def __init__(self, statistics: Callable[[], Throughput], replicas: int) -> None:
        super().__init__()
        self._statistics, self._replicas = statistics, replicas

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Move on by a step."""
        if self.training_bar is not None:
            found = self._statistics()
            tokens, samples = (rate * self._replicas for rate in (found.tokens_per_second, found.samples_per_second))
            self.training_bar.set_postfix_str(f"{tokens:,.0f} tokens/s" if tokens else f"{samples:,.1f} samples/s")
        super().on_step_end(args, state, control, **kwargs)
