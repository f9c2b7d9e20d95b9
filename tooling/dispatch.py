"""Parsing and the ends of a run: what a command raises becomes one message and one exit code here, and nowhere else."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from typing import NoReturn, Protocol, cast

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
        options = _parser(arguments).parse_args(arguments)
        command = load_command(options.command)
        return command.run(options, console)
    except SystemExit as end:  # argparse has printed its message or the help
        return end.code if isinstance(end.code, int) else Exit.USAGE
    except UserError as error:
        console.error(str(error), error.hint)
        return error.exit
    except CheckError as error:
        console.error(str(error), error.hint)
        return Exit.ENVIRONMENT if error.environment else Exit.USAGE
    except KeyboardInterrupt:
        console.note("interrupted")
        return Exit.INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has stopped; give Python nothing more to flush.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.DONE


def load_command(name: str) -> Command:
    """The module of a command."""
    return cast(Command, importlib.import_module(f"tooling.commands.{name.replace('-', '_')}"))


def _parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """The parser: with every command's name, and the options of the one command that was asked for."""
    parser = _Parser(
        prog="mergeready",
        description="Take a branch of a model library from 'it works on my machine' to 'a maintainer can merge it'.",
    )
    parser.add_argument("-V", "--version", action="version", version=f"mergeready {VERSION}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_Parser)
    completing = "_ARGCOMPLETE" in os.environ
    asked = next((word for word in arguments if not word.startswith("-")), "")
    if asked and asked not in COMMANDS:
        near = get_close_matches(asked, COMMANDS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "see mergeready --help"
        raise UserError(f"there is no command {asked!r}", hint=hint)
    for name, summary in COMMANDS.items():
        if completing or name == asked:
            command = load_command(name)
            text, _, examples = (command.__doc__ or "").partition("Examples:\n")
            own = commands.add_parser(
                name,
                help=summary,
                description=text.strip(),
                epilog=f"examples:\n{examples.rstrip()}" if examples else None,
                formatter_class=argparse.RawDescriptionHelpFormatter,
            )
            command.configure(own)
        else:
            commands.add_parser(name, help=summary, add_help=False)
    if completing:
        import argcomplete

        argcomplete.autocomplete(parser)
    return parser


class _Parser(argparse.ArgumentParser):
    """An argument parser whose errors look like all others."""

    def error(self, message: str) -> NoReturn:
        raise UserError(message, hint=f"see {self.prog} --help")
