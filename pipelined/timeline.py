"""When each step of an order runs if nothing but the order and its dependencies makes an IPU wait."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from pipelined.order import DURATIONS, Order, Step


@dataclass(frozen=True)
class Span:
    """A step and when it runs, in ticks."""

    step: Step
    start: float
    end: float


@dataclass(frozen=True)
class Lane:
    """What one IPU does: its steps in their order, the ticks that it computes and waits, and what it holds.

    `held` is how many activations wait for their backward pass at most, where one is a microbatch in a stage.
    """

    ipu: int
    spans: tuple[Span, ...]
    busy: float
    idle: float
    held: int


@dataclass(frozen=True)
class Timeline:
    """All lanes from the first step to the last, `ticks` long."""

    schedule: str
    microbatches: int
    ipu_of_stage: tuple[int, ...]
    ticks: float
    lanes: tuple[Lane, ...]

    @property
    def bubble(self) -> float:
        """The share of all IPUs' time that is spent waiting, 0 to 1."""
        return sum(lane.idle for lane in self.lanes) / (len(self.lanes) * self.ticks)


def timeline(order: Order, costs: Sequence[float] | None = None) -> Timeline:
    """When the steps of an order run; communication takes no time.

    A forward pass takes one tick and a backward pass two, half of it for either half. With `costs`, one a stage and
    not all 0, each takes as many times longer as its stage costs more than the mean of the stages.
    """
    pace = [1.0] * len(order.ipu_of_stage) if costs is None else [cost * len(costs) / sum(costs) for cost in costs]
    spans = _spans(order, [int(one) if one.is_integer() else one for one in pace])
    ticks = max(span.end for lane in spans for span in lane)
    lanes = tuple(_lane(ipu, tuple(lane), ticks) for ipu, lane in enumerate(spans))
    return Timeline(order.schedule, order.microbatches, order.ipu_of_stage, ticks, lanes)


def _spans(order: Order, pace: Sequence[float]) -> list[list[Span]]:
    """Each IPU runs its next step as soon as what it needs is there; ValueError where they wait for each other."""
    stages, left = len(order.ipu_of_stage), sum(map(len, order.steps))
    spans: list[list[Span]] = [[] for _ in order.steps]
    done_at: dict[Step | None, float] = {None: 0}
    while left:
        before = left
        for steps, lane in zip(order.steps, spans, strict=True):
            for step in steps[len(lane) :]:
                if (needed := step.needs(stages)) not in done_at:
                    break
                start = max(done_at[needed], lane[-1].end if lane else 0)
                lane.append(Span(step, start, start + DURATIONS[step.kind] * pace[step.stage]))
                done_at[step.result] = lane[-1].end
                left -= 1
        if left == before:
            raise ValueError(f"the steps of this {order.schedule} wait for each other")
    return spans


def _lane(ipu: int, spans: tuple[Span, ...], ticks: float) -> Lane:
    busy = sum(span.end - span.start for span in spans)
    return Lane(ipu, spans, busy, ticks - busy, _most_held([span.step for span in spans]))


def _most_held(steps: Sequence[Step]) -> int:
    if all(step.kind == "F" for step in steps):
        return 0
    changes = ({"F": 1, "B": -1, "W": -1}.get(step.kind, 0) for step in steps)
    return max(accumulate(changes))
