"""Call a function in several processes at once, one thread each and on CPUs alone, and hear what came of it in each.

The function and its arguments travel by pickle: it stands at the top of a module of these tests. In the processes the
package is the one that is tested here, and `torch.distributed` finds the others by the variables that `torchrun` sets.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PATIENCE = 900.0
"""Seconds until processes are taken to hang, from when all have begun; nothing here is meant to take a tenth of it."""

GRACE = 10.0
"""Seconds for a launcher to notice that all of its processes are gone."""


@dataclass(frozen=True)
class Outcome:
    """How one process ended: what it returned, or what it raised as `Type: text`, and neither if it was killed.

    `seconds` counts from when the function was called to when the process was gone; `exit_code` is negative for a
    signal.
    """

    exit_code: int
    seconds: float
    output: str
    returned: Any = None
    raised: str | None = None


def run(function: Callable[..., Any], *, processes: int, patience: float = PATIENCE, **arguments: Any) -> list[Any]:
    """What the function returned in each process that `torchrun` started; AssertionError with all output if one failed.

    No process outlives the call.
    """
    with _folder(function, arguments) as folder:
        launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
        launcher += ["--redirects", "3", "--log-dir", str(folder / "logs")]
        with (folder / "launcher.txt").open("w", encoding="utf-8") as log:
            agent = _start([*launcher, __file__, str(folder)], {}, log)
            code = _ended([agent], processes, patience, folder)[0][0]
        found = [_result(folder, rank) for rank in range(processes)]
        if code != 0 or any(one is None or one[1] is not None for one in found):
            logs = [folder / "launcher.txt", *sorted((folder / "logs").rglob("*.log"))]
            said = "\n".join(path.read_text("utf-8", "replace") for path in logs)
            raise AssertionError(f"{function.__qualname__} ended with {code} in {processes} processes\n{said}")
        return [one[0] for one in found if one is not None]


def run_each(functions: Sequence[Callable[[], Any]], *, processes: int, patience: float = PATIENCE) -> dict[str, Any]:
    """By name what each function returned in each of the same processes, called in turn: a list, by process.

    What one raises stands in the list as its text, and the others are called all the same.
    """
    found = run(_each, processes=processes, patience=patience, functions=tuple(functions))
    return {function.__name__: [results[function.__name__] for results in found] for function in functions}


def outcomes(
    function: Callable[..., Any], *, processes: int, patience: float = PATIENCE, **arguments: Any
) -> list[Outcome]:
    """How the function ended in each process, where no launcher stops those that are left when one has failed.

    Those that are left `patience` seconds after all have begun are killed.
    """
    from torch.distributed import TCPStore

    store = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    shared = {
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(store.port),
        "WORLD_SIZE": str(processes),
        "LOCAL_WORLD_SIZE": str(processes),
        "TORCHELASTIC_USE_AGENT_STORE": "True",
    }
    with _folder(function, arguments) as folder:
        started = []
        for rank in range(processes):
            with (folder / f"{rank}.log").open("w", encoding="utf-8") as log:
                own = {**shared, "RANK": str(rank), "LOCAL_RANK": str(rank)}
                started.append(_start([sys.executable, __file__, str(folder)], own, log))
        ended = _ended(started, processes, patience, folder)
        return [_outcome(folder, rank, *end) for rank, end in enumerate(ended)]


def _each(functions: Sequence[Callable[[], Any]]) -> dict[str, Any]:
    found = {}
    for function in functions:
        try:
            found[function.__name__] = function()
        except Exception as error:  # noqa: BLE001 - whatever it is, the test is told of it
            traceback.print_exc()
            found[function.__name__] = f"{type(error).__name__}: {error}"
    return found


@contextmanager
def _folder(function: Callable[..., Any], arguments: dict[str, Any]) -> Iterator[Path]:
    """A folder with the call in it, for the processes to leave their results in."""
    with tempfile.TemporaryDirectory(prefix="processes-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "call.pickle").write_bytes(pickle.dumps((function, arguments)))
        yield folder


def _start(argv: Sequence[str], own: dict[str, str], log: Any) -> subprocess.Popen[bytes]:
    spec = find_spec("pipelined")
    assert spec is not None
    assert spec.origin is not None
    # The package under test first, which need not be the one beside these tests.
    path = os.pathsep.join([str(Path(spec.origin).parents[1]), str(ROOT)])
    fixed = {
        "PYTHONPATH": path,
        # A script's folder comes first otherwise, and ours has modules that are called as others' are.
        "PYTHONSAFEPATH": "1",
        "OMP_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
        "CUDA_VISIBLE_DEVICES": "",
    }
    environment = {**os.environ, **fixed, **own}
    return subprocess.Popen(argv, env=environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)


def _ended(
    started: Sequence[subprocess.Popen[bytes]], processes: int, patience: float, folder: Path
) -> list[tuple[int, float]]:
    """The exit code of each, and the time when it ended; whatever is raised here, none of them is left."""
    ended: dict[int, tuple[int, float]] = {}
    until = time.monotonic() + PATIENCE
    begun = False
    try:
        while len(ended) < len(started) and time.monotonic() < until:
            if not begun and len(_begun(folder)) == processes:
                begun, until = True, time.monotonic() + patience
            for index, process in enumerate(started):
                if index not in ended and process.poll() is not None:
                    ended[index] = (process.returncode, time.time())
            time.sleep(0.02)
    finally:
        if len(ended) < len(started):
            _kill(_begun(folder))
        for process in started:
            _wait(process)
    return [ended.get(index, (process.returncode, time.time())) for index, process in enumerate(started)]


def _begun(folder: Path) -> list[int]:
    """The processes that have called the function; a launcher has them in groups of their own."""
    return [int(path.stem.partition(".")[2]) for path in folder.glob("*.began")]


def _wait(process: subprocess.Popen[bytes]) -> None:
    """Let a launcher, whose processes are gone, end by itself: it is the one that knows of them."""
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        _kill([process.pid])
        process.wait()


def _kill(groups: Sequence[int]) -> None:
    for group in groups:
        try:
            os.killpg(group, signal.SIGKILL)
        except ProcessLookupError:
            pass


def _result(folder: Path, rank: int) -> tuple[Any, str | None] | None:
    path = folder / f"{rank}.pickle"
    return pickle.loads(path.read_bytes()) if path.is_file() else None  # noqa: S301 - written by our own process


def _outcome(folder: Path, rank: int, code: int, end: float) -> Outcome:
    began = next((path.stat().st_mtime for path in folder.glob(f"{rank}.*.began")), end)
    output = (folder / f"{rank}.log").read_text("utf-8", "replace")
    returned, raised = _result(folder, rank) or (None, None)
    return Outcome(code, end - began, output, returned, raised)


def _work(folder: Path) -> None:
    """Make the call that is in the folder, in one of the processes."""
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    rank = os.environ["RANK"]
    function, arguments = pickle.loads((folder / "call.pickle").read_bytes())  # noqa: S301 - written by our tests
    (folder / f"{rank}.{os.getpid()}.began").touch()
    try:
        result = (function(**arguments), None)
    except BaseException as error:  # noqa: BLE001 - whatever it is, the test is told of it
        traceback.print_exc()
        _leave(folder / f"{rank}.pickle", (None, f"{type(error).__name__}: {error}"))
        raise SystemExit(1) from None
    _leave(folder / f"{rank}.pickle", result)
    if dist.is_initialized():
        dist.destroy_process_group()


def _leave(path: Path, result: tuple[Any, str | None]) -> None:
    """Write a result so that it is there as a whole or not at all."""
    unfinished = path.with_suffix(".part")
    unfinished.write_bytes(pickle.dumps(result))
    unfinished.replace(path)


if __name__ == "__main__":
    _work(Path(sys.argv[1]))
