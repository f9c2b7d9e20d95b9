"""Who computes what and when: torch's orders where it has them, ours where a model comes back to an IPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from torch.distributed.pipelining import Schedule1F1B, ScheduleGPipe
from torch.distributed.pipelining.schedules import _simulate_comms_compute

from pipelined.errors import PipelineError
from pipelined.order import Order, rank_of_stage
from pipelined.schedule import compute_order, schedule_names
from pipelined.timeline import timeline
from pipelined.torch_private import communication

ROOT = Path(__file__).parents[2]
CASES = (
    "1f1b 0,1 1",
    "1f1b 0,1 8",
    "1f1b 0,1,0 4",
    "1f1b 0,1,0 8",
    "1f1b 0,1,0,1 4",
    "1f1b 0,1,0,1 8",
    "1f1b 0,1,1,0 8",
    "1f1b 1,0,1 8",
    "gpipe 0,1,0 4",
    "gpipe 0,1,0,1 8",
    "looped-bfs 0,1,0,1 4",
    "interleaved-1f1b 0,1,0,1 4",
    "interleaved-zero-bubble 0,1,0,1 4",
    "zbv-zero-bubble 0,1,1,0 4",
    "dual-pipe-v 0,1,1,0 4",
)
ROUND = ("interleaved-1f1b", "looped-bfs", "interleaved-zero-bubble")
THERE_AND_BACK = ("zbv-zero-bubble", "dual-pipe-v")


def written(*stages: int, microbatches: int, schedule: str, training: bool = True) -> list[str]:
    """An order as text, a line an IPU."""
    order = compute_order(stages, microbatches, schedule=schedule, training=training)
    return [" ".join(map(str, steps)) for steps in order.steps]


def test_1f1b_turns_back_as_soon_as_it_can() -> None:
    assert written(0, 1, 2, microbatches=4, schedule="1f1b") == [
        "0F0 0F1 0F2 0B0 0F3 0B1 0B2 0B3",
        "1F0 1F1 1B0 1F2 1B1 1F3 1B2 1B3",
        "2F0 2B0 2F1 2B1 2F2 2B2 2F3 2B3",
    ]


def test_gpipe_turns_back_when_all_is_forward() -> None:
    assert written(0, 1, 2, microbatches=2, schedule="gpipe") == [
        "0F0 0F1 0B0 0B1",
        "1F0 1F1 1B0 1B1",
        "2F0 2F1 2B0 2B1",
    ]


def test_an_ipu_that_the_model_comes_back_to_does_both_of_its_stages() -> None:
    assert written(0, 1, 0, microbatches=4, schedule="1f1b") == [
        "0F0 0F1 2F0 2B0 2F1 2B1 0B0 0B1 0F2 0F3 2F2 2B2 2F3 2B3 0B2 0B3",
        "1F0 1F1 1B0 1B1 1F2 1F3 1B2 1B3",
    ]
    assert written(0, 1, 0, microbatches=2, schedule="gpipe") == [
        "0F0 0F1 2F0 2F1 2B0 2B1 0B0 0B1",
        "1F0 1F1 1B0 1B1",
    ]


def test_an_ipu_without_a_stage_has_no_steps_and_no_rank() -> None:
    assert written(0, 2, microbatches=1, schedule="1f1b") == ["0F0 0B0", "", "1F0 1B0"]
    assert written(1, 3, 1, 3, microbatches=2, schedule="looped-bfs")[1::2] == [
        "0F0 0F1 2F0 2F1 2B1 2B0 0B1 0B0",
        "1F0 1F1 3F0 3F1 3B1 3B0 1B1 1B0",
    ]
    assert rank_of_stage((1, 3, 1)) == (0, 1, 0)


@pytest.mark.parametrize("schedule", schedule_names())
def test_without_training_there_are_forward_passes_only(schedule: str) -> None:
    assert written(0, 1, 0, microbatches=2, schedule=schedule, training=False) == ["0F0 0F1 2F0 2F1", "1F0 1F1"]


def test_torch_orders_are_torch_s_own() -> None:
    assert written(0, 1, 1, 0, microbatches=1, schedule="zbv-zero-bubble") == [
        "0F0 3F0 3I0 3W0 0I0 0W0",
        "1F0 2F0 2I0 2W0 1I0 1W0",
    ]


@pytest.mark.parametrize(("name", "torch_schedule"), [("1f1b", Schedule1F1B), ("gpipe", ScheduleGPipe)])
def test_one_stage_an_ipu_gives_the_order_in_which_torch_calls_its_stages(name: str, torch_schedule: Any) -> None:
    for stages in range(1, 7):
        for microbatches in range(stages, 13):
            order = compute_order(range(stages), microbatches, schedule=name)

            called = [calls(torch_schedule, stage, stages, microbatches) for stage in range(stages)]
            assert [[(step.kind, step.microbatch) for step in steps] for steps in order.steps] == called


def calls(torch_schedule: Any, stage: int, stages: int, microbatches: int) -> list[tuple[str, int]]:
    """What a schedule of torch's does to its stage in one step when nothing has to be sent."""
    done: list[tuple[str, int]] = []
    nothing: dict[str, Any] = {
        f"get_{way}_{end}_ops": lambda _: [] for way in ("fwd", "bwd") for end in ("recv", "send")
    }
    stand_in = SimpleNamespace(
        stage_index=stage,
        num_stages=stages,
        is_last=False,
        forward_one_chunk=lambda index, *_, **__: done.append(("F", index)),
        backward_one_chunk=lambda index, **_: done.append(("B", index)),
        perform_reduce_grad=lambda _: None,
        **nothing,
    )
    schedule = torch_schedule(stand_in, microbatches)
    schedule._initialize_stage = lambda *_: None
    schedule._step_microbatches()
    return done


@given(st.lists(st.integers(0, 4), min_size=1, max_size=8), st.integers(1, 9), st.sampled_from(["gpipe", "1f1b"]))
def test_any_stages_on_any_ipus_can_be_run(stages: list[int], microbatches: int, schedule: str) -> None:
    order = compute_order(stages, microbatches, schedule=schedule)

    assert_it_never_waits_for_itself(order)
    steps = sorted(str(step) for steps in order.steps for step in steps)
    assert steps == sorted(
        f"{stage}{kind}{index}" for stage in range(len(stages)) for kind in "FB" for index in range(microbatches)
    )
    assert [{stages[step.stage] for step in steps} for steps in order.steps] == [
        {ipu} & set(stages) for ipu in range(max(stages) + 1)
    ]


def assert_it_never_waits_for_itself(order: Order) -> None:
    """Torch and `timeline` raise where it does, with communication and without."""
    _simulate_comms_compute(
        communication(order), rank_of_stage(order.ipu_of_stage).__getitem__, len(order.ipu_of_stage)
    )
    timeline(order)


@pytest.mark.parametrize("schedule", ROUND + THERE_AND_BACK)
def test_torch_orders_can_be_run_wherever_torch_gives_one(schedule: str) -> None:
    tried = 0
    for ranks in range(1, 5):
        there, back = tuple(range(ranks)), tuple(reversed(range(ranks)))
        for stages in [there * loops for loops in (1, 2, 3)] if schedule in ROUND else [there + back]:
            for microbatches in range(1, 10):
                try:
                    order = compute_order(stages, microbatches, schedule=schedule)
                except PipelineError:
                    continue
                assert_it_never_waits_for_itself(order)
                tried += 1
    assert tried >= 15


@pytest.mark.parametrize("stages", [2, 4, 8, 16])
@pytest.mark.parametrize("microbatches", [8, 16, 64])
def test_coming_back_to_the_first_ipu_costs_little_more_than_its_own_work(stages: int, microbatches: int) -> None:
    found = timeline(compute_order((*range(stages), 0), microbatches))
    filling = 3 * (stages + 1)

    assert found.ticks <= 6 * microbatches + filling


@pytest.mark.parametrize(
    ("stages", "microbatches", "schedule", "message"),
    [
        (
            (0, 1),
            4,
            "1F1B",
            (
                "there is no schedule '1F1B'; choose one of gpipe, 1f1b, interleaved-1f1b, looped-bfs,"
                " interleaved-zero-bubble, zbv-zero-bubble, dual-pipe-v"
            ),
        ),
        ((0, 1), 0, "1f1b", "0 microbatches cannot be run; ask for 1 or more"),
        (
            (0, 1, 0),
            4,
            "interleaved-1f1b",
            (
                "interleaved-1f1b needs stages that go round the IPUs, as in 0, 1, 0, 1; these are on IPUs 0, 1, 0;"
                " choose 1f1b or gpipe"
            ),
        ),
        (
            (0, 1, 2),
            4,
            "dual-pipe-v",
            (
                "dual-pipe-v needs stages that go there and back, as in 0, 1, 1, 0; these are on IPUs 0, 1, 2;"
                " choose 1f1b or gpipe"
            ),
        ),
        (
            (0, 1, 0, 1),
            5,
            "interleaved-1f1b",
            (
                "Interleaved 1F1B requires the number of microbatches to be a multiple of the number of rounds (2), but"
                " got 5; take a multiple of 2 microbatches, or choose 1f1b"
            ),
        ),
        (
            (0, 1, 1, 0),
            3,
            "dual-pipe-v",
            (
                "DualPipeV requires at least as many microbatches as stages, but got 3 microbatches and 4 stages;"
                " take 4 microbatches or more"
            ),
        ),
    ],
)
def test_what_does_not_fit_says_so_and_what_would(
    stages: tuple[int, ...], microbatches: int, schedule: str, message: str
) -> None:
    with pytest.raises(PipelineError) as caught:
        compute_order(stages, microbatches, schedule=schedule)

    assert str(caught.value) == message


def test_two_processes_that_follow_an_order_get_what_one_process_gets() -> None:
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}

    done = subprocess.run(
        [*torchrun, str(Path(__file__).with_name("run_orders.py")), *CASES],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    # Looped BFS takes the microbatches backwards in the other order, so it adds up their gradients in that.
    assert found == {case: pytest.approx(0, abs=1e-6 if case.startswith("looped") else 0) for case in CASES}
