"""Time commands as whole processes, in turn, so that a machine that drifts slows all of them alike."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

Prepare = Callable[[], None]


class Case(NamedTuple):
    """Commands that run one after the other and are timed as one; `prepare` runs before each time, untimed."""

    name: str
    commands: Sequence[Sequence[str]]
    prepare: Prepare = lambda: None


class Timing(NamedTuple):
    """Seconds of every run, in order, and the largest resident set of any process, in MiB."""

    name: str
    seconds: tuple[float, ...]
    peak: float

    @property
    def median(self) -> float:
        """The middle of the seconds."""
        return median(self.seconds)


def run_in_turn(cases: Sequence[Case], folder: Path, *, runs: int) -> dict[str, Timing]:
    """Each case `runs` times, A B C A B C …, after one untimed round."""
    seconds: dict[str, list[float]] = {case.name: [] for case in cases}
    peaks = dict.fromkeys(seconds, 0.0)
    for number in range(runs + 1):
        for case in cases:
            case.prepare()
            taken, peak = _run(case.commands, folder)
            if number:
                seconds[case.name].append(taken)
                peaks[case.name] = max(peaks[case.name], peak)
    return {name: Timing(name, tuple(seconds[name]), peaks[name]) for name in seconds}


def ratio(one: Timing, other: Timing) -> float:
    """The median of the ratios pair by pair."""
    return median(a / b for a, b in zip(one.seconds, other.seconds, strict=True))


def console_script(name: str) -> str:
    """The path of a program of the environment that runs this."""
    suffix = ".exe" if sys.platform == "win32" else ""
    return str(Path(sys.executable).with_name(name + suffix))


def _run(commands: Sequence[Sequence[str]], folder: Path) -> tuple[float, float]:
    # The programs of this environment come first: a script that calls ruff finds the one that we use.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    peak = 0.0
    began = time.perf_counter()
    for command in commands:
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PATH": path},
        )
        _, _, used = os.wait4(process.pid, 0)
        process.returncode = 0
        peak = max(peak, used.ru_maxrss / 1024)
    return time.perf_counter() - began, peak
