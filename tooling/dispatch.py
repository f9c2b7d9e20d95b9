"""The ends of a run: what a command raises becomes one message and one exit code here, and nowhere else."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import cast

from checks.errors import CheckError
from tooling.commands import COMMANDS
from tooling.console import Console
from tooling.errors import Exit, UserError
from tooling.loading import Command, load_command


def dispatch(arguments: Sequence[str]) -> int:
    """Parse the arguments, run the command, return the exit code."""
    _open_what_is_closed()
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


def _open_what_is_closed() -> None:
    """Have all three streams, also where we were started with some of them closed (`>&-`)."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - for as long as we run


def _run(arguments: Sequence[str], console: Console) -> int:
    try:
        return _run_command(arguments, console)
    except SystemExit as end:  # argparse has printed the help or the version
        return end.code if isinstance(end.code, int) else Exit.USAGE
    except UserError as error:
        console.error(str(error), error.hint)
        return error.exit
    except CheckError as error:
        console.error(str(error), error.hint)
        return Exit.ENVIRONMENT if error.environment else Exit.USAGE


def _run_command(arguments: Sequence[str], console: Console) -> int:
    """Run what was asked for; only its own parser is built where the name of the command comes first."""
    name = arguments[0] if arguments else ""
    if name in COMMANDS:
        command = load_command(name)
        with _begun(command) as begun:
            from tooling.parsing import parser_of

            options = parser_of(name, command).parse_args(arguments[1:])
            options.begun = begun
            return command.run(options, console)
    if name and not name.startswith("-"):
        raise _unknown(name)
    from tooling.parsing import whole_parser

    # The only options that may come first print something and end the run.
    options = whole_parser().parse_args(arguments)
    return _run_command(arguments[arguments.index(options.command) :], console)


def _begun(command: Command) -> AbstractContextManager[object]:
    begin = getattr(command, "begin", nullcontext)
    return cast("AbstractContextManager[object]", begin())


def _unknown(name: str) -> UserError:
    from difflib import get_close_matches

    near = get_close_matches(name, COMMANDS, n=1)
    hint = f"did you mean {near[0]!r}?" if near else "see mergeready --help"
    return UserError(f"there is no command {name!r}", hint=hint)


def _silence_output() -> None:
    """Send what is still in the buffer nowhere, so that Python does not fail at its own end."""
    with suppress(OSError):  # a standard output that is no file needs it not
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
