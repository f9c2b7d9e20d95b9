"""Our code on systems that lack what POSIX has: nothing of it is needed to import a module, or to run git."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tooling.commands.git_commands import bench, template
from tests.tooling.git.repositories import Bench, snapshot, text, write
from tests.tooling.windows import PRELUDE, as_on_windows, mergeready_on_windows

__all__ = ["bench", "template"]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there the real thing runs in all other tests")

IMPORT_ALL = """
import importlib, pkgutil, checks, tooling
for package in (checks, tooling):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)
"""

IMPORT_TESTS = """
del os.mkfifo, os.openpty, os.O_NONBLOCK
import importlib, pkgutil, tests.tooling
for module in pkgutil.walk_packages(tests.tooling.__path__, "tests.tooling."):
    importlib.import_module(module.name)
"""


def test_every_module_can_be_imported(tmp_path: Path) -> None:
    done = as_on_windows(IMPORT_ALL, at=tmp_path)

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_every_test_of_them_can_be_imported(tmp_path: Path) -> None:
    # The tests come last on the path: what they test is what is installed.
    path = os.pathsep.join([*sys.path, str(Path(__file__).parents[2])])
    done = as_on_windows(IMPORT_TESTS, at=tmp_path, env={"PYTHONPATH": path}, first="import hypothesis, pytest")

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_rebase_stops_is_taken_back_and_a_sync_and_a_push_go_through(bench: Bench) -> None:
    bench.upstream("Change line 3", {"a.txt": text({3: "theirs"})})
    write(bench.work / "b.txt", text({10: "mine", 1: "edit"}))
    before = snapshot(bench, ours=False)

    stopped, _ = mergeready_on_windows(("rebase", "--autostash"), bench.work)
    shown, picture = mergeready_on_windows(("status",), bench.work)
    aborted, _ = mergeready_on_windows(("abort",), bench.work)
    after = snapshot(bench, ours=False)
    rest = [mergeready_on_windows(argv, bench.work)[0] for argv in (("sync",), ("undo",), ("push",))]

    assert (stopped, shown, aborted, rest) == (4, 0, 0, [0, 0, 0])
    assert picture.startswith("a rebase of feature stopped, at commit 1 of 2, 1 file in conflict")
    assert after == before


HOLD = """
import time
from tooling.git.lock import only_one
from tooling.git.read import read_repo
with only_one(read_repo(), "first") as held:
    print(held, flush=True)
    time.sleep(float(sys.argv[1]))
"""


def test_one_run_at_a_time_and_the_second_is_told_of_the_first(bench: Bench) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", f"{PRELUDE}\nsys.path[:0] = {sys.path!r}\n{HOLD}", "30"],
        cwd=bench.work,
        stdout=subprocess.PIPE,
    ) as first:
        assert first.stdout
        assert first.stdout.readline() == b"()\n"
        code, said = mergeready_on_windows(("rebase",), bench.work)
        first.terminate()

    assert (code, said.partition("\n")[0]) == (
        3,
        f"error: another run is at work here: mergeready first, process {first.pid}",
    )


END = """
import tooling.ending as ending
from tooling.process import SilentError, run, run_while_it_speaks
ending.PATIENCE = 0.3
try:
    if sys.argv[1] == "run":
        run(["sh", "-c", "trap '' TERM; sleep 30"], env=dict(os.environ), timeout=0.2)
    else:
        run_while_it_speaks(["sh", "-c", "trap '' TERM; echo x; sleep 30"], env=dict(os.environ), silence=0.2)
except SilentError:
    print("ended")
"""


@pytest.mark.parametrize("way", ["run", "listen"])
def test_a_process_that_does_not_end_when_asked_is_ended_with_all_below_it(tmp_path: Path, way: str) -> None:
    write(tmp_path / "bin/taskkill", '#!/bin/sh\necho "$@" >> "$TOLD"\nkill -9 "$4"\n')
    (tmp_path / "bin/taskkill").chmod(0o755)
    told = tmp_path / "told"
    env = {"PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}", "TOLD": str(told)}

    done = as_on_windows(END, way, at=tmp_path, env=env)

    assert (done.returncode, done.stdout, done.stderr) == (0, b"ended\n", b"")
    assert told.read_text(encoding="utf-8").startswith("/T /F /PID ")


def test_ctrl_c_of_a_console_has_reached_git_already_so_it_is_only_waited_for(tmp_path: Path) -> None:
    script = """
import subprocess, tooling.ending as ending
process = subprocess.Popen(["sh", "-c", "sleep 0.2; exit 7"])
ending.end(process, interrupted=True)
print(process.returncode)
"""
    done = as_on_windows(script, at=tmp_path)

    assert (done.stdout, done.stderr) == (b"7\n", b"")
