"""Saving may stop at any moment: what was saved before is there, and the next save clears up."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from pipelined import PipelineError, Session
from tests.pipelined.processes import outcomes
from tests.pipelined.resuming import batch_for, session

CALLS = ("fsync", "rename", "replace", "unlink", "mkdir", "rmdir")
"""What saving asks of the system, at each of which it may stop."""


class StoppedError(BaseException):
    """Ends a process as nothing else does that could be caught."""


@contextmanager
def stopping(moment: int, patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Stop at this call of all that follow, before it is made."""
    made = iter(range(moment))

    def stop_at(call: Any) -> Any:
        def asked(*args: Any, **kwargs: Any) -> Any:
            if next(made, None) is None:
                raise StoppedError
            return call(*args, **kwargs)

        return asked

    with patch.context() as inside:
        for name in CALLS:
            inside.setattr(os, name, stop_at(getattr(os, name)))
        yield


def stopped(moment: int, patch: pytest.MonkeyPatch, save: Any) -> bool:
    """Whether a save was stopped, which it was not where it makes fewer calls."""
    try:
        with stopping(moment, patch):
            save()
    except (StoppedError, PipelineError):
        return True
    return False


def test_whenever_a_checkpoint_stops_to_be_saved_the_one_before_it_loads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch, moment = batch_for("bert"), 0
    with session("bert", ipus=1) as pipe:
        pipe.train_step(batch)
        pipe.save_checkpoint(tmp_path)
        weights = pipe.state_dict()
        pipe.train_step(batch)
        steps = []
        while stopped(moment, monkeypatch, lambda: pipe.save_checkpoint(tmp_path, keep=1)):
            before = pipe.state_dict()
            pipe.load_checkpoint(tmp_path)
            steps.append(pipe.step)
            loaded = pipe.state_dict()
            expected = before if pipe.step == 2 else weights
            assert all(torch.equal(one, expected[key]) for key, one in loaded.items())
            if pipe.step == 1:
                pipe.train_step(batch)
            moment += 1
        pipe.save_checkpoint(tmp_path, keep=1)

    assert steps == sorted(steps)
    assert {1, 2} == set(steps)
    # With a number behind it, for one of that step was there already.
    assert [path.name.rpartition("-")[0] for path in tmp_path.iterdir()] == ["step-00000002"]


@pytest.mark.parametrize(
    "sizes",
    [
        ("40KB", "40KB"),
        ("50GB", "40KB"),
        pytest.param(("40KB", "50GB"), marks=pytest.mark.slow),
        pytest.param(("50GB", "50GB"), marks=pytest.mark.slow),
    ],
)
def test_whenever_a_model_stops_to_be_saved_the_folder_loads_as_before_or_as_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sizes: tuple[str, str]
) -> None:
    seen: list[list[bool]] = []
    done = False
    with session("bert", ipus=1) as pipe:
        while not done:
            pipe.save_pretrained(tmp_path, max_shard_size=sizes[0])
            old = pipe.state_dict()
            _shift(pipe)
            new = pipe.state_dict()
            done = not stopped(len(seen), monkeypatch, lambda: pipe.save_pretrained(tmp_path, max_shard_size=sizes[1]))
            found = transformers.BertForMaskedLM.from_pretrained(tmp_path).state_dict()
            seen.append([all(torch.equal(one, found[key]) for key, one in state.items()) for state in (old, new)])

    assert seen == sorted(seen, reverse=True)
    assert (seen[0], seen[-1]) == ([True, False], [False, True])
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith(".")]


def killed(victim: int, call: str, folder: str) -> None:
    """Save a checkpoint; then kill one of two processes while the next is saved."""
    with session("bert", ipus=2) as pipe:
        batch = batch_for("bert")
        pipe.train_step(batch)
        pipe.save_checkpoint(folder)
        pipe.train_step(batch)
        if pipe.ranks.ipu == victim:
            setattr(os, call, lambda *args, **kwargs: os.kill(os.getpid(), signal.SIGKILL))
        pipe.save_checkpoint(folder)


@pytest.mark.parametrize(
    ("victim", "call"),
    [(1, "fsync"), pytest.param(0, "rename", marks=pytest.mark.slow), pytest.param(0, "fsync", marks=pytest.mark.slow)],
)
def test_where_a_process_is_killed_while_saving_the_others_say_so_and_the_checkpoint_before_loads(
    tmp_path: Path, victim: int, call: str
) -> None:
    ended = outcomes(killed, processes=2, victim=victim, call=call, folder=str(tmp_path))
    left = sorted(path.name for path in tmp_path.iterdir())
    with session("bert", ipus=1, shifted=True) as pipe:
        pipe.load_checkpoint(tmp_path)
        pipe.save_checkpoint(tmp_path)
        step = pipe.step

    assert ended[victim].exit_code == -signal.SIGKILL
    assert ended[1 - victim].exit_code == 1
    assert "has lost another process of the pipeline" in str(ended[1 - victim].raised)
    assert (left, step) == ([".saving", "step-00000001"], 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step-00000001-1"]


def _shift(pipe: Session) -> None:
    with torch.no_grad():
        for parameter in pipe.parameters().values():
            parameter.add_(1)
