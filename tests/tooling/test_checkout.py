"""Where a command looks, told by its options; and one message where there is nothing to look at."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import chdir, closing
from pathlib import Path

import pytest

from checks.tree import FolderTree, WorkTree
from tests.checks.library import LIBRARY
from tests.checks.processes import run
from tests.checks.repositories import git, make_repository, write
from tests.tooling.command_line import MAIN, mergeready, typed
from tooling.checkout import add_options, open_checkout
from tooling.errors import Exit


def options(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_options(parser)
    return parser.parse_args(arguments)


def test_by_default_it_is_the_checkout_that_holds_this_folder_and_every_core_works(tmp_path: Path) -> None:
    make_repository(tmp_path, {"sub/a": "a\n"})

    with chdir(tmp_path / "sub"), closing(open_checkout(options())) as checkout:
        assert checkout.root == str(tmp_path)
        assert checkout.cache_path == str(tmp_path / ".git" / "mergeready" / "checks.sqlite3")
        assert checkout.jobs == (len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count())
        assert isinstance(checkout.tree(), WorkTree)
        assert list(checkout.tree().keys) == ["sub/a"]


def test_options_name_another_folder_the_processes_and_no_cache(tmp_path: Path) -> None:
    make_repository(tmp_path, {"sub/a": "a\n"})

    with closing(open_checkout(options("--root", str(tmp_path / "sub"), "--jobs", "3", "--no-cache"))) as checkout:
        assert (checkout.root, checkout.jobs, checkout.cache_path) == (str(tmp_path), 3, None)


def test_without_git_it_is_the_folder_itself_and_nothing_is_kept(tmp_path: Path) -> None:
    make_repository(tmp_path, {"sub/a": "a\n", ".gitignore": "sub/b\n"})
    write(tmp_path, {"sub/b": "b\n"})

    with closing(open_checkout(options("--root", str(tmp_path / "sub"), "--no-git"))) as checkout:
        assert (checkout.root, checkout.repository, checkout.cache_path) == (str(tmp_path / "sub"), None, None)
        assert isinstance(checkout.tree(), FolderTree)
        assert sorted(checkout.tree().keys) == ["a", "b"]


def test_worktrees_share_one_cache(tmp_path: Path) -> None:
    make_repository(tmp_path / "repo", {"a": "a\n"})
    git(tmp_path / "repo", "worktree", "add", "--quiet", str(tmp_path / "side"))
    paths = set()
    for name in ("repo", "side"):
        with closing(open_checkout(options("--root", str(tmp_path / name)))) as checkout:
            paths.add(checkout.cache_path)

    assert paths == {str(tmp_path / "repo" / ".git" / "mergeready" / "checks.sqlite3")}


def test_a_clean_run_leaves_nothing_in_the_working_tree(tmp_path: Path) -> None:
    make_repository(tmp_path, LIBRARY)

    assert mergeready(tmp_path, "check").code == Exit.DONE
    assert git(tmp_path, "status", "--porcelain", "--ignored") == ""


@pytest.mark.parametrize("command", ["check", "explain a.py:1", "baseline accept", "check --fix", "check --changed"])
def test_where_there_is_no_repository_every_command_says_so(tmp_path: Path, command: str) -> None:
    said = mergeready(tmp_path, *command.split())

    assert (said.code, said.out) == (Exit.ENVIRONMENT, "")
    assert said.err == (
        "error: ROOT is not in a git repository\n"
        "hint: run it inside a checkout, or look at every file below a folder with --no-git\n"
    )


@pytest.mark.parametrize("how", [(), ("--no-git",)])
def test_a_folder_that_is_not_there_is_a_mistake_of_the_command_line(tmp_path: Path, how: tuple[str, ...]) -> None:
    assert mergeready(tmp_path, "check", "--root", "nowhere", *how) == (
        Exit.USAGE,
        "",
        "error: ROOT/nowhere is not a folder\n",
    )


@pytest.mark.skipif(sys.platform == "win32", reason="a folder that is in use cannot be deleted there")
@pytest.mark.parametrize("how", [(), ("--no-git",)])
def test_a_folder_that_is_deleted_under_us_is_one_message(tmp_path: Path, how: tuple[str, ...]) -> None:
    (tmp_path / "gone").mkdir()

    done = run(f"import os; os.rmdir(os.getcwd()); {MAIN}", "check", *how, cwd=tmp_path / "gone")

    assert (done.returncode, done.stdout, done.stderr) == (
        Exit.ENVIRONMENT,
        "",
        "error: the folder we are in is gone\n",
    )


@pytest.mark.parametrize("text", ["0", "-1", "two", "1.5", "", "9" * 5000, "²"])
def test_a_number_of_processes_is_a_whole_number_from_one_up(tmp_path: Path, text: str) -> None:
    said = mergeready(tmp_path, "check", f"--jobs={text}")

    assert (said.code, said.out) == (Exit.USAGE, "")
    assert said.err.startswith("error: argument --jobs: ")
    assert said.err.endswith("\nhint: see mergeready check --help\n")


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
def test_a_checkout_that_may_not_be_written_is_checked_without_a_cache(tmp_path: Path) -> None:
    make_repository(tmp_path, LIBRARY)
    folders = [path for path in (tmp_path, *tmp_path.rglob("*")) if path.is_dir()]
    for folder in folders:
        folder.chmod(0o555)
    try:
        said = [typed(tmp_path, "check", "copied-code", bound=True) for _ in range(2)]
    finally:
        for folder in folders:
            folder.chmod(0o755)

    assert said == [(Exit.DONE, "0 findings; 1 rule looked at 1 thing in 0.00 s\n", "")] * 2
    assert not (tmp_path / ".git" / "mergeready").exists()
