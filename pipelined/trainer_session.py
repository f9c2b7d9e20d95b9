"""A trainer whose model is computed in a session."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from transformers import Trainer

from pipelined.session import Session


class InSession(Trainer):
    """A trainer that opens its session whenever it computes, and leaves it closed in between."""

    args: Any
    session: Session
    _opened: ExitStack | None = None

    @contextmanager
    def _open(self) -> Iterator[None]:
        """While this lasts the session is open; it may be already."""
        if self._opened is not None:
            yield
            return
        with ExitStack() as opened:
            opened.enter_context(self.session)
            self._opened = opened
            try:
                yield
            finally:
                self._opened = None

    def _enter(self, session: Session) -> None:
        """Go on with another session, open if this one is."""
        if self._opened is not None:
            self._opened.close()
            self._opened.enter_context(session)
        self.session = session
