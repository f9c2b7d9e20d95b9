"""Run processes: bytes in, bytes out, no shell, no terminal input, and never one left running behind our back."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from typing import IO, NamedTuple

from tooling.errors import Exit, UserError


class Done(NamedTuple):
    """How a process ended: its exit status and what it wrote."""

    status: int
    out: bytes
    err: bytes


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
            out, err = self._process.communicate(self._stdin or None, timeout)
        except subprocess.TimeoutExpired as error:
            end(self._process)
            raise SilentError from error
        except KeyboardInterrupt:
            end(self._process, signal.SIGINT)
            raise
        return _unless_killed(self._name, Done(self._process.returncode, out, err))

    def close(self) -> None:
        """End it if nobody has waited for it."""
        if self._process.returncode is None:
            self._process.kill()
            self._process.communicate()


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


def run_while_it_speaks(argv: Sequence[str], *, env: Mapping[str, str], silence: float) -> Done:
    """Run to the end, however long that takes, but raise SilentError once nothing was written for `silence` seconds.

    A download may take an hour; a peer that says nothing for a minute is gone.
    """
    with subprocess.Popen(
        argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        try:
            out, err = _listen(process, silence)
        except BaseException as error:
            # It leads a group of its own, so that a helper which holds our pipes open ends with it.
            interrupted = isinstance(error, KeyboardInterrupt)
            end(process, signal.SIGINT if interrupted else signal.SIGTERM, group=True)
            raise
        return _unless_killed(argv[0], Done(process.wait(), out, err))


def end(process: subprocess.Popen[bytes], first: int = signal.SIGTERM, *, group: bool = False) -> None:
    """Ask a process to end, wait ten seconds for it, then end it; with `group`, everything that it started too."""
    for number, patience in ((first, 10.0), (signal.SIGKILL, None)):
        try:
            if group:
                os.killpg(process.pid, number)
            else:
                process.send_signal(number)
        except ProcessLookupError:
            pass
        try:
            process.wait(patience)
            return
        except subprocess.TimeoutExpired:
            continue


def _unless_killed(name: str, done: Done) -> Done:
    """The same; an answer that was cut off must not be taken for one, so UserError where a signal ended it."""
    if done.status >= 0:
        return done
    raise UserError(
        f"{name} was ended by signal {-done.status}",
        hint="see where things stand with: mergeready status",
        exit=Exit.ENVIRONMENT,
    )


def _listen(process: subprocess.Popen[bytes], silence: float) -> tuple[bytes, bytes]:
    """All that a process writes to its two streams."""
    assert process.stdout
    assert process.stderr
    heard: dict[IO[bytes], list[bytes]] = {process.stdout: [], process.stderr: []}
    deadline = time.monotonic() + silence
    with selectors.DefaultSelector() as selector:
        for stream in heard:
            selector.register(stream, selectors.EVENT_READ, stream)
        while selector.get_map():
            ready = selector.select(max(0.0, deadline - time.monotonic()))
            if not ready:
                raise SilentError
            for key, _ in ready:
                if chunk := os.read(key.fd, 1 << 16):
                    heard[key.data].append(chunk)
                    deadline = time.monotonic() + silence
                else:
                    selector.unregister(key.fileobj)
    return b"".join(heard[process.stdout]), b"".join(heard[process.stderr])
