"""What a schedule makes of a planned model: its timeline with stages alike, and by what they compute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pipelined.errors import PipelineError
from pipelined.overview import Overview
from pipelined.schedule import compute_order
from pipelined.timeline import Timeline, timeline


@dataclass(frozen=True)
class Timings:
    """One order timed in both ways, by compute only where there is any; `weighted` says which one is wanted."""

    alike: Timeline
    by_compute: Timeline | None
    weighted: bool

    @property
    def wanted(self) -> Timeline:
        """The timeline to show."""
        return self.by_compute if self.weighted and self.by_compute is not None else self.alike

    def data(self) -> dict[str, Any]:
        """The wanted timeline and both bubbles, as JSON holds them."""
        by_compute = None if self.by_compute is None else self.by_compute.bubble
        bubbles = {"bubble_alike": self.alike.bubble, "bubble_by_compute": by_compute}
        return {"weighted": self.weighted, **_timeline_data(self.wanted), **bubbles}


def timings(view: Overview, *, schedule: str, microbatches: int, weighted: bool = False) -> Timings:
    """How a schedule runs the stages of the overview.

    PipelineError where it does not fit them, or where weights are wanted and no stage computes what is counted.
    """
    order = compute_order(view.ipu_of_stage, microbatches, schedule=schedule)
    stages = range(len(view.ipu_of_stage))
    costs = [sum(part.flops for part in view.parts if part.stage == stage) for stage in stages]
    if weighted and not any(costs):
        raise PipelineError(
            f"{view.model} has no operations that are counted", hint="ask for a timeline without weights"
        )
    return Timings(timeline(order), timeline(order, costs) if any(costs) else None, weighted)


def _timeline_data(found: Timeline) -> dict[str, Any]:
    lanes = [
        {
            "ipu": lane.ipu,
            "busy": lane.busy,
            "idle": lane.idle,
            "bubble": lane.idle / found.ticks,
            "held": lane.held,
            "steps": [{"step": str(span.step), "start": span.start, "end": span.end} for span in lane.spans],
        }
        for lane in found.lanes
    ]
    return {
        "schedule": found.schedule,
        "microbatches": found.microbatches,
        "ticks": found.ticks,
        "bubble": found.bubble,
        "lanes": lanes,
    }
