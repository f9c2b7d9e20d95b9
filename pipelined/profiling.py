"""Record what a session's process does, and gather it from all of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch.distributed as dist

from pipelined import torch_private
from pipelined.engine import Program
from pipelined.profile import Profile, Share
from pipelined.ranks import Ranks
from pipelined.schedule import compute_order
from pipelined.spans import Spans, span
from pipelined.timeline import timeline


class Profiler:
    """What one process of a session spent its time on since it was asked last."""

    def __init__(self, spans: Spans) -> None:
        self._spans = spans
        self._steps = 0

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record while this lasts."""
        with self._spans.recording(), torch_private.around_waits(lambda: span("waiting")):
            yield

    def gather(self, ranks: Ranks, trained: Program | None, schedule: str, *, steps: int, tokens: float) -> Profile:
        """All processes since the last call, which every process makes; `steps` and `tokens` a second are of this one.

        `trained` is what ran when a step was trained last.
        """
        own = Share(dist.get_rank(), ranks.ipu, dict(self._spans.seconds), dict(self._spans.sent))
        told: list[tuple[Share, float]] = [(own, tokens)] * ranks.size
        dist.all_gather_object(told, (own, tokens), group=ranks.everybody())
        since, self._steps = steps - self._steps, steps
        self._spans.seconds.clear()
        self._spans.sent.clear()
        all_tokens = sum(rate for share, rate in told if share.ipu == 0)
        return Profile(
            since,
            schedule,
            trained.microbatches if trained else 0,
            _bubble(trained, schedule) if trained else None,
            all_tokens or None,
            tuple(share for share, _ in told),
        )


def _bubble(trained: Program, schedule: str) -> float:
    """What the schedule itself has IPUs wait, with stages as long as they compute where that was counted."""
    flow, plan = trained.flow, trained.plan
    order = compute_order(plan.ipu_of_stage, trained.microbatches, schedule=schedule)
    costs = [0] * len(plan.ipu_of_stage)
    for call, stage in zip(flow.calls, plan.stage_of_call, strict=True):
        costs[stage] += call.flops
    return timeline(order, costs if any(costs) else None).bubble
