"""Kills at moments of a command, for states that have tests of their own: taken back, all is as it was."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.tooling.git.faults import Injector, every_fault, keep, put_back, take_back
from tests.tooling.git.repositories import Bench


def lost_to_kills(
    bench: Bench, folder: Path, argv: Sequence[str], look: Callable[[], object], *, step: int
) -> list[object]:
    """What `look` shows otherwise after every `step`th kill, once `status` has been followed; nothing should be."""
    if sys.platform == "win32":
        pytest.skip("a git that fails is a script, which Windows does not find on the path")
    injector = Injector(bench, folder / "faults")
    before = look()
    keep(bench, folder / "kept")
    faults = list(every_fault(injector.durations(argv)))[::step]
    assert faults
    lost: list[object] = []
    for fault in faults:
        put_back(bench, folder / "kept")
        result = injector.run(argv, fault)
        taken = take_back(bench)
        if look() != before:
            lost.append((fault, result, taken, look()))
    return lost
