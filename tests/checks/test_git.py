"""Finding the repository, or one message that says what is there instead."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from checks.errors import CheckError
from checks.git import Repository, ask, find_repository
from tests.checks.processes import run
from tests.checks.repositories import git, make_repository


def refusal(folder: Path) -> tuple[str, str, bool]:
    """What is said of a folder in which there is no checkout, with the folder itself left out."""
    with pytest.raises(CheckError) as caught:
        find_repository(str(folder))
    error = caught.value
    return str(error).replace(str(folder), "DIR"), error.hint.replace(str(folder), "DIR"), error.environment


def test_a_checkout_is_found_from_any_folder_of_it(tmp_path: Path) -> None:
    make_repository(tmp_path, {"sub/deep/a": "a\n"})

    expected = Repository(str(tmp_path), str(tmp_path / ".git"))
    assert [find_repository(str(tmp_path / where)) for where in ("", "sub", "sub/deep")] == [expected] * 3


def test_worktrees_share_the_git_folder_and_so_does_a_submodule_with_itself(tmp_path: Path) -> None:
    make_repository(tmp_path / "repo", {"a": "a\n"})
    git(tmp_path / "repo", "worktree", "add", "--quiet", str(tmp_path / "side"))
    git(tmp_path / "repo", "submodule", "--quiet", "add", str(tmp_path / "repo"), "sub")

    assert find_repository(str(tmp_path / "side")) == Repository(
        str(tmp_path / "side"), str(tmp_path / "repo" / ".git")
    )
    assert find_repository(str(tmp_path / "repo" / "sub")) == Repository(
        str(tmp_path / "repo" / "sub"), str(tmp_path / "repo" / ".git" / "modules" / "sub")
    )


@pytest.mark.skipif(sys.platform == "win32", reason="names that Windows cannot hold")
@pytest.mark.parametrize("name", ["line\nend", "ends in one\n", "\udcff", " ", "$(touch ran)", "-C"])
def test_a_checkout_may_have_any_name(tmp_path: Path, name: str) -> None:
    root = f"{tmp_path}/{name}"
    make_repository(Path(root), {"a": "a\n"})

    assert find_repository(root) == Repository(root, f"{root}/.git")


def test_the_variables_of_a_hook_do_not_lead_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_repository(tmp_path / "here", {"a": "a\n"})
    make_repository(tmp_path / "there", {"a": "a\n"})
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "there" / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path / "there"))

    assert find_repository(str(tmp_path / "here")).root == str(tmp_path / "here")


def test_a_folder_in_no_repository_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path) == (
        "DIR is not in a git repository",
        "run it inside a checkout, or look at every file below a folder with --no-git",
        True,
    )


@pytest.mark.parametrize("kind", ["file", "nothing"])
def test_what_is_no_folder_is_refused(tmp_path: Path, kind: str) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")

    assert refusal(tmp_path / kind) == ("DIR is not a folder", "", False)


def test_a_bare_repository_is_refused(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--bare")

    assert refusal(tmp_path) == ("this is a bare repository: it has no files to look at", "", True)


def test_a_folder_of_somebody_else_is_refused_with_the_way_to_trust_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_repository(tmp_path / "a folder", {"a": "a\n"})
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")

    assert refusal(tmp_path / "a folder") == (
        "git does not trust this folder: somebody else owns it",
        "if you trust it: git config --global --add safe.directory 'DIR'",
        True,
    )


def test_a_repository_that_git_cannot_read_is_refused_in_git_s_words(tmp_path: Path) -> None:
    make_repository(tmp_path, {"a": "a\n"})
    (tmp_path / ".git" / "config").write_text("[core\n", encoding="utf-8")

    assert refusal(tmp_path) == ("git cannot read DIR: fatal: bad config line 1 in file .git/config", "", True)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
def test_a_folder_that_may_not_be_entered_is_refused_in_git_s_words(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o000)
    code = """
import sys
from checks import errors, git
try:
    git.find_repository(sys.argv[1])
except errors.CheckError as error:
    print(error, error.environment)
"""

    done = run(code, str(tmp_path / "closed"), bound=True)

    assert done.stdout.replace(str(tmp_path), "DIR") == (
        "git cannot read DIR/closed: fatal: cannot change to 'DIR/closed': Permission denied True\n"
    )


def test_git_that_is_not_installed_is_one_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    assert refusal(tmp_path) == ("git is not installed", "install git 2.30 or newer", True)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
def test_git_that_may_not_be_run_is_one_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "git").write_text("#!/bin/sh\n", encoding="utf-8")
    monkeypatch.setenv("PATH", str(tmp_path))

    assert refusal(tmp_path) == ("git cannot be started: Permission denied", "", True)


def test_a_command_that_fails_is_told_in_git_s_own_first_line(tmp_path: Path) -> None:
    make_repository(tmp_path, {"a": "a\n"})

    with pytest.raises(CheckError, match=r"^git ls-tree failed: fatal: Not a valid object name nowhere$"):
        ask(str(tmp_path), "ls-tree", "nowhere")
