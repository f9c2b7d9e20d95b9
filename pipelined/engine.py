"""Run a plan: a `PipelineStage` for each stage of this process, and the schedule that steps them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.distributed.pipelining import Schedule1F1B, ScheduleGPipe

from pipelined import torch_private
from pipelined.dataflow import Dataflow
from pipelined.measured import MeasuredStage
from pipelined.plan import Plan, trained_values
from pipelined.ranks import Ranks
from pipelined.schedule import compute_order, turns_back
from pipelined.spans import span
from pipelined.stage import Finish, Skipped, Stage, nothing


@dataclass(frozen=True)
class Program:
    """What a process runs for microbatches of one signature: its stages, and the schedule where it has any."""

    flow: Dataflow
    plan: Plan
    stages: tuple[Stage, ...]
    schedule: Any
    microbatches: int

    @property
    def last_ipu(self) -> int:
        """The IPU that gets the model's output."""
        return self.plan.ipu_of_stage[-1]

    def run(self, batches: Sequence[Mapping[str, Any]], step: int, *, before: int = 0) -> None:
        """Pass these microbatches through, of whose step there were so many before them.

        Both numbers are part of the key of their random numbers.
        """
        self.run_each([batches] * len(self.stages), step, before=before)

    def run_each(
        self,
        batches: Sequence[Sequence[Mapping[str, Any]]],
        step: int,
        *,
        before: int = 0,
        skipped: Sequence[Skipped] | None = None,
    ) -> None:
        """The same with arguments of their own for each of this process's stages; their tensors must be equal.

        `skipped` are told, by stage, of the calls that other stages make.
        """
        if self.schedule is None:
            return
        told = [nothing] * len(self.stages) if skipped is None else skipped
        for stage, own, one in zip(self.stages, batches, told, strict=True):
            stage.microbatches, stage.step, stage.before, stage.skipped = own, step, before, one
        numbers = torch.arange(self.microbatches)
        try:
            with span("scheduling"), torch_private.schedules_unlogged():
                self.schedule.step(microbatch=numbers, target=numbers, return_outputs=False)
        finally:
            for stage in self.stages:
                stage.microbatches, stage.skipped = (), nothing

    def close(self) -> None:
        """Let go of buffers and of the group."""
        torch_private.let_go(self.schedule)


def program(
    model: nn.Module,
    flow: Dataflow,
    ranks: Ranks,
    finish: Finish,
    *,
    microbatches: int,
    schedule: str,
    training: bool,
    seed: int,
) -> Program:
    """The program for this process; made by all of them at once, because they make groups together.

    Without training there are forward passes only. PipelineError where the schedule does not fit the stages.
    """
    plan = Plan.of(flow, ranks.ipus, turning=turns_back(schedule))
    group = ranks.of_ipus(plan.ipu_of_stage)
    own = [index for index, ipu in enumerate(plan.ipu_of_stage) if ipu == ranks.ipu]
    stages = tuple(Stage(model, flow, plan, index, finish=finish, seed=seed, device=ranks.device) for index in own)
    if not stages:
        return Program(flow, plan, (), None, microbatches)
    trained = _trained(model, flow) if training else frozenset()
    torch_stages = [_torch_stage(stage, trained, ranks, group) for stage in stages]
    options: dict[str, Any] = {"loss_fn": _loss if training else None, "scale_grads": False}
    straight = plan.ipu_of_stage == tuple(sorted(set(plan.ipu_of_stage)))
    if straight and (schedule in _STRAIGHT or not training):
        # Torch refuses 1F1B with fewer microbatches than stages; GPipe computes the same.
        few = microbatches < len(plan.ipu_of_stage)
        kind = ScheduleGPipe if few or not training else _STRAIGHT[schedule]
        made = kind(torch_stages[0], microbatches, **options)
    else:
        order = compute_order(plan.ipu_of_stage, microbatches, schedule=schedule, training=training)
        for stage in stages:
            stage.detaches = order.splits_backward
        made = torch_private.runtime(torch_stages, order, **options)
    return Program(flow, plan, stages, made, microbatches)


_STRAIGHT: Mapping[str, Any] = {"gpipe": ScheduleGPipe, "1f1b": Schedule1F1B}


def _torch_stage(stage: Stage, trained: frozenset[int], ranks: Ranks, group: Any) -> MeasuredStage:
    """With metadata from the dry run, so that torch never runs the model to find out."""
    payloads, index = stage.plan.payloads, stage.index
    return MeasuredStage(
        stage,
        index,
        len(stage.plan.ipu_of_stage),
        ranks.device,
        input_args=_empty(stage.flow, payloads[index - 1], trained) if index else (),
        output_args=(torch.empty(1, device="meta"),) if stage.is_last else _empty(stage.flow, payloads[index], trained),
        group=group,
    )


def _empty(flow: Dataflow, payload: Sequence[int], trained: frozenset[int]) -> tuple[torch.Tensor, ...]:
    values = [(flow.values[index], index in trained) for index in payload]
    return tuple(
        torch.empty(value.shape, dtype=getattr(torch, value.dtype), device="meta", requires_grad=trains)
        for value, trains in values
    )


def _trained(model: nn.Module, flow: Dataflow) -> frozenset[int]:
    parameters = dict(model.named_parameters(remove_duplicate=False))
    return trained_values(
        flow,
        lambda call: any(one.requires_grad for one in model.get_submodule(call.module).parameters()),
        glue=any(parameters[name].requires_grad for name in flow.glue_parameters),
    )


def _loss(output: Any, target: torch.Tensor) -> torch.Tensor:
    """The last stage returns its loss."""
    loss: torch.Tensor = output[0] if isinstance(output, tuple) else output
    return loss
