"""Write an outcome in the format asked for, to the terminal or to a file."""

from __future__ import annotations

import os
from contextlib import suppress

from checks.reports import github, human
from checks.run import Outcome
from tooling.console import Console
from tooling.errors import Exit, UserError
from tooling.version import VERSION


def write_report(outcome: Outcome, style: str, output: str | None, console: Console, *, statistics: bool) -> None:
    """Write it; with `output` the report goes to that file and one line of summary to the terminal."""
    if output:
        write_file(_text(outcome, style), output)
        console.print(f"{human.summary(outcome)}; written to {output}")
    elif style == "human":
        for text, look in human.lines(outcome):
            console.print(text, look)
    else:
        console.data(_text(outcome, style))
    if statistics:
        # Beside a report that a program reads, the table goes where people look.
        say = console.print if style == "human" else console.note
        for text, look in human.statistics(outcome):
            say(text, look)


def write_file(text: str, path: str) -> None:
    """Write text to a file, whole or not at all; UserError where that fails.

    A link is followed, and what is no file (`/dev/stdout`, a pipe) is written into and never replaced.
    """
    whole = text if text.endswith("\n") else f"{text}\n"
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            _write(whole, path)
        else:
            _replace(whole, os.path.realpath(path))
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}", exit=Exit.ENVIRONMENT) from error


def _replace(text: str, path: str) -> None:
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        _write(text, temporary)
        os.replace(temporary, path)
    finally:
        with suppress(OSError):
            os.unlink(temporary)


def _write(text: str, path: str) -> None:
    with open(path, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
        file.write(text)


def _text(outcome: Outcome, style: str) -> str:
    if style == "json":
        from checks.reports import json_document

        return json_document.render(outcome)
    if style == "sarif":
        from checks.reports import sarif

        return sarif.render(outcome, VERSION)
    if style == "github":
        return "\n".join(github.lines(outcome))
    return "\n".join(text for text, _ in human.lines(outcome))
