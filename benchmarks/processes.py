"""Processes that share one import of torch: each call of a function in several of them, with a process group."""

from __future__ import annotations

import multiprocessing
import os
import socket
import time
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, NamedTuple


class Outcome(NamedTuple):
    """What a process returned, or the first line of what it raised; `alive` says that it had to be stopped."""

    value: Any = None
    error: str | None = None
    alive: bool = False


def run(function: Callable[..., Any], processes: int, *arguments: Any, timeout: float = 600.0) -> list[Outcome]:
    """Call the function in as many processes as given, each with one thread and with gloo ready; outcomes by rank.

    They are forked, so that what is imported here is imported there. When one fails the others have ten seconds more.
    """
    context: Any = multiprocessing.get_context("fork")
    port = _free_port()
    pipes = [context.Pipe(duplex=False) for _ in range(processes)]
    started = [
        context.Process(target=_call, args=((rank, processes, port), pipes[rank][1], function, arguments), daemon=True)
        for rank in range(processes)
    ]
    for process in started:
        process.start()
    for _, sending in pipes:
        sending.close()
    outcomes = _collect([receiving for receiving, _ in pipes], time.monotonic() + timeout)
    for process in started:
        process.kill()
        process.join()
    return outcomes


def values(function: Callable[..., Any], processes: int, *arguments: Any, timeout: float = 600.0) -> list[Any]:
    """What the function returned in each process; RuntimeError where one failed."""
    outcomes = run(function, processes, *arguments, timeout=timeout)
    for rank, outcome in enumerate(outcomes):
        if outcome.error is not None or outcome.alive:
            raise RuntimeError(f"process {rank} of {function.__name__}: {outcome.error or 'no answer in time'}")
    return [outcome.value for outcome in outcomes]


def _collect(receiving: list[Connection], until: float) -> list[Outcome]:
    found: dict[int, Outcome] = {}
    while len(found) < len(receiving) and time.monotonic() < until:
        for rank, connection in enumerate(receiving):
            if rank not in found and connection.poll(0.02):
                try:
                    found[rank] = connection.recv()
                except EOFError:
                    found[rank] = Outcome(error="the process ended without a word")
                if found[rank].error is not None:
                    until = min(until, time.monotonic() + 10)
    return [found.get(rank, Outcome(alive=True)) for rank in range(len(receiving))]


def _call(
    place: tuple[int, int, int], sending: Connection, function: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    import torch
    import torch.distributed as dist

    parent = os.getppid()
    rank, processes, port = place
    torch.set_num_threads(1)
    os.environ |= {"MASTER_ADDR": "localhost", "MASTER_PORT": str(port), "LOCAL_RANK": str(rank)}
    os.environ |= {"RANK": str(rank), "WORLD_SIZE": str(processes), "LOCAL_WORLD_SIZE": str(processes)}
    # What the function prints is its own: warnings of those who are compared would hide the tables.
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        if "PIPELINE_VERBOSE" not in os.environ:
            os.dup2(nowhere.fileno(), 2)
        try:
            dist.init_process_group("gloo")
            outcome = Outcome(function(*arguments))
        except Exception as error:  # noqa: BLE001 - that is what is asked
            traceback.print_exc()
            outcome = Outcome(error=f"{type(error).__name__}: {_first_line(error)}")
        sending.send(outcome)
        # Until it is killed: process 0 keeps what the others may still need, and leaving in order takes all of them.
        while os.getppid() == parent:
            time.sleep(0.05)
        os._exit(0)


def _first_line(error: BaseException) -> str:
    cause = error.__cause__ if "failed to run forward" in str(error) and error.__cause__ is not None else error
    return (str(cause).strip().splitlines() or [""])[0].partition(". ")[0]


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("localhost", 0))
        return int(free.getsockname()[1])
