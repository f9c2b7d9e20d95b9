"""GPipe and 1F1B over stages on any IPUs, an IPU with several stages included.

Torch has both for one stage an IPU only. What is found here is the same there; where a model comes back to an IPU, the
same rules say what the IPU does whenever it is free: of what could start now a backward pass first, and within the
bounds of the schedule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pipelined.order import DURATIONS, Kind, Order, Step
from pipelined.timeline import timeline

# Which of several forward, or several backward, passes goes first: no one of these is the best for all placements.
_PREFERENCES: tuple[Callable[[Step], int], ...] = (
    lambda step: step.microbatch,
    lambda step: step.stage,
    lambda step: -step.stage,
)


def greedy_order(
    ipu_of_stage: Sequence[int], microbatches: int, *, schedule: str = "1f1b", training: bool = True
) -> Order:
    """The steps of each IPU, found by letting them run; they never wait for each other.

    With `gpipe` an IPU begins its backward passes after its last forward pass. With `1f1b` stage s of n holds the
    activations of n - s microbatches at most. Where an IPU has several stages, the fastest of a few such orders is
    taken, and of equally fast ones that which holds least.
    """
    several = len(set(ipu_of_stage)) < len(ipu_of_stage)
    preferences = _PREFERENCES if several else _PREFERENCES[:1]
    runs = [_Run(tuple(ipu_of_stage), microbatches, schedule == "gpipe", training, one) for one in preferences]
    orders = [Order(schedule, tuple(ipu_of_stage), microbatches, run.steps()) for run in runs]
    return min(orders, key=_ticks_and_memory)


def _ticks_and_memory(order: Order) -> tuple[float, int]:
    found = timeline(order)
    return found.ticks, max(lane.held for lane in found.lanes)


@dataclass
class _Run:
    ipu_of_stage: tuple[int, ...]
    microbatches: int
    all_forwards_first: bool
    training: bool
    preference: Callable[[Step], int]
    now: int = 0
    done_at: dict[Step, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        stages, ipus = len(self.ipu_of_stage), max(self.ipu_of_stage) + 1
        self.free_at = [0] * ipus
        self.begun: dict[Kind, list[int]] = {"F": [0] * stages, "B": [0] * stages}
        self.stages_of = [[stage for stage in range(stages) if self.ipu_of_stage[stage] == ipu] for ipu in range(ipus)]

    def steps(self) -> tuple[tuple[Step, ...], ...]:
        """The steps of each IPU from the first to the last."""
        taken: list[list[Step]] = [[] for _ in self.free_at]
        left = len(self.ipu_of_stage) * self.microbatches * (1 + self.training)
        while left:
            for ipu, free_at in enumerate(self.free_at):
                if free_at <= self.now and (step := self._choose(ipu)) is not None:
                    taken[ipu].append(step)
                    self.begun[step.kind][step.stage] += 1
                    self.free_at[ipu] = self.done_at[step] = self.now + DURATIONS[step.kind]
                    left -= 1
            self.now = min(at for at in self.free_at if at > self.now)
        return tuple(map(tuple, taken))

    def _choose(self, ipu: int) -> Step | None:
        """What this IPU does now, None where nothing is ready."""
        ready = [step for stage in self.stages_of[ipu] for step in self._next(stage) if self._can_start(ipu, step)]
        return min(ready, key=lambda step: (step.kind, self.preference(step)), default=None)

    def _next(self, stage: int) -> list[Step]:
        """The next microbatch forward through a stage, and the next one back."""
        kinds: tuple[Kind, ...] = ("F", "B") if self.training else ("F",)
        counts = [(kind, self.begun[kind][stage]) for kind in kinds]
        return [Step(stage, kind, count) for kind, count in counts if count < self.microbatches]

    def _can_start(self, ipu: int, step: Step) -> bool:
        needed = step.needs(len(self.ipu_of_stage))
        if needed is not None and self.done_at.get(needed, self.now + 1) > self.now:
            return False
        forward, backward = self.begun["F"], self.begun["B"]
        if self.all_forwards_first or not self.training:
            return step.kind == "F" or all(forward[stage] == self.microbatches for stage in self.stages_of[ipu])
        held = forward[step.stage] - backward[step.stage]
        return step.kind == "B" or held < len(self.ipu_of_stage) - step.stage
