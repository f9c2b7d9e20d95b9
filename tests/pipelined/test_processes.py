"""The processes of other tests: each returns or fails by itself, and none is left behind."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
import torch
import torch.distributed as dist

import pipelined
from tests.pipelined.processes import outcomes, run


def place() -> tuple[int, float, str]:
    """This process, what all of them add up to, and whose package it has."""
    dist.init_process_group("gloo")
    numbers = torch.tensor(float(dist.get_rank() + 1))
    dist.all_reduce(numbers)
    return dist.get_rank(), numbers.item(), str(pipelined.__file__)


def end_in_many_ways(folder: str) -> str:
    rank = int(os.environ["RANK"])
    Path(folder, str(rank)).write_text(str(os.getpid()), encoding="utf-8")
    if rank == 0:
        return "returned"
    if rank == 1:
        raise ValueError("raised")
    if rank == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(3600)
    return "never"


def hang(folder: str) -> None:
    Path(folder, os.environ["RANK"]).write_text(str(os.getpid()), encoding="utf-8")
    time.sleep(3600)


def alive(folder: Path) -> list[str]:
    """The processes that have left their number in the folder, and are still there."""
    found = []
    for path in folder.iterdir():
        try:
            os.kill(int(path.read_text("utf-8")), 0)
        except ProcessLookupError:
            continue
        found.append(path.name)
    return found


def test_each_process_returns_its_own_and_has_the_package_under_test() -> None:
    assert run(place, processes=2) == [(0, 3.0, pipelined.__file__), (1, 3.0, pipelined.__file__)]


def test_processes_end_in_their_own_way_and_one_that_hangs_is_killed(tmp_path: Path) -> None:
    ends = outcomes(end_in_many_ways, processes=4, patience=10, folder=str(tmp_path))

    assert [(end.exit_code, end.returned, end.raised) for end in ends] == [
        (0, "returned", None),
        (1, None, "ValueError: raised"),
        (-signal.SIGKILL, None, None),
        (-signal.SIGKILL, None, None),
    ]
    assert alive(tmp_path) == []


def test_a_launcher_that_waits_for_ever_is_ended_with_all_it_started(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"hang ended with 1 in 2 processes"):
        run(hang, processes=2, patience=10, folder=str(tmp_path))

    assert len(list(tmp_path.iterdir())) == 2
    assert alive(tmp_path) == []
