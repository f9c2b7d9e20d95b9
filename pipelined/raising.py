"""What each process does by itself, such as reading and writing files, so that all succeed or all raise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from pipelined.agreement import agree
from pipelined.ranks import Ranks


@contextmanager
def raised_by_all(ranks: Ranks, talk: Callable[[], AbstractContextManager[object]] = nullcontext) -> Iterator[None]:
    """What one process raises inside, all raise once each has come to the end; nothing is sent inside.

    `talk` is what has to be around sending; of a running session, `Runner.together`.
    """
    error: Exception | None = None
    try:
        yield
    except Exception as raised:  # noqa: BLE001 - whatever it is, all processes are to raise it
        error = raised
    with talk():
        verdict = agree("", error, ranks)
    if verdict is not None:
        raise verdict from error
