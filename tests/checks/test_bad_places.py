"""Whatever is wrong with a place: one message, the right exit code, and nothing damaged."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.checks.library import DRIFTED, LIBRARY, SCALE, copy_of
from tests.checks.processes import run
from tests.checks.repositories import commit_all, contents, git, make_repository, write
from tests.tooling.command_line import Said, mergeready, mergeready_process, typed
from tooling.errors import Exit

BODY = "src/lib/b.py:3:1: copied-code/body: "


posix = pytest.mark.skipif(sys.platform == "win32", reason="links, permissions and signals of POSIX")


def check(folder: Path, *arguments: str) -> Said:
    said = mergeready(folder, "check", *arguments)
    assert "Traceback" not in said.err
    return said


@posix
def test_links_that_lead_round_in_circles_out_of_the_tree_and_nowhere(tmp_path: Path) -> None:
    make_repository(tmp_path / "repo", DRIFTED)
    write(tmp_path, {"outside/c.py": copy_of("a", SCALE.replace("*", "+"))})
    links = {"loop": "loop", "one": "two", "two": "one", "up": "..", "out": "../../../outside", "none": "nowhere"}
    for name, target in {**links, "b2.py": "b.py"}.items():
        (tmp_path / "repo/src/lib" / name).symlink_to(target)
    for committed in (False, True):
        said = check(tmp_path / "repo")
        assert (said.code, said.err) == (Exit.FINDINGS, "")
        assert said.out.count("copied-code/body") == 1
        if not committed:
            commit_all(tmp_path / "repo")
    check(tmp_path / "repo", "--fix")

    assert (tmp_path / "repo/src/lib/b2.py").is_symlink()
    assert b"+" in (tmp_path / "outside/c.py").read_bytes()


@posix
def test_a_file_that_is_deleted_while_we_run(tmp_path: Path) -> None:
    repo = make_repository(tmp_path / "repo", DRIFTED)
    delete_after_listing(tmp_path, repo / "src/lib/a.py")
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"

    said = typed(repo, "check", "copied-code", "doctest-list", variables={"PATH": path})

    assert (said.code, said.err) == (Exit.FINDINGS, "")
    assert "src/lib/a.py:1:1: run/unreadable: this file cannot be read\n    No such file or directory\n" in said.out
    git(repo, "checkout", "--quiet", "src/lib/a.py")
    assert BODY in check(repo, "copied-code").out


def delete_after_listing(folder: Path, victim: Path) -> None:
    """A git that, once it has listed the files it knows, deletes one."""
    write(
        folder,
        {
            "bin/git": "#!/bin/sh\n"
            f'"$(PATH="${{PATH#*:}}" command -v git)" "$@"; status=$?\n'
            f'case "$*" in *"ls-files -v"*) rm -f {victim};; esac\n'
            "exit $status\n"
        },
    )
    (folder / "bin/git").chmod(0o755)


@posix
def test_no_git(tmp_path: Path) -> None:
    make_repository(tmp_path / "repo", LIBRARY)
    (tmp_path / "bin").mkdir()

    said = typed(tmp_path / "repo", "check", variables={"PATH": str(tmp_path / "bin")})

    assert said == (
        Exit.ENVIRONMENT,
        "",
        "error: git is not installed\nhint: install git 2.30 or newer\n",
    )


def test_no_repository_and_a_bare_one(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    git(tmp_path, "init", "--quiet", "--bare", "bare")

    assert check(tmp_path / "folder")[::2] == (
        Exit.ENVIRONMENT,
        (
            "error: ROOT is not in a git repository\n"
            "hint: run it inside a checkout, or look at every file below a folder with --no-git\n"
        ),
    )
    assert check(tmp_path / "bare")[::2] == (
        Exit.ENVIRONMENT,
        "error: this is a bare repository: it has no files to look at\n",
    )


def test_an_empty_repository(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")

    said = check(tmp_path)

    assert (said.code, said.err) == (Exit.DONE, "")
    assert said.out.splitlines()[-1] == "0 findings; 9 rules looked at 0 things in 0.00 s"
    assert check(tmp_path, "--fix").code == Exit.DONE


def test_a_submodule(tmp_path: Path) -> None:
    make_repository(tmp_path / "library", DRIFTED)
    make_repository(tmp_path / "repo", LIBRARY)
    git(tmp_path / "repo", "submodule", "--quiet", "add", str(tmp_path / "library"), "src/lib/vendored")

    assert check(tmp_path / "repo").code == Exit.DONE
    assert check(tmp_path / "repo", "--fix").code == Exit.DONE
    assert BODY in check(tmp_path / "repo/src/lib/vendored").out


@posix
def test_a_tree_that_may_not_be_written(tmp_path: Path) -> None:
    make_repository(tmp_path, DRIFTED)
    before = contents(tmp_path)
    folders = [path for path in (tmp_path, *tmp_path.rglob("*")) if path.is_dir()]
    for folder in folders:
        folder.chmod(0o555)
    try:
        plain, fixing = (typed(tmp_path, "check", *more, bound=True) for more in ((), ("--fix",)))
    finally:
        for folder in folders:
            folder.chmod(0o755)

    assert (plain.code, plain.err, BODY in plain.out) == (Exit.FINDINGS, "", True)
    assert fixing == (
        Exit.ENVIRONMENT,
        "",
        "error: cannot write src/lib/b.py: Permission denied\nhint: nothing was changed\n",
    )
    assert contents(tmp_path) == before


@posix
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    make_repository(tmp_path, DRIFTED)
    (tmp_path / "src/lib/a.py").chmod(0o000)

    said = typed(tmp_path, "check", "copied-code", bound=True)

    assert (said.code, said.err) == (Exit.FINDINGS, "")
    assert "src/lib/a.py:1:1: run/unreadable: this file cannot be read\n    Permission denied\n" in said.out


def test_two_runs_at_once(tmp_path: Path) -> None:
    make_repository(tmp_path, {**DRIFTED, **{f"src/lib/c{n}.py": copy_of("a") for n in range(100)}})

    runs = [mergeready_process(tmp_path, "check") for _ in range(4)]
    said = [(*run.communicate(timeout=120), run.returncode) for run in runs]

    assert {(err, code) for _, err, code in said} == {(b"", Exit.FINDINGS)}
    assert {out.count(b"copied-code/body") for out, _, _ in said} == {1}
    assert check(tmp_path).out.count("copied-code/body") == 1


def test_two_fixes_at_once(tmp_path: Path) -> None:
    drifted = {f"src/lib/c{n}.py": copy_of("a", SCALE.replace("*", "+")) for n in range(40)}
    make_repository(tmp_path, {**LIBRARY, **drifted})

    runs = [mergeready_process(tmp_path, "check", "--fix") for _ in range(3)]
    said = [(*run.communicate(timeout=120), run.returncode) for run in runs]

    assert {code for *_, code in said} <= {Exit.DONE, Exit.ENVIRONMENT}
    for _, err, code in said:
        assert code == Exit.DONE or b"was changed while we ran" in err
    assert set(contents(tmp_path)) == {*LIBRARY, *drifted}
    check(tmp_path, "--fix")
    assert check(tmp_path).code == Exit.DONE


@pytest.mark.parametrize("content", [b"", b"garbage", b"SQLite format 3\0" + b"\xff" * 9000])
def test_a_corrupt_cache(tmp_path: Path, content: bytes) -> None:
    make_repository(tmp_path, DRIFTED)
    first = check(tmp_path)
    write(tmp_path, {".git/mergeready/checks.sqlite3": content})

    assert [check(tmp_path), check(tmp_path)] == [first] * 2


@posix
def test_a_full_disk_while_fixing(tmp_path: Path) -> None:
    drifted = copy_of("a", SCALE.replace("*", "+")) + "x = 1\n" * 2000
    make_repository(tmp_path, {**DRIFTED, "src/lib/c.py": drifted})
    check(tmp_path)
    before = contents(tmp_path)
    code = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))
from tooling.cli import main
sys.exit(main(["check", "--fix", "--no-cache"]))
"""
    done = run(code, cwd=tmp_path)

    assert (done.returncode, done.stdout, done.stderr) == (
        Exit.ENVIRONMENT,
        "",
        "error: cannot write src/lib/c.py: File too large\nhint: nothing was changed\n",
    )
    assert contents(tmp_path) == before


@posix
def test_ctrl_c_while_fixing(tmp_path: Path) -> None:
    """Where exactly it comes is a matter of luck here; `test_write` tries every point."""
    drifted = {f"src/lib/c{n:03}.py": copy_of("a", SCALE.replace("*", "+")) for n in range(120)}
    whole = {
        text.encode() for text in ("", SCALE, copy_of("a"), LIBRARY["utils/documentation_tests.txt"], *drifted.values())
    }
    make_repository(tmp_path, {**LIBRARY, **drifted})
    for delay in (0.1, 0.25, 0.4):
        with mergeready_process(tmp_path, "check", "copied-code", "--fix") as process:
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=delay)
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGINT)
            _, err = process.communicate(timeout=60)
        assert process.returncode in (Exit.DONE, Exit.INTERRUPTED, -signal.SIGINT)
        assert b"Traceback" not in err or process.returncode == -signal.SIGINT
        found = contents(tmp_path)
        assert set(found) == {*LIBRARY, *drifted}
        assert set(found.values()) <= whole
