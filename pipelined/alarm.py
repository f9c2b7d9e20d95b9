"""When one process of a pipeline fails, all fail, within seconds and with its message."""

from __future__ import annotations

import gc
import time
from itertools import count
from types import TracebackType
from typing import Any, NoReturn

import torch.distributed as dist

from pipelined import torch_private
from pipelined.errors import PipelineError

GRACE = 3.0
"""Seconds to wait for the others' word: why they are gone, and that they have heard."""

_LOST = ("Connection closed by peer", "Connection reset", "Broken pipe", "Timed out waiting", "NCCL", "aborted")
_sessions = count()


class Alarm:
    """Where the processes of a session tell each other that one of them has failed."""

    def __init__(self, size: int, rank: int) -> None:
        self._store: Any = dist.PrefixStore(f"pipelined-{next(_sessions)}", torch_private.default_store())
        self._size, self._rank = size, rank
        self.failure: str | None = None

    def check(self) -> None:
        """Raise PipelineError if the session has failed before."""
        if self.failure is not None:
            raise PipelineError(f"this pipeline has failed and cannot go on: {self.failure}")

    def sound(self, error: BaseException, close: Any) -> NoReturn:
        """Tell the others, or find that they told us; call `close`, which drops the connections; raise.

        The process that failed first raises its own error, the others a PipelineError with the same text.
        """
        message = self._first(error)
        own = message == self._text(error)
        self.failure = message
        forget(error.__traceback__)
        close()
        gc.collect()
        self._wait_until_heard()
        if own:
            raise error
        raise PipelineError(message) from error

    def _first(self, error: BaseException) -> str:
        """The message of whoever failed first; ours if nobody did before."""
        try:
            if is_lost(error):
                self._wait(lambda: self._store.check(["failure"]))
            text: bytes = self._store.compare_set("failure", "", self._text(error))
            return text.decode()
        except (RuntimeError, ConnectionError):
            # The store went with the process that kept it.
            return self._text(error)

    def _text(self, error: BaseException) -> str:
        if is_lost(error):
            return f"process {self._rank} has lost another process of the pipeline: {str(error).splitlines()[0]}"
        return f"process {self._rank}: {type(error).__name__}: {error}"

    def _wait_until_heard(self) -> None:
        """So that a launcher that stops everybody when one ends does so after all have raised."""
        try:
            self._store.add("heard", 1)
            self._wait(lambda: self._store.add("heard", 0) >= self._size)
        except (RuntimeError, ConnectionError):
            pass

    @staticmethod
    def _wait(done: Any) -> None:
        until = time.monotonic() + GRACE
        while not done() and time.monotonic() < until:
            time.sleep(0.05)


def is_lost(error: BaseException) -> bool:
    """Whether the error says that another process is gone."""
    lost = isinstance(error, dist.DistError) or any(words in str(error) for words in _LOST)
    return isinstance(error, RuntimeError) and lost


def cause(error: Exception) -> BaseException:
    """What really happened: torch wraps whatever a stage's forward raises."""
    wrapped = isinstance(error, RuntimeError) and "failed to run forward" in str(error)
    return error.__cause__ if wrapped and error.__cause__ is not None else error


def forget(traceback: TracebackType | None) -> None:
    """Drop what torch's own frames hold, connections among it; the user's frames stay as they are."""
    while traceback is not None:
        if str(traceback.tb_frame.f_globals.get("__name__")).startswith("torch.distributed"):
            traceback.tb_frame.clear()
        traceback = traceback.tb_next
