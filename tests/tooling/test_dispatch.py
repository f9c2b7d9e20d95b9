"""How a command line ends: one message, the right exit code, and never a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.checks.library import DRIFTED, LIBRARY, SHUFFLED
from tests.checks.repositories import make_repository, write
from tests.tooling.command_line import MAIN, mergeready, mergeready_process, typed
from tooling.commands import COMMANDS
from tooling.errors import Exit

posix = pytest.mark.skipif(sys.platform == "win32", reason="pipes, signals and terminals of POSIX")


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        ((), "the following arguments are required: COMMAND", "see mergeready --help"),
        (("chek",), "there is no command 'chek'", "did you mean 'check'?"),
        (("xyzzy",), "there is no command 'xyzzy'", "see mergeready --help"),
        (("a\nb\x1b[31m",), "there is no command 'a\\nb\\x1b[31m'", "see mergeready --help"),
        (("--nothing",), "the following arguments are required: COMMAND", "see mergeready --help"),
        (("check", "--nothing"), "unrecognized arguments: --nothing", "see mergeready check --help"),
        (("check", "--x\n\x1b[1m"), "unrecognized arguments: --x\\n\\x1b[1m", "see mergeready check --help"),
        (
            ("check", "--format", "xml"),
            "argument --format: invalid choice: 'xml' (choose from 'human', 'json', 'github', 'sarif')",
            "see mergeready check --help",
        ),
        (("check", "--base"), "argument --base: expected one argument", "see mergeready check --help"),
        (("check", "no-such-rule"), "there is no rule 'no-such-rule'", "see: mergeready rules"),
        (("check", "copied-cod"), "there is no rule 'copied-cod'", "did you mean 'copied-code'?"),
        (("check", "--skip", "doc-tok"), "there is no rule 'doc-tok'", "did you mean 'doc-toc'?"),
        (
            ("check", "--jobs", "0"),
            "argument --jobs: '0' is not a whole number from 1 up",
            "see mergeready check --help",
        ),
        (("check", "--base", "x"), "--base says what to compare with", "add --changed or --merge-base-check"),
        (("check", "--changed", "--no-git"), "without git there is nothing to compare with", "drop --no-git"),
        (
            ("check", "--merge-base-check", "--fix"),
            "--merge-base-check judges a tree that is not on disk, so it cannot be combined",
            "",
        ),
    ],
)
def test_a_command_line_that_cannot_be_understood_is_one_message_with_a_way_out(
    tmp_path: Path, arguments: tuple[str, ...], message: str, hint: str
) -> None:
    make_repository(tmp_path, LIBRARY)

    assert mergeready(tmp_path, *arguments) == (
        Exit.USAGE,
        "",
        f"error: {message}\n" + (f"hint: {hint}\n" if hint else ""),
    )


def test_the_help_lists_every_command_with_what_it_is_for(tmp_path: Path) -> None:
    said = mergeready(tmp_path, "--help")

    assert (said.code, said.err) == (0, "")
    for name, summary in COMMANDS.items():
        assert f"{name} {summary}" in " ".join(said.out.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_with_examples_that_it_understands(tmp_path: Path, name: str) -> None:
    said = mergeready(tmp_path, name, "--help")

    assert (said.code, said.err) == (0, "")
    assert said.out.startswith(f"usage: mergeready {name}")
    examples = said.out.partition("examples:\n")[2]
    assert not examples or f"mergeready {name}" in examples


@posix
@pytest.mark.parametrize("arguments", ["--help", "rules", "rules --format markdown", "check", "check --format json"])
def test_a_reader_that_stops_reading_is_no_error(tmp_path: Path, arguments: str) -> None:
    make_repository(tmp_path, {**DRIFTED, **{f"utils/{n}_doctest.txt": "b\na\n" * 400 for n in range(3)}})
    with mergeready_process(tmp_path, *arguments.split()) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert (process.stderr.read(), process.wait(timeout=60)) == (b"", Exit.DONE)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
@pytest.mark.parametrize("arguments", ["rules", "check", "check --format sarif"])
def test_an_output_that_takes_no_more_is_one_message(tmp_path: Path, arguments: str) -> None:
    make_repository(tmp_path, DRIFTED)
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            (sys.executable, "-c", MAIN, *arguments.split()),
            cwd=tmp_path,
            stdout=full,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            check=False,
        )

    assert (done.returncode, done.stderr) == (Exit.ENVIRONMENT, b"error: cannot write: No space left on device\n")


@posix
def test_ctrl_c_is_one_word_and_its_own_exit_code(tmp_path: Path) -> None:
    make_repository(tmp_path / "repo", LIBRARY)
    write(tmp_path, {"bin/git": f"#!/bin/sh\ntouch {tmp_path}/started\nexec sleep 60\n"})
    (tmp_path / "bin" / "git").chmod(0o755)
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    with mergeready_process(tmp_path / "repo", "check", variables={"PATH": path}) as process:
        wait_until((tmp_path / "started").exists)
        os.killpg(process.pid, signal.SIGINT)

        assert process.communicate(timeout=60) == (b"", b"interrupted\n")
        assert process.returncode == Exit.INTERRUPTED


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks for the processes in /proc")
def test_ctrl_c_while_all_cores_are_reading_ends_them_all_without_a_word_of_theirs(tmp_path: Path) -> None:
    code = "".join(f"# Copied from lib.a.f{n}\ndef f{n}(x):\n    return x + {n}\n" for n in range(3000))
    make_repository(tmp_path, {"src/lib/__init__.py": "", **{f"src/lib/a{n}.py": code for n in range(200)}})
    with mergeready_process(tmp_path, "check", "--jobs", "2") as process:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        wait_until(lambda: len(children.read_text(encoding="ascii").split()) >= 2)
        time.sleep(0.2)
        os.killpg(process.pid, signal.SIGINT)

        assert process.communicate(timeout=60) == (b"", b"interrupted\n")
        assert process.returncode == Exit.INTERRUPTED


def wait_until(condition: Callable[[], bool]) -> None:
    for _ in range(2000):
        if condition():
            return
        time.sleep(0.01)
    pytest.fail("it did not happen within twenty seconds")


@posix
@pytest.mark.parametrize(
    ("variables", "name"),
    [
        ({"PYTHONIOENCODING": "ascii"}, "\\xe9"),
        ({"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}, "\\udcc3\\udca9"),
    ],
)
def test_what_the_terminal_cannot_show_is_escaped(tmp_path: Path, variables: dict[str, str], name: str) -> None:
    make_repository(tmp_path, {**LIBRARY, "utils/é_doctest.txt": "ü\n"})

    said = typed(tmp_path, "check", "doctest-list", variables=variables)

    assert (said.code, said.err) == (Exit.FINDINGS, "")
    assert said.out.startswith(f"utils/{name}_doctest.txt:1:1: doctest-list/missing: '\\xfc' does not exist\n")


def test_colours_are_for_terminals_and_for_those_who_ask_for_them(tmp_path: Path) -> None:
    make_repository(tmp_path, DRIFTED)

    assert "\x1b" not in typed(tmp_path, "check", variables={"NO_COLOR": ""}).out
    assert "\x1b[1;31m1 finding" in typed(tmp_path, "check", variables={"NO_COLOR": "", "FORCE_COLOR": "1"}).out
    assert "\x1b" not in typed(tmp_path, "check", variables={"NO_COLOR": "1", "FORCE_COLOR": "1"}).out


@posix
@pytest.mark.parametrize(("term", "shown"), [("xterm", True), ("dumb", False)])
def test_progress_is_shown_on_a_terminal_and_leaves_the_report_alone(tmp_path: Path, term: str, *, shown: bool) -> None:
    import pty

    make_repository(tmp_path, LIBRARY)
    ours, theirs = pty.openpty()
    done = subprocess.run(
        (sys.executable, "-c", MAIN, "check"),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": term, "PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    os.close(theirs)
    try:
        told = os.read(ours, 100_000)
    except OSError:  # nothing was written before the other end was closed
        told = b""
    os.close(ours)

    assert (b"checking" in told) == shown
    assert done.stdout.startswith(b"note: ")


@pytest.mark.parametrize("columns", ["1", "20", "0", "wide"])
def test_a_terminal_of_any_width_will_do(tmp_path: Path, columns: str) -> None:
    make_repository(tmp_path, SHUFFLED)

    for arguments in (("check", "--help"), ("check",), ("check", "--diff")):
        assert typed(tmp_path, *arguments, variables={"COLUMNS": columns}).err in ("", "\n")


@posix
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_mistake(closed: str) -> None:
    script = f'exec "$0" -c "import sys; from tooling.cli import main; sys.exit(main())" refs-check a.txt {closed}'
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

    done = subprocess.run(["sh", "-c", script, sys.executable], env=environment, capture_output=True, check=False)

    assert (done.returncode, b"Traceback" in done.stderr) == (2, False)
