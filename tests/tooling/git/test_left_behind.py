"""A hook that leaves a program behind: it holds our pipes and our lock, and nobody waits for it."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress

import pytest

from tests.tooling.git.repositories import Bench

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pipes are waited for there")


@pytest.fixture
def leaving(bench: Bench) -> Iterator[Bench]:
    """A bench with hooks that each leave a program behind."""
    for name in ("post-checkout", "pre-push"):
        bench.hook(name, 'sleep 100 & echo $! >> "$(git rev-parse --git-dir)/left"')
    yield bench
    for pid in (bench.work / ".git/left").read_text(encoding="utf-8").split():
        with suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGKILL)


def test_a_program_that_a_hook_leaves_behind_is_not_waited_for_and_keeps_nobody_out(leaving: Bench) -> None:
    rebased = leaving.spawn("rebase", "--push")
    undone = leaving.spawn("undo", "--push")

    assert (rebased.code, rebased.said) == (0, "feature is rebased: 2 commits replayed")
    assert (undone.code, undone.said) == (0, "rebase is undone")
