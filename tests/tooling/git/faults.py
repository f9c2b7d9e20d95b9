"""Fault injection: a `git` on the path that kills us, itself or both, before, during or after the n-th git command."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Literal, NamedTuple, TextIO

from tests.tooling.git.repositories import Bench, Result

# Who manages to make the file n is the n-th command: that takes the shell neither a process nor a lock. Git and all
# that it starts, at the other end of a push too, inherit the pipe, so that it ends once the last of them has. It is
# opened for both directions, as a shell that begins when we have just been killed would wait for a reader else.
WRAPPER = """#!/bin/sh
free=9
while [ -e "/dev/fd/$free" ]; do free=$((free - 1)); done
eval "exec $free"'<> "$FAULT_FOLDER.alive"'
number=1
set -C
until { true > "$FAULT_FOLDER/$number"; } 2> /dev/null; do
  [ -d "$FAULT_FOLDER" ] || exit 1
  number=$((number + 1))
done
[ "$FAULT_AT" = "$number" ] || [ "$FAULT_AT" = each ] || exec "$FAULT_GIT" "$@"
exec "$FAULT_PYTHON" -I -S "$FAULT_FOLDER.py" "$FAULT_FOLDER/$number" "$@"
"""
FAULT = """
import os, signal, subprocess, sys, time
mark, git, us = sys.argv[1], [os.environ["FAULT_GIT"], *sys.argv[2:]], os.getppid()
if os.environ["FAULT"] == "none":
    begun = time.perf_counter()
    status = subprocess.call(git, close_fds=False)
    with open(mark, "w") as file:
        file.write(str(time.perf_counter() - begun))
    sys.exit(status)
when, victim, name, delay = os.environ["FAULT"].split()
number, child = getattr(signal, name), None
def hit(pid):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass
# Git is a child of ours, while those who started us take us for git: what they send is for git.
signal.signal(signal.SIGINT, lambda number, _: child and child.send_signal(number))
if when != "before":
    child = subprocess.Popen(
        git, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL), close_fds=False
    )
if when == "during":
    time.sleep(float(delay))
elif child:
    status = child.wait()
if when == "later":
    alive = os.open(os.environ["FAULT_FOLDER"] + ".alive", os.O_WRONLY)
    if os.fork():
        sys.exit(status)
    os.closerange(0, alive)
    os.closerange(alive + 1, 256)
    time.sleep(float(delay))
if victim != "git":
    hit(us)
if victim != "us" and when == "during":
    child.send_signal(number)
if child:
    child.wait()
if victim != "us":
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    hit(os.getpid())
    time.sleep(10)
"""

Victim = Literal["us", "git", "both"]


class Fault(NamedTuple):
    """Who is killed, by what, and when: at which git command, and how many seconds after it began.

    What comes `later` comes after the command has ended, while we go on.
    """

    at: int
    when: Literal["before", "during", "after", "later"]
    victim: Victim
    signal: str
    delay: float = 0.0


class Injector:
    """Runs `mergeready` with a git on its path that fails."""

    def __init__(self, bench: Bench, folder: Path) -> None:
        self._bench = bench
        self._commands = folder / "commands"
        self._path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        git = shutil.which("git")
        assert git
        self._git = git
        (folder / "bin").mkdir(parents=True)
        (folder / "bin" / "git").write_text(WRAPPER, encoding="utf-8")
        (folder / "bin" / "git").chmod(0o755)
        (folder / "commands.py").write_text(FAULT, encoding="utf-8")
        os.mkfifo(folder / "commands.alive")

    def durations(self, argv: Sequence[str]) -> list[float]:
        """Run without a fault: how many seconds each git command takes."""
        self._spawn(argv, "each", "none")
        names = sorted(self._commands.iterdir(), key=lambda path: int(path.name))
        return [float(path.read_text(encoding="ascii")) for path in names]

    def run(self, argv: Sequence[str], fault: Fault) -> Result:
        """Run with this fault, and wait until no git of it is left at work."""
        return self._spawn(argv, str(fault.at), f"{fault.when} {fault.victim} {fault.signal} {fault.delay}")

    def _spawn(self, argv: Sequence[str], at: str, fault: str) -> Result:
        shutil.rmtree(self._commands, ignore_errors=True)
        self._commands.mkdir()
        env = {
            "PATH": self._path,
            "FAULT_FOLDER": str(self._commands),
            "FAULT_GIT": self._git,
            "FAULT_PYTHON": sys.executable,
            "FAULT_AT": at,
            "FAULT": fault,
        }
        alive = os.open(f"{self._commands}.alive", os.O_RDONLY | os.O_NONBLOCK)
        try:
            result = self._bench.spawn(*argv, env=env)
            _wait_until(lambda: _has_ended(alive))
        finally:
            os.close(alive)
        # A git that was only about to begin has not opened the pipe; but it was given the lock.
        if (path := self._bench.work / ".git/mergeready/lock").exists():
            with path.open(encoding="utf-8") as lock:
                _wait_until(lambda: _is_free(lock))
        return result


def _wait_until(holds: Callable[[], bool]) -> None:
    """Wait as long as it may take on a busy machine."""
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline, "a git is still at work"
        time.sleep(0.005)


def _has_ended(pipe: int) -> bool:
    """Whether no process has the other end of a pipe open."""
    try:
        return not os.read(pipe, 1)
    except BlockingIOError:
        return False


def _is_free(lock: TextIO) -> bool:
    """Whether no process holds this lock."""
    import fcntl

    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def every_fault(durations: Sequence[float]) -> Iterator[Fault]:
    """All faults of a run whose git commands take so long; those that take longest are hit at more moments."""
    long = 3 * median(durations)
    one: tuple[Victim, ...] = ("us", "git")
    all_three: tuple[Victim, ...] = ("us", "git", "both")
    for at, duration in enumerate(durations, 1):
        count = 8 if duration > long else 1
        moments = [duration * (number + 1) / (count + 1) for number in range(count)]
        for signal in ("SIGKILL", "SIGINT"):
            yield from (Fault(at, "before", victim, signal) for victim in one)
            yield from (Fault(at, "during", victim, signal, moment) for victim in all_three for moment in moments)
            yield from (Fault(at, "after", victim, signal) for victim in one)
            yield from (Fault(at, "later", "us", signal, delay) for delay in (0.0005, 0.003))


def keep(bench: Bench, place: Path) -> None:
    """Remember the bench as it is now."""
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(bench.root, place, symlinks=True)


def put_back(bench: Bench, place: Path) -> None:
    """Make the bench what it was when it was kept."""
    shutil.rmtree(bench.root)
    shutil.copytree(place, bench.root, symlinks=True)
    bench.git("update-index", "-q", "--refresh", fails=True)


def take_back(bench: Bench, *, opened: bool) -> list[str]:
    """Do what `status` and the messages say until nothing is open; what the commands said that it took."""
    taken = []
    for _ in range(6):
        taken.append(_unlocked(bench, "abort" if opened else "undo"))
        opened = is_open(bench)
        if taken[-1].startswith("0") and not opened:
            return taken
    raise AssertionError(taken)


def go_on(bench: Bench) -> list[str]:
    """Go on for as long as something is open, and take back what cannot be gone on with; what the commands said."""
    taken: list[str] = []
    for attempt in range(8):
        if not is_open(bench):
            return taken
        taken.append(_unlocked(bench, "continue" if attempt < 4 else "abort"))
    raise AssertionError(taken)


def is_open(bench: Bench) -> bool:
    """Whether `status` says that something is open."""
    status = bench.run("status", "--json")
    assert status.code == 0, status
    return status.json["items"][0]["open"] is not None


def _unlocked(bench: Bench, command: str) -> str:
    """Run a command, and remove a lock that it names; its exit code and what it said."""
    result = bench.run(command, "--json")
    if result.code in (3, 6) and result.json["items"] == [{"code": "locked"}]:
        remove, path = result.json["next"][0]["argv"]
        assert remove == "rm"
        Path(path).unlink()
    return f"{result.code} {command}: {result.json['summary']}"
