"""The one place that writes to the terminal: nothing untrusted reaches it raw."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from checks.text import visible, visible_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36"}


class Console:
    """Writes results to standard output, and what is said about them to standard error."""

    def __init__(self, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self._out = out or sys.stdout
        self._err = err or sys.stderr
        for stream in (self._out, self._err):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")

    def print(self, text: str = "", style: str = "") -> None:
        """Write a line of result; control characters in it are made visible."""
        self._write(self._out, text, style)

    def pieces(self, pieces: Iterable[tuple[str, str]]) -> None:
        """Write a line of result whose pieces, pairs of text and style, have colours of their own."""
        self._out.write("".join(_styled(self._out, text, style) for text, style in pieces) + "\n")

    def data(self, text: str) -> None:
        """Write text that is already safe and exact: JSON, SARIF, annotations."""
        self._out.write(text if text.endswith("\n") else f"{text}\n")

    def note(self, text: str, style: str = "") -> None:
        """Say something about the run that is not its result."""
        self._write(self._err, text, style)

    def error(self, message: str, hint: str = "") -> None:
        """Say what went wrong and what to do about it, in one line each, whatever names are in them."""
        self.note(visible_line(f"error: {message}"), "red")
        if hint:
            self.note(visible_line(f"hint: {hint}"))

    def flush(self) -> None:
        """Hand over what was written so far; OSError where nobody takes it."""
        self._out.flush()

    @property
    def colourful(self) -> bool:
        """Whether results go to a terminal that shows colours."""
        return _colourful(self._out)

    @contextmanager
    def progress(self, title: str) -> Iterator[Callable[[str], None]]:
        """A line on standard error that tells where long work stands; silent when it is piped.

        Yields a function that takes the name of what is being done now.
        """
        if not self._err.isatty() or os.environ.get("TERM") == "dumb":
            yield lambda _: None
            return
        from rich.console import Console as RichConsole

        with RichConsole(file=self._err).status(title) as status:
            yield lambda step: status.update(f"{title}: {visible(step)}")

    def _write(self, stream: TextIO, text: str, style: str) -> None:
        stream.write(f"{_styled(stream, text, style)}\n")


def _styled(stream: TextIO, text: str, style: str) -> str:
    shown = visible(text)
    if not style or not _colourful(stream):
        return shown
    codes = ";".join(STYLES[name] for name in style.split())
    return f"\x1b[{codes}m{shown}\x1b[0m"


def _colourful(stream: TextIO) -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (stream.isatty() and os.environ.get("TERM") != "dumb")
