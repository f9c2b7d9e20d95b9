"""Parsing and the ends of a run: what a command raises becomes one message and one exit code here, and nowhere else."""

from __future__ import annotations

import argparse
import errno
import importlib
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from keyword import iskeyword
from typing import NoReturn, Protocol, TypedDict, cast

from checks.errors import CheckError
from tooling.commands import COMMANDS
from tooling.console import Console
from tooling.errors import Exit, UserError
from tooling.version import VERSION


class Command(Protocol):
    """A module of `tooling.commands`. Its docstring is its help, the line after `Examples:` and all that follow too."""

    __doc__: str | None

    def configure(self, parser: argparse.ArgumentParser, /) -> None:
        """Add the command's own options."""
        ...

    def run(self, options: argparse.Namespace, console: Console, /) -> int:
        """Do it; return the exit code. UserError and CheckError end the run with their message."""
        ...


def dispatch(arguments: Sequence[str]) -> int:
    """Parse the arguments, run the command, return the exit code."""
    console = Console()
    try:
        code = _run(arguments, console)
        console.flush()
        return code
    except KeyboardInterrupt:
        console.note("interrupted")
        return Exit.INTERRUPTED
    except BrokenPipeError:
        _silence_output()  # whoever read it has stopped
        return Exit.DONE
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EIO):
            raise
        _silence_output()
        console.error(f"cannot write: {error.strerror}")
        return Exit.ENVIRONMENT


def _run(arguments: Sequence[str], console: Console) -> int:
    try:
        command, options = _parse(arguments)
        return command.run(options, console)
    except SystemExit as end:  # argparse has printed the help or the version
        return end.code if isinstance(end.code, int) else Exit.USAGE
    except UserError as error:
        console.error(str(error), error.hint)
        return error.exit
    except CheckError as error:
        console.error(str(error), error.hint)
        return Exit.ENVIRONMENT if error.environment else Exit.USAGE


def _silence_output() -> None:
    """Send what is still in the buffer nowhere, so that Python does not fail at its own end."""
    with suppress(OSError):  # a standard output that is no file needs it not
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def load_command(name: str) -> Command:
    """The module of a command; one whose name is a word of Python's own has an underscore after it."""
    module = name.replace("-", "_") + ("_" if iskeyword(name) else "")
    return cast(Command, importlib.import_module(f"tooling.commands.{module}"))


def _parse(arguments: Sequence[str]) -> tuple[Command, argparse.Namespace]:
    """The command that was asked for and its options; only its own parser is built where its name comes first."""
    if arguments and arguments[0] in COMMANDS:
        command = load_command(arguments[0])
        parser = _Parser(prog=f"mergeready {arguments[0]}", **_texts(command))
        command.configure(parser)
        return command, parser.parse_args(arguments[1:])
    if arguments and not arguments[0].startswith("-"):
        from difflib import get_close_matches

        near = get_close_matches(arguments[0], COMMANDS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "see mergeready --help"
        raise UserError(f"there is no command {arguments[0]!r}", hint=hint)
    options = whole_parser().parse_args(arguments)
    return load_command(options.command), options


def whole_parser() -> argparse.ArgumentParser:
    """The parser of every command and all their options: for the help and for completion in the shell."""
    parser = _Parser(
        prog="mergeready",
        formatter_class=_Help,
        description="Take a branch of a model library from 'it works on my machine' to 'a maintainer can merge it'.",
        epilog="mergeready COMMAND --help tells more of a command.",
    )
    parser.add_argument("-V", "--version", action="version", version=f"mergeready {VERSION}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, summary in COMMANDS.items():
        command = load_command(name)
        command.configure(commands.add_parser(name, help=summary, **_texts(command)))
    return parser


def _texts(command: Command) -> _Texts:
    text, _, examples = (command.__doc__ or "").partition("Examples:\n")
    return {
        "description": text.strip(),
        "epilog": f"examples:\n{examples.rstrip()}" if examples else None,
        "formatter_class": _Help,
    }


class _Texts(TypedDict):
    description: str
    epilog: str | None
    formatter_class: type[_Help]


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help that is as wide as the terminal; argparse would import all of shutil to ask, for every option."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_width() - 2)


def _width() -> int:
    columns = os.environ.get("COLUMNS", "")
    try:
        return int(columns) if columns.isdecimal() and int(columns) else os.get_terminal_size().columns
    except OSError:
        return 80


class _Parser(argparse.ArgumentParser):
    """An argument parser whose errors look like all others."""

    def error(self, message: str) -> NoReturn:
        raise UserError(message, hint=f"see {self.prog} --help")
