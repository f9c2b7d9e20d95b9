"""Find the one module that a command needs."""

from __future__ import annotations

import importlib
from keyword import iskeyword
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from tooling.console import Console


class Command(Protocol):
    """A module of `tooling.commands`. Its docstring is its help, the line after `Examples:` and all that follow too.

    One that can start without knowing its options has `begin` too, which makes a context manager. It is entered before
    the options are parsed and left after the run; what it gives is `options.begun`.
    """

    __doc__: str | None

    def configure(self, parser: ArgumentParser, /) -> None:
        """Add the command's own options."""
        ...

    def run(self, options: Namespace, console: Console, /) -> int:
        """Do it; return the exit code. UserError and CheckError end the run with their message."""
        ...


def load_command(name: str) -> Command:
    """The module of a command; one whose name is a word of Python's own has an underscore after it."""
    module = name.replace("-", "_") + ("_" if iskeyword(name) else "")
    return cast(Command, importlib.import_module(f"tooling.commands.{module}"))
