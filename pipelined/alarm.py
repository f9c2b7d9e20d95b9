"""When one process of a pipeline fails, all fail, within seconds and with its message."""

from __future__ import annotations

import gc
import re
import time
from collections.abc import Callable
from itertools import count
from typing import Any, NoReturn

import torch.distributed as dist

from pipelined import torch_private
from pipelined.errors import PipelineError

GRACE = 3.0
"""Seconds to wait for the others to hear of a failure."""

_LOST = ("Connection closed by peer", "Connection reset", "Broken pipe", "Timed out waiting", "NCCL", "aborted")
_BEGINNING = re.compile(r"^\[[^\]]*\] ")
"""Where in gloo's source it happened; behind what happened there is advice for its developers."""

_WRAPPED = ("failed to run forward", "Failed to run stage backward")
_sessions = count()


class Alarm:
    """Where the processes of a session tell each other that one of them has failed."""

    def __init__(self, size: int, rank: int) -> None:
        self._store: Any = dist.PrefixStore(f"pipelined-{next(_sessions)}", torch_private.default_store())
        self._size, self._rank, self._opened = size, rank, 0
        self.failure: str | None = None

    def opened(self) -> None:
        """The session is open, once more; what was told before is no longer news."""
        self._opened += 1

    def left(self, error: BaseException) -> None:
        """Leave word that the session was left in this process with an error, for those that go on to find."""
        if self.failure is None:
            self._first(error)

    def check(self) -> None:
        """Raise PipelineError if the session has failed before."""
        if self.failure is not None:
            raise PipelineError(f"this pipeline has failed and cannot go on: {self.failure}")

    def sound(self, raised: Exception, close: Callable[[], None]) -> NoReturn:
        """Tell the others, or find that they told us; call `close`, which drops the connections; raise.

        The process that failed first raises its own error, the others a PipelineError with the same text.
        """
        error = cause(raised)
        # Before any connection is dropped: whoever finds one dropped and no message knows that this process was killed.
        self.failure = self._first(error)
        own = self.failure == self._text(error)
        forget(raised)
        close()
        gc.collect()
        if own and not is_lost(error):
            self._wait_until_heard()
            raise error
        self._hear()
        raise PipelineError(self.failure) from error

    def _first(self, error: BaseException) -> str:
        """The message of whoever failed first; ours if nobody did before."""
        try:
            text: bytes = self._store.compare_set(f"failure {self._opened}", "", self._text(error))
            return text.decode()
        except (RuntimeError, ConnectionError):
            # The store went with the process that kept it.
            return self._text(error)

    def _text(self, error: BaseException) -> str:
        if is_lost(error):
            said = _BEGINNING.sub("", str(error).splitlines()[0]).partition(" This is typically")[0]
            return f"process {self._rank} has lost another process of the pipeline: {said}"
        return f"process {self._rank}: {type(error).__name__}: {error}"

    def _wait_until_heard(self) -> None:
        """So that a launcher that stops everybody when one ends does so after all have raised."""
        until = time.monotonic() + GRACE
        while self._hear(0) < self._size - 1 and time.monotonic() < until:
            time.sleep(0.05)

    def _hear(self, more: int = 1) -> int:
        """How many have heard of the failure, this process included if `more` is 1."""
        try:
            return int(self._store.add(f"heard {self._opened}", more))
        except (RuntimeError, ConnectionError):
            return self._size


def is_lost(error: BaseException) -> bool:
    """Whether the error says that another process is gone."""
    lost = isinstance(error, dist.DistError) or any(words in str(error) for words in _LOST)
    return isinstance(error, RuntimeError) and lost


def cause(error: Exception) -> Exception:
    """What really happened: torch wraps whatever a stage raises."""
    inner = error.__cause__
    wrapped = isinstance(error, RuntimeError) and any(words in str(error) for words in _WRAPPED)
    return inner if wrapped and isinstance(inner, Exception) else error


def forget(error: BaseException | None) -> None:
    """Drop what torch's own frames hold, connections among it; the user's frames stay as they are."""
    while error is not None:
        traceback = error.__traceback__
        while traceback is not None:
            if str(traceback.tb_frame.f_globals.get("__name__")).startswith("torch.distributed"):
                torch_private.forget_frame(traceback.tb_frame)
            traceback = traceback.tb_next
        error = error.__cause__ or error.__context__
