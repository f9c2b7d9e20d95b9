"""From what flows between blocks to what runs where and what crosses: stages, and the payload of each boundary.

Stages are numbered by dataflow: a call runs in the first stage of its IPU that is not before the stages of what it
consumes. So a head that goes back to IPU 0 is one stage more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

from pipelined.dataflow import Call, Dataflow
from pipelined.order import rank_of_stage


@dataclass(frozen=True)
class Plan:
    """Which stage each call runs in, which IPU each stage is on, and which values cross each boundary.

    `payloads[s]` holds indices into `Dataflow.values`: what is there after stage s and still needed in a later one.
    """

    stage_of_call: tuple[int, ...]
    ipu_of_stage: tuple[int, ...]
    payloads: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, flow: Dataflow, ipus: int, *, turning: bool = False) -> Self:
        """The plan for a model whose blocks are on these many IPUs.

        `turning` makes two stages of the last IPU's one where the model goes to it and back (0, 1, 0 is 0, 1, 1, 0
        then), as some schedules want it.
        """
        numbered = _number(flow, ipus)
        used = sorted(set(numbered))
        stages, ipu_of_stage = [used.index(number) for number in numbered], [number % ipus for number in used]
        if turning:
            stages, ipu_of_stage = _turned(stages, ipu_of_stage)
        return cls(tuple(stages), tuple(ipu_of_stage), _payloads(flow, stages, len(ipu_of_stage)))

    def payload_bytes(self, flow: Dataflow) -> tuple[int, ...]:
        """How many bytes cross each boundary in one forward pass."""
        return tuple(sum(flow.values[index].bytes for index in payload) for payload in self.payloads)


def trained_values(flow: Dataflow, trains: Callable[[Call], bool], *, glue: bool) -> frozenset[int]:
    """The values that a gradient may flow back through: of floats, from or behind a block that trains.

    `glue` says that a parameter outside blocks trains; then any value may come from it.
    """
    found: set[int] = set()
    behind = [glue or trains(call) for call in flow.calls]
    for index, call in enumerate(flow.calls):
        behind[index] |= any(value in found for value in call.consumes)
        if behind[index]:
            found.update(value for value in call.makes if "float" in flow.values[value].dtype)
    return frozenset(found)


def _number(flow: Dataflow, ipus: int) -> list[int]:
    """For each call the least number that is not before its producers' and is its IPU modulo the number of IPUs."""
    numbers: list[int] = []
    for call in flow.calls:
        least = max((numbers[flow.values[index].call] for index in call.consumes), default=0)
        numbers.append(least + (call.ipu - least) % ipus)
    return numbers


def _turned(stages: list[int], ipu_of_stage: list[int]) -> tuple[list[int], list[int]]:
    """The same, but the stage at which the model turns back ends after half of its calls, and another one begins."""
    turn = len(set(ipu_of_stage)) - 1
    there = [call for call, stage in enumerate(stages) if stage == turn]
    if rank_of_stage(ipu_of_stage) != (*range(turn + 1), *reversed(range(turn))) or len(there) < 2:
        return stages, ipu_of_stage
    second = there[(len(there) + 1) // 2]
    moved = [stage + (stage > turn or (stage == turn and call >= second)) for call, stage in enumerate(stages)]
    return moved, [*ipu_of_stage[: turn + 1], *ipu_of_stage[turn:]]


def _payloads(flow: Dataflow, stages: Sequence[int], count: int) -> tuple[tuple[int, ...], ...]:
    made = [stages[value.call] for value in flow.values]
    needed = [-1] * len(made)
    for call, stage in zip(flow.calls, stages, strict=True):
        for index in call.consumes:
            needed[index] = max(needed[index], stage)
    # The model's output is put together in the last stage.
    for index in flow.outputs:
        needed[index] = count - 1
    return tuple(
        tuple(index for index in range(len(made)) if made[index] <= boundary < needed[index])
        for boundary in range(count - 1)
    )
