"""Kills at moments of a command, for states that have tests of their own: taken back or gone on with."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.tooling.git.faults import Injector, every_fault, go_on, is_open, keep, put_back, take_back
from tests.tooling.git.repositories import Bench


def lost_to_kills(
    bench: Bench, folder: Path, argv: Sequence[str], look: Callable[[], object], *, step: int
) -> list[object]:
    """What `look` shows otherwise than it should after every `step`th kill; nothing is best.

    After every other kill it is taken back, and all is as before; after the rest it is gone on with, and all is as
    before or as without a kill.
    """
    if sys.platform == "win32":
        pytest.skip("a git that fails is a script, which Windows does not find on the path")
    injector = Injector(bench, folder / "faults")
    before = look()
    keep(bench, folder / "kept")
    faults = list(every_fault(injector.durations(argv)))[::step]
    assert faults
    done = look()
    lost: list[object] = []
    for number, fault in enumerate(faults):
        put_back(bench, folder / "kept")
        result = injector.run(argv, fault)
        taken = go_on(bench) if number % 2 else take_back(bench, opened=is_open(bench))
        if look() not in ((before, done) if number % 2 else (before,)):
            lost.append((fault, result, taken, look()))
    return lost
