"""Parsers of command lines: of one command, or of all. Imported while a command has already begun."""

from __future__ import annotations

import argparse
import os
from typing import NoReturn, TypedDict

from tooling.commands import COMMANDS
from tooling.errors import UserError
from tooling.loading import Command, load_command
from tooling.version import VERSION


def parser_of(name: str, command: Command) -> argparse.ArgumentParser:
    """The parser of one command's own options."""
    parser = _Parser(prog=f"mergeready {name}", **_texts(command))
    command.configure(parser)
    return parser


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
