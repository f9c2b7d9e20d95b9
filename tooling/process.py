"""Run processes: bytes in, bytes out, no shell, no terminal input, and never one left running behind our back."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from math import inf
from typing import NamedTuple

from tooling.errors import Exit, UserError


class Done(NamedTuple):
    """How a process ended: its exit status and what it wrote."""

    status: int
    out: bytes
    err: bytes


_MOMENT = 0.5
"""Seconds for which what a process has started may still hold its pipes open once it has ended itself."""


class SilentError(Exception):
    """A process that wrote nothing for the time it was given, and was ended for it."""


class Started:
    """A process that runs while we do something else; `finish` waits for it. It holds the open files `hold` too."""

    def __init__(
        self, argv: Sequence[str], *, env: Mapping[str, str], stdin: bytes = b"", hold: Sequence[int] = ()
    ) -> None:
        self._name = argv[0]
        self._stdin = stdin
        try:
            self._process = subprocess.Popen(
                argv,
                env=env,
                stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=hold,
            )
        except FileNotFoundError as error:
            raise UserError(
                f"{argv[0]} is not installed", hint=f"install {argv[0]} and run this again", exit=Exit.ENVIRONMENT
            ) from error

    def finish(self, timeout: float | None = None) -> Done:
        """Wait for its end; SilentError after `timeout` seconds, UserError where a signal ended it.

        Ctrl-C is passed on, and raised once it has ended.
        """
        try:
            out, err = self._hear(timeout)
        except (subprocess.TimeoutExpired, KeyboardInterrupt) as error:
            from tooling.ending import end

            interrupted = isinstance(error, KeyboardInterrupt)
            end(self._process, interrupted=interrupted)
            self._close_pipes()
            if interrupted:
                raise
            raise SilentError from error
        return _unless_killed(self._name, Done(self._process.returncode, out, err))

    def close(self) -> None:
        """End it if nobody has waited for it."""
        if self._process.returncode is None:
            self._process.kill()
            self._process.communicate()

    def _hear(self, timeout: float | None) -> tuple[bytes, bytes]:
        """All that it writes to its two streams; TimeoutExpired after `timeout` seconds.

        A hook may leave a program behind that holds the pipes open for hours, so they are not waited for where they
        can be left (on Windows they cannot).
        """
        deadline, stdin = time.monotonic() + (inf if timeout is None else timeout), self._stdin or None
        while True:
            ended = self._process.poll() is not None
            try:
                return self._process.communicate(stdin, min(_MOMENT, max(0.0, deadline - time.monotonic())))
            except subprocess.TimeoutExpired as error:
                if ended and sys.platform != "win32":
                    self._close_pipes()
                    return error.output or b"", error.stderr or b""
                if time.monotonic() >= deadline:
                    raise
                stdin = None

    def _close_pipes(self) -> None:
        """Close our ends without reading on: what it started itself may hold the other ends for long."""
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream:
                with suppress(OSError):  # what was still to be written has no reader
                    stream.close()


def run(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    stdin: bytes = b"",
    hold: Sequence[int] = (),
    timeout: float | None = None,
) -> Done:
    """Run to the end; SilentError where that takes longer than `timeout` seconds."""
    return Started(argv, env=env, stdin=stdin, hold=hold).finish(timeout)


def run_while_it_speaks(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    silence: float,
    hear: Callable[[bytes], None] | None = None,
    at_terminal: bool = False,
) -> Done:
    """Run to the end, however long that takes, but raise SilentError once nothing was written for `silence` seconds.

    A download may take an hour; a peer that says nothing for a minute is gone. `hear` is given its errors as they come.
    `at_terminal` leaves it the terminal, where it may ask for a password.
    """
    from tooling.ending import end, own_group
    from tooling.listening import listen

    group = not at_terminal
    with subprocess.Popen(
        argv,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **(own_group() if group else {}),
    ) as process:
        try:
            out, err = listen(process, silence, hear)
        except BaseException as error:
            # It leads a group of its own, so that a helper which holds our pipes open ends with it.
            end(process, interrupted=isinstance(error, KeyboardInterrupt), group=group)
            if isinstance(error, TimeoutError):
                raise SilentError from error
            raise
        return _unless_killed(argv[0], Done(process.wait(), out, err))


def _unless_killed(name: str, done: Done) -> Done:
    """The same; an answer that was cut off must not be taken for one, so UserError where a signal ended it."""
    if done.status >= 0:
        return done
    raise UserError(
        f"{name} was ended by signal {-done.status}",
        hint="see where things stand with: mergeready status",
        exit=Exit.ENVIRONMENT,
    )
