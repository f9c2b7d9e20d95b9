"""Every private name of torch that we use: where torch moves one, this is the file to mend."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import FrameType, SimpleNamespace
from typing import Any

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.distributed.distributed_c10d import _get_default_store
from torch.distributed.pipelining import schedules
from torch.distributed.pipelining.schedules import (
    _Action,
    _add_send_recv,
    _ComputationType,
    _PipelineScheduleRuntime,
    get_schedule_class,
)

from pipelined.order import Order, Step, rank_of_stage


def fake_mode() -> Any:
    """A mode in which operations give fake tensors: shapes, types and devices, and no content."""
    return FakeTensorMode(allow_non_fake_inputs=True)


def fakes_unlogged() -> AbstractContextManager[None]:
    """While this lasts what fails on fake tensors is raised, and not logged with its traceback besides."""
    return _unlogged(FakeTensorMode.__module__)


def is_fake(tensor: torch.Tensor) -> bool:
    """Whether the tensor is one that a fake mode made."""
    return isinstance(tensor, FakeTensor)


def fake_on(mode: Any, tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    """A tensor of the meta device as a fake one on another device; the same one each time."""
    fake: torch.Tensor = mode.fake_tensor_converter.from_meta_and_device(mode, tensor, device)
    return fake


def in_backward() -> bool:
    """Whether this is called from within a backward pass."""
    return bool(torch._C._current_graph_task_id() != -1)


def default_store() -> Any:
    """The key-value store through which the processes of the default group found each other."""
    return _get_default_store()


def own_order(name: str, ranks: int, stages_per_rank: int, microbatches: int) -> dict[int, tuple[Step, ...]]:
    """By rank the steps of a schedule of torch's for several stages a rank, with no process group.

    Raises torch's ValueError where the numbers do not fit the schedule.
    """
    stand_in = SimpleNamespace(
        num_stages=ranks * stages_per_rank, group_size=ranks, group_rank=0, submod=nn.Identity(), stage_index=0
    )
    schedule = get_schedule_class(name)([stand_in] * stages_per_rank, n_microbatches=microbatches)
    return {rank: _steps(actions) for rank, actions in schedule.pipeline_order.items()}


def runtime(stages: list[Any], order: Order, **options: Any) -> Any:
    """A schedule of torch's that runs this order, to be stepped by every process that has a stage.

    `stages` are this process's `PipelineStage`s, `options` what torch's schedules take besides: `loss_fn`,
    `scale_grads`. Ranks are those of `rank_of_stage`.
    """
    schedule = _PipelineScheduleRuntime(stages, n_microbatches=order.microbatches, **options)
    if order.training:
        schedule._prepare_schedule_with_comms(actions(order))
        return schedule
    # What prepares a schedule insists on backward passes, so the communication is added here.
    for one in (schedule, *stages):
        one.stage_index_to_group_rank = dict(enumerate(rank_of_stage(order.ipu_of_stage)))
    schedule.pipeline_order_with_comms = communication(order)
    return schedule


def communication(order: Order) -> dict[int, list[Any]]:
    """The order as torch's own actions with what is sent and received in between, by rank."""
    ranks = rank_of_stage(order.ipu_of_stage)
    sent: dict[int, list[Any]] = _add_send_recv(actions(order), ranks.__getitem__, len(ranks))
    return sent


@contextmanager
def around_waits(context: Callable[[], AbstractContextManager[None]]) -> Iterator[None]:
    """While this lasts, enter a context around each wait for messages of a schedule."""
    wait = schedules._wait_batch_p2p

    def waiting(work: list[Any]) -> None:
        with context():
            wait(work)

    schedules._wait_batch_p2p = waiting
    try:
        yield
    finally:
        schedules._wait_batch_p2p = wait


def schedules_unlogged() -> AbstractContextManager[None]:
    """While this lasts a schedule that fails does not log all its steps; in every process, as torch would have it."""
    return _unlogged(schedules.__name__)


def let_go(schedule: Any) -> None:
    """Have a schedule's stages forget their group and their buffers: a group that nobody knows closes."""
    for stage in [] if schedule is None else getattr(schedule, "_stages", None) or [schedule._stage]:
        stage.group = None
        for kept in (stage.args_recv_info, stage.grad_recv_info, stage.fwd_cache, stage.bwd_cache):
            kept.clear()
    for kept in (getattr(schedule, "fwd_recv_ops", {}), getattr(schedule, "bwd_recv_ops", {})):
        kept.clear()


def forget_frame(frame: FrameType) -> None:
    """Have a frame of torch's that has ended forget what it holds, connections among it.

    A function inside another keeps the list of what is being sent even when the frame is cleared.
    """
    frame.f_locals.get("send_ops", []).clear()
    frame.clear()


def actions(order: Order) -> dict[int, list[Any]]:
    """The order as torch's own actions, by rank; an IPU without a stage has no rank."""
    return {
        rank: [_Action(step.stage, _ComputationType(step.kind), step.microbatch) for step in steps]
        for rank, steps in enumerate(steps for steps in order.steps if steps)
    }


@contextmanager
def _unlogged(name: str) -> Iterator[None]:
    logger = logging.getLogger(name)
    # Not by its level: whenever one is set, all loggers that there are forget theirs.
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before


def _steps(found: list[Any]) -> tuple[Step, ...]:
    """Actions as steps. Torch runs the parts of one that overlaps two one after the other, and so do we."""
    single = (part for action in found if action is not None for part in action.sub_actions or (action,))
    return tuple(Step(one.stage_index, one.computation_type.value, one.microbatch_index) for one in single)
