"""From what flows between blocks to what runs where and what crosses: stages, and the payload of each boundary.

Stages are numbered by dataflow: a call runs in the first stage of its IPU that is not before the stages of what it
consumes. So a head that goes back to IPU 0 is one stage more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from pipelined.dataflow import Dataflow


@dataclass(frozen=True)
class Plan:
    """Which stage each call runs in, which IPU each stage is on, and which values cross each boundary.

    `payloads[s]` holds indices into `Dataflow.values`: what is there after stage s and still needed in a later one.
    """

    stage_of_call: tuple[int, ...]
    ipu_of_stage: tuple[int, ...]
    payloads: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, flow: Dataflow, ipus: int) -> Self:
        """The plan for a model whose blocks are on these many IPUs."""
        numbered = _number(flow, ipus)
        used = sorted(set(numbered))
        stages = tuple(used.index(number) for number in numbered)
        return cls(stages, tuple(number % ipus for number in used), _payloads(flow, stages, len(used)))

    def payload_bytes(self, flow: Dataflow) -> tuple[int, ...]:
        """How many bytes cross each boundary in one forward pass."""
        return tuple(sum(flow.values[index].bytes for index in payload) for payload in self.payloads)


def _number(flow: Dataflow, ipus: int) -> list[int]:
    """For each call the least number that is not before its producers' and is its IPU modulo the number of IPUs."""
    numbers: list[int] = []
    for call in flow.calls:
        least = max((numbers[flow.values[index].call] for index in call.consumes), default=0)
        numbers.append(least + (call.ipu - least) % ipus)
    return numbers


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
