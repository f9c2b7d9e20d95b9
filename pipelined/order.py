"""What every IPU computes, step by step: the part of a schedule that is not communication."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["F", "B", "I", "W"]

DURATIONS: dict[Kind, int] = {"F": 1, "B": 2, "I": 1, "W": 1}
"""In ticks: a backward pass does the work of two forward passes, one for the inputs and one for the weights."""


@dataclass(frozen=True, order=True)
class Step:
    """One pass of one microbatch through one stage, written as torch writes it: `2F0`.

    F is a forward pass, B a backward pass; I and W are the halves of one, for the stage's inputs and for its weights.
    """

    stage: int
    kind: Kind
    microbatch: int

    def __str__(self) -> str:
        return f"{self.stage}{self.kind}{self.microbatch}"

    def needs(self, stages: int) -> Step | None:
        """The step that has to be done before this one; a backward pass of the next stage is written as B."""
        if self.kind == "W":
            return Step(self.stage, "B", self.microbatch)
        if self.kind == "F":
            return Step(self.stage - 1, "F", self.microbatch) if self.stage else None
        if self.stage == stages - 1:
            return Step(self.stage, "F", self.microbatch)
        return Step(self.stage + 1, "B", self.microbatch)

    @property
    def result(self) -> Step:
        """What later steps need of it: I gives as much as B does."""
        return Step(self.stage, "B", self.microbatch) if self.kind == "I" else self


@dataclass(frozen=True)
class Order:
    """The steps of each IPU in their order, `steps[ipu]`; none for an IPU that has no stage."""

    schedule: str
    ipu_of_stage: tuple[int, ...]
    microbatches: int
    steps: tuple[tuple[Step, ...], ...]

    @property
    def training(self) -> bool:
        """Whether there are backward passes."""
        return any(step.kind != "F" for steps in self.steps for step in steps)

    @property
    def splits_backward(self) -> bool:
        """Whether there are halves of backward passes."""
        return any(step.kind == "I" for steps in self.steps for step in steps)


def rank_of_stage(ipu_of_stage: Sequence[int]) -> tuple[int, ...]:
    """For each stage the rank of its process: IPUs that have a stage are counted, others have no process."""
    used = sorted(set(ipu_of_stage))
    return tuple(used.index(ipu) for ipu in ipu_of_stage)
