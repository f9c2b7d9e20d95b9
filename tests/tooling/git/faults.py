"""Fault injection: a `git` on the path that kills us, or itself, before, during or after the n-th git command."""

from __future__ import annotations

import itertools
import os
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.tooling.git.repositories import Bench, Result, snapshot

WRAPPER = """#!/bin/sh
until mkdir "$FAULT_FOLDER/lock" 2>/dev/null; do :; done
count=$(($(cat "$FAULT_FOLDER/count") + 1))
echo "$count" > "$FAULT_FOLDER/next"
mv "$FAULT_FOLDER/next" "$FAULT_FOLDER/count"
rmdir "$FAULT_FOLDER/lock"
[ "$count" = "$FAULT_AT" ] || exec "$FAULT_GIT" "$@"
exec "$FAULT_PYTHON" -S "$FAULT_FOLDER/fault.py" "$@"
"""
FAULT = """
import os, signal, subprocess, sys, time
when, victim, name = os.environ["FAULT_KIND"].split("-")
number = getattr(signal, name)
git = [os.environ["FAULT_GIT"], *sys.argv[1:]]
us = os.getppid()
def start():
    return subprocess.Popen(git, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL), close_fds=False)
def die():
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    time.sleep(10)
child = None
if victim == "us":
    signal.signal(signal.SIGINT, lambda number, _: child and child.send_signal(number))
if when != "before":
    child = start()
if when == "during":
    time.sleep(float(os.environ["FAULT_DELAY"]))
if when == "after":
    child.wait()
if victim == "us":
    os.kill(us, number)
    if child:
        child.wait()
else:
    if child and when == "during":
        child.send_signal(number)
        child.wait()
    open(os.environ["FAULT_FOLDER"] + "/ended", "w").close()
    die()
open(os.environ["FAULT_FOLDER"] + "/ended", "w").close()
"""


class Fault(NamedTuple):
    """Who is killed, when, by what, and at which git command; `delay` is in seconds."""

    at: int
    kind: str
    delay: float = 0.0


class Injector:
    """Puts the git that fails on the path, and a bench back to where it was before each try."""

    def __init__(self, bench: Bench, folder: Path) -> None:
        self.bench = bench
        self._folder = folder
        self._saved = folder / "saved"
        self._folder.mkdir(parents=True)
        git = shutil.which("git")
        assert git
        self._git = git
        (folder / "bin").mkdir()
        (folder / "bin" / "git").write_text(WRAPPER, encoding="utf-8")
        (folder / "bin" / "git").chmod(0o755)
        (folder / "fault.py").write_text(FAULT, encoding="utf-8")
        self.save()

    def save(self) -> None:
        """Remember the bench as it is now."""
        shutil.rmtree(self._saved, ignore_errors=True)
        shutil.copytree(self.bench.root, self._saved, symlinks=True)

    def restore(self) -> None:
        """Put the bench back to how it was saved."""
        shutil.rmtree(self.bench.root)
        shutil.copytree(self._saved, self.bench.root, symlinks=True)
        self.bench.git("update-index", "-q", "--refresh", fails=True)

    def run(self, argv: tuple[str, ...], fault: Fault | None) -> Result:
        """Run `mergeready` with this fault, and wait until no git of it is left at work."""
        (self._folder / "count").write_text("0\n", encoding="ascii")
        (self._folder / "ended").unlink(missing_ok=True)
        env = {
            "PATH": f"{self._folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "FAULT_FOLDER": str(self._folder),
            "FAULT_GIT": self._git,
            "FAULT_PYTHON": sys.executable,
            "FAULT_AT": str(fault.at if fault else 0),
            "FAULT_KIND": fault.kind if fault else "",
            "FAULT_DELAY": str(fault.delay if fault else 0),
        }
        result = self.bench.spawn(*argv, env=env)
        for _ in range(2000):
            if fault is None or fault.at > self.count or (self._folder / "ended").exists():
                break
            time.sleep(0.005)
        return result

    @property
    def count(self) -> int:
        """How many git commands the last run started."""
        return int((self._folder / "count").read_text(encoding="ascii"))


def faults(count: int, step: int = 1, delays: tuple[float, ...] = (0.004,)) -> Iterator[Fault]:
    """All faults of a run that starts `count` git commands, or every `step`th of them."""
    everything: list[Fault] = []
    for at, victim, signal in itertools.product(range(1, count + 1), ("us", "git"), ("SIGKILL", "SIGINT")):
        everything.append(Fault(at, f"before-{victim}-{signal}"))
        everything.extend(Fault(at, f"during-{victim}-{signal}", delay) for delay in delays)
        everything.append(Fault(at, f"after-{victim}-{signal}"))
    yield from everything[::step]


def recover(bench: Bench) -> list[str]:
    """Do what `status` and the messages say until nothing is open; the commands that it took."""
    taken = []
    for _ in range(6):
        status = bench.run("status", "--json")
        assert status.code == 0, status
        command = "abort" if status.json["items"][0]["open"] else "undo"
        result = bench.run(command, "--json")
        taken.append(f"{command}: {result.json['summary']}")
        if result.code == 3 and result.json["items"] == [{"code": "locked"}]:
            remove = result.json["next"][0]["argv"]
            assert remove[0] == "rm"
            Path(remove[1]).unlink()
        elif result.code == 0 and not bench.run("status", "--json").json["items"][0]["open"]:
            return taken
    raise AssertionError(taken)


def finish(bench: Bench) -> list[str]:
    """Go on for as long as something is open; take back what cannot be gone on with. The commands that it took."""
    taken: list[str] = []
    for attempt in range(8):
        status = bench.run("status", "--json")
        assert status.code == 0, status
        if not status.json["items"][0]["open"]:
            return taken
        result = bench.run("continue" if attempt < 4 else "abort", "--json")
        taken.append(f"{result.json['command']}: {result.code} {result.json['summary']}")
        if result.code == 3 and result.json["items"] == [{"code": "locked"}]:
            Path(result.json["next"][0]["argv"][1]).unlink()
    raise AssertionError(taken)


def picture(bench: Bench) -> dict[str, object]:
    """What has to be as before: everything but the refs that we keep and those that follow remotes."""
    return snapshot(bench, ours=False)
