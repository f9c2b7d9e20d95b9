"""Processes: what they write is heard as it comes, silence ends them, and nothing of them stays behind."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tooling.errors import UserError
from tooling.process import Done, SilentError, run, run_while_it_speaks

ENV = dict(os.environ)
posix = pytest.mark.skipif(sys.platform == "win32", reason="a shell and signals of POSIX")


def python(script: str) -> list[str]:
    return [sys.executable, "-c", script]


def test_both_streams_are_read_to_their_end_however_long_they_are() -> None:
    script = "import sys; sys.stdout.write('o' * 300000); sys.stderr.write('e' * 300000); sys.exit(3)"

    assert run_while_it_speaks(python(script), env=ENV, silence=30) == Done(3, b"o" * 300000, b"e" * 300000)


def test_errors_are_heard_as_they_come() -> None:
    heard: list[bytes] = []
    script = "import sys; print('result'); sys.stderr.write('one\\n'); sys.stderr.flush(); sys.stderr.write('two\\n')"

    done = run_while_it_speaks(python(script), env=ENV, silence=30, hear=heard.append)

    assert (done.out.split(), b"".join(heard).split()) == ([b"result"], [b"one", b"two"])


def test_a_process_that_goes_on_writing_may_take_longer_than_the_silence() -> None:
    script = "import time\nfor _ in range(5):\n    print('x', flush=True)\n    time.sleep(0.3)"

    assert run_while_it_speaks(python(script), env=ENV, silence=1.2).status == 0


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").split()[2]


@posix
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc, to look for processes")
def test_silence_ends_a_process_with_all_that_it_started(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    script = f"sleep 60 & echo $! > {note}; wait"

    with pytest.raises(SilentError):
        run_while_it_speaks(["sh", "-c", script], env=ENV, silence=0.5)

    deadline = time.monotonic() + 10
    while _is_alive(int(note.read_text(encoding="utf-8"))) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not _is_alive(int(note.read_text(encoding="utf-8")))


@posix
@pytest.mark.parametrize("start", [run, partial(run_while_it_speaks, silence=60)])
def test_what_a_process_leaves_behind_is_not_waited_for(start: Callable[..., Done]) -> None:
    script = "head -c 300000 /dev/zero; sleep 20 & echo $! >&2; exit 3"
    began = time.monotonic()

    done = start(["sh", "-c", script], env=ENV)

    os.kill(int(done.err), signal.SIGKILL)
    assert (done.status, len(done.out), time.monotonic() - began < 15) == (3, 300000, True)


def test_a_process_that_takes_too_long_is_ended() -> None:
    with pytest.raises(SilentError):
        run(python("import time; time.sleep(60)"), env=ENV, timeout=0.3)


@posix
def test_an_answer_that_a_signal_cut_off_is_no_answer() -> None:
    with pytest.raises(UserError) as error:
        run(["sh", "-c", "echo half; kill -9 $$"], env=ENV)

    assert (str(error.value), error.value.exit) == ("sh was ended by signal 9", 6)
