"""Blocks that sleep instead of computing, in our pipeline and in a bare one of torch's: what is left is overhead."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleGPipe
from transformers import PretrainedConfig, PreTrainedModel

from pipelined import BeginBlock, Execution, IPUConfig, PipelineMixin, torch_private
from pipelined.distributed import distribute
from pipelined.microbatches import split
from pipelined.order import Order, Step
from pipelined.schedule import compute_order
from pipelined.timeline import timeline

FORWARD, BACKWARD = 0.010, 0.020
"""Seconds."""

LIMIT_IDEAL, LIMIT_BARE = 1.12, 1.03

PLACED: Mapping[str, tuple[str, tuple[int, ...]]] = {
    "GPipe": ("gpipe", (0, 1)),
    "1F1B": ("1f1b", (0, 1)),
    "1F1B, stages on 0, 1, 0": ("1f1b", (0, 1, 0)),
}


class Slept(NamedTuple):
    """Seconds of each step, ours and the bare pipeline's in pairs, and what this process computed in its last step."""

    ours: list[float]
    bare: list[float]
    events: list[tuple[int, str]]


def step_times(name: str, microbatches: int, repeats: int) -> Slept:
    """Take turns on one group of two processes."""
    schedule, ipus = PLACED[name]
    events: ClassVar[list[tuple[int, str]]] = []
    model = Sleeping(PretrainedConfig(num_hidden_layers=len(ipus)))
    PipelinedSleeping.ipus, Sleep.events = ipus, events
    batch = {"hidden": torch.zeros(microbatches, 8)}
    config = IPUConfig(
        layers_per_ipu=[-1, -1], ipus_per_replica=2, execution=Execution(schedule=schedule, microbatches=microbatches)
    )
    bare = _bare(schedule, ipus, microbatches)
    taken: dict[str, list[float]] = {"ours": [], "bare": []}
    with distribute(PipelinedSleeping.from_transformers(model, config), config, example=batch) as pipe:
        steps: dict[str, Callable[[], Any]] = {
            "bare": lambda: bare(batch["hidden"]),
            "ours": lambda: pipe.forward_backward(split(batch, microbatches)),
        }
        for repeat in range(repeats + 2):
            for who in sorted(steps, reverse=repeat % 2 == 0):
                events.clear()
                seconds = _timed(steps[who])
                if repeat >= 2:
                    taken[who].append(seconds)
        # The last one to run was ours or the bare one; what counts is ours.
        events.clear()
        steps["ours"]()
        return Slept(taken["ours"], taken["bare"], list(events))


def ideal_seconds(name: str, microbatches: int) -> float:
    """What the order takes if nothing but the order makes anybody wait."""
    schedule, ipus = PLACED[name]
    return timeline(compute_order(ipus, microbatches, schedule=schedule)).ticks * FORWARD


def bubbles(name: str, microbatches: int, events: Sequence[list[tuple[int, str]]]) -> tuple[float, float]:
    """The share of the time that IPUs wait: by the steps that they were seen to take, and by the schedule's order.

    Of both orders the ticks are counted; for a straight pipeline the second is compared with the formula besides.
    """
    schedule, ipus = PLACED[name]
    seen = Order(schedule, ipus, microbatches, tuple(tuple(_numbered(one)) for one in events))
    ideal = timeline(compute_order(ipus, microbatches, schedule=schedule)).bubble
    stages = len(ipus)
    if ipus == tuple(range(stages)):
        formula = (stages - 1) / (microbatches + stages - 1)
        assert abs(ideal - formula) < 1e-9, (ideal, formula)
    return timeline(seen).bubble, ideal


def _numbered(events: Sequence[tuple[int, str]]) -> list[Step]:
    """Each stage takes microbatches in their order."""
    counted: dict[tuple[int, str], int] = {}
    steps = []
    for stage, kind in events:
        number = counted.get((stage, kind), 0)
        counted[stage, kind] = number + 1
        steps.append(Step(stage, "F" if kind == "F" else "B", number))
    return steps


def _timed(step: Callable[[], Any]) -> float:
    dist.barrier()
    begun = time.perf_counter()
    step()
    dist.barrier()
    return time.perf_counter() - begun


class Sleep(torch.autograd.Function):
    """The identity, which takes its time in both directions."""

    events: ClassVar[list[tuple[int, str]]] = []

    @staticmethod
    def forward(ctx: Any, hidden: torch.Tensor, number: int) -> torch.Tensor:
        ctx.number = number
        Sleep.events.append((number, "F"))
        time.sleep(FORWARD)
        return hidden.clone()

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        Sleep.events.append((ctx.number, "B"))
        time.sleep(BACKWARD)
        return gradient, None


class Block(nn.Module):
    """What stands for a layer; it has a weight, so that there is a backward pass."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number, self.weight = number, nn.Parameter(torch.zeros(8))

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        return Sleep.apply(hidden + self.weight, self.number)


class Sleeping(PreTrainedModel):
    """Blocks one after the other."""

    config_class = PretrainedConfig
    main_input_name = "hidden"

    def __init__(self, config: PretrainedConfig) -> None:
        super().__init__(config)
        self.layers = nn.ModuleList(Block(number) for number in range(config.num_hidden_layers))

    def forward(self, hidden: torch.Tensor) -> dict[str, torch.Tensor]:
        for layer in self.layers:
            hidden = layer(hidden)
        return {"loss": hidden.mean()}


class PipelinedSleeping(Sleeping, PipelineMixin):
    """The same, each block on its IPU."""

    ipus: ClassVar[tuple[int, ...]] = ()

    def parallelize(self) -> Any:
        super().parallelize()
        for layer, ipu in zip(self.layers, self.ipus, strict=True):
            BeginBlock(layer, ipu_id=ipu)
        return self


def _bare(schedule: str, ipus: tuple[int, ...], microbatches: int) -> Callable[[torch.Tensor], None]:
    """The same blocks in stages of torch's, with nothing of ours around them."""
    rank = dist.get_rank()
    device = torch.device("cpu")
    stages = [PipelineStage(Block(number), number, len(ipus), device) for number, ipu in enumerate(ipus) if ipu == rank]
    options = {"loss_fn": lambda output, _: output.mean() / microbatches, "scale_grads": False}
    made: Any
    if len(set(ipus)) == len(ipus):
        made = {"gpipe": ScheduleGPipe, "1f1b": Schedule1F1B}[schedule](stages[0], microbatches, **options)
    else:
        order = compute_order(ipus, microbatches, schedule=schedule)
        made = torch_private.runtime(stages, order, **options)

    def step(hidden: torch.Tensor) -> None:
        given = (hidden,) if rank == ipus[0] else ()
        made.step(*given, target=torch.zeros(microbatches), return_outputs=False)

    return step
