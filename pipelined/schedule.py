"""Which order of steps a schedule gives: torch's own wherever torch has one that fits the stages.

1F1B is the one to begin with: as fast as GPipe, and it holds fewer activations. The others need stages that go round
the IPUs (0, 1, 0, 1), or there and back (0, 1, 1, 0).
"""

from __future__ import annotations

from collections.abc import Sequence

from pipelined.errors import PipelineError
from pipelined.greedy_order import greedy_order
from pipelined.order import Order, rank_of_stage

_ANYWHERE = ("gpipe", "1f1b")
_ROUND = {
    "interleaved-1f1b": "Interleaved1F1B",
    "looped-bfs": "LoopedBFS",
    "interleaved-zero-bubble": "InterleavedZeroBubble",
}
_THERE_AND_BACK = {"zbv-zero-bubble": "ZBVZeroBubble", "dual-pipe-v": "DualPipeV"}


def schedule_names() -> tuple[str, ...]:
    """The schedules that there are, as users write them."""
    return (*_ANYWHERE, *_ROUND, *_THERE_AND_BACK)


def turns_back(schedule: str) -> bool:
    """Whether it wants stages that go there and back, the last IPU having two in a row."""
    return schedule in _THERE_AND_BACK


def compute_order(
    ipu_of_stage: Sequence[int], microbatches: int, *, schedule: str = "1f1b", training: bool = True
) -> Order:
    """What each IPU computes and in which order, PipelineError where the schedule does not fit the stages.

    Without training there are forward passes only, and every schedule gives the same order. Deterministic, and needs
    no process group, so that every process finds the same order by itself.
    """
    if schedule not in schedule_names():
        raise PipelineError(f"there is no schedule {schedule!r}", hint=f"choose one of {', '.join(schedule_names())}")
    if microbatches < 1:
        raise PipelineError(f"{microbatches} microbatches cannot be run", hint="ask for 1 or more")
    if schedule in _ANYWHERE or not training:
        return greedy_order(ipu_of_stage, microbatches, schedule=schedule, training=training)
    return _torch_order(tuple(ipu_of_stage), microbatches, schedule)


def _torch_order(ipu_of_stage: tuple[int, ...], microbatches: int, schedule: str) -> Order:
    ranks = len(set(ipu_of_stage))
    _check_stages(ipu_of_stage, ranks, schedule)
    name = {**_ROUND, **_THERE_AND_BACK}[schedule]
    from pipelined.torch_private import own_order

    try:
        by_rank = own_order(name, ranks, len(ipu_of_stage) // ranks, microbatches)
    except ValueError as error:
        raise PipelineError(str(error).rstrip("."), hint=_way_out(ipu_of_stage, ranks, schedule)) from error
    by_ipu = {ipu_of_stage[steps[0].stage]: steps for steps in by_rank.values()}
    steps = tuple(by_ipu.get(ipu, ()) for ipu in range(max(ipu_of_stage) + 1))
    return Order(schedule, ipu_of_stage, microbatches, steps)


def _check_stages(ipu_of_stage: tuple[int, ...], ranks: int, schedule: str) -> None:
    stages = len(ipu_of_stage)
    listed = ", ".join(map(str, ipu_of_stage))
    if schedule in _ROUND:
        way, fits = "round the IPUs, as in 0, 1, 0, 1", tuple(stage % ranks for stage in range(stages))
    else:
        way, fits = "there and back, as in 0, 1, 1, 0", (*range(ranks), *reversed(range(ranks)))
    if rank_of_stage(ipu_of_stage) != fits or stages % ranks:
        raise PipelineError(
            f"{schedule} needs stages that go {way}; these are on IPUs {listed}", hint="choose 1f1b or gpipe"
        )


def _way_out(ipu_of_stage: tuple[int, ...], ranks: int, schedule: str) -> str:
    if schedule in _ROUND:
        return f"take a multiple of {ranks} microbatches, or choose 1f1b"
    return f"take {len(ipu_of_stage)} microbatches or more"
