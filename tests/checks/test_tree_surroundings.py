"""What lies around a tree: variables, configuration, permissions, and edits while we run."""

from __future__ import annotations

import os
import sys
from contextlib import closing
from pathlib import Path

import pytest

from checks.commit import CommitTree
from checks.errors import CheckError
from checks.tree import FolderTree, MemoryTree, WorkTree
from tests.checks.processes import run
from tests.checks.repositories import blob, git, keys, make_repository, read, write

posix = pytest.mark.skipif(sys.platform == "win32", reason="names and links that Windows cannot hold")


def test_the_environment_of_a_hook_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_repository(tmp_path / "repo", {"a": "a\n", "b": "old\n"})
    make_repository(tmp_path / "other", {"other": "other\n"})
    repo = tmp_path / "repo"
    write(repo, {"b": "new\n", "new": "new\n"})
    before = WorkTree(str(repo))
    # `git commit -a` and `git commit FILE` run hooks with an index of their own.
    git(repo, "add", "new", GIT_INDEX_FILE=str(repo / ".git" / "next-index"))
    for name, value in {
        "GIT_INDEX_FILE": str(repo / ".git" / "next-index"),
        "GIT_DIR": str(tmp_path / "other" / ".git"),
        "GIT_WORK_TREE": str(tmp_path / "other"),
        "GIT_PREFIX": "sub/",
        "GIT_LITERAL_PATHSPECS": "1",
    }.items():
        monkeypatch.setenv(name, value)

    tree = WorkTree(str(repo))

    assert (tree.keys, tree.others) == (before.keys, before.others)


def test_the_user_s_configuration_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_repository(tmp_path / "repo", {"a": "a\n", "é": "e\n"})
    write(tmp_path / "repo", {"new": "new\n"})
    before = WorkTree(str(tmp_path / "repo"))
    write(
        tmp_path,
        {
            "config": "[core]\n\tquotePath = true\n\tfsmonitor = false\n\tpager = false\n[color]\n\tui = always\n"
            "[status]\n\tshowUntrackedFiles = no\n[alias]\n\tls-files = !false\n"
        },
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "config"))

    assert WorkTree(str(tmp_path / "repo")).keys == before.keys


def test_a_program_that_the_repository_names_is_not_run(tmp_path: Path) -> None:
    make_repository(tmp_path, {"a": "a\n"})
    write(tmp_path, {"evil": f"#!/bin/sh\ntouch {tmp_path}/ran\n"})
    (tmp_path / "evil").chmod(0o755)
    git(tmp_path, "config", "core.fsmonitor", str(tmp_path / "evil"))
    git(tmp_path, "config", "core.fsmonitorHookVersion", "2")

    WorkTree(str(tmp_path))

    assert not (tmp_path / "ran").exists()


def test_a_repository_without_a_commit_holds_its_untracked_files(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    assert WorkTree(str(tmp_path)).keys == {}
    write(tmp_path, {"a": "a\n"})
    assert WorkTree(str(tmp_path)).keys == keys({"a": b"a\n"})


def test_a_worktree_beside_the_main_one_is_a_tree_of_its_own(tmp_path: Path) -> None:
    make_repository(tmp_path / "repo", {"a": "a\n"})
    git(tmp_path / "repo", "worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    write(tmp_path / "side", {"b": "b\n"})

    assert WorkTree(str(tmp_path / "side")).keys == keys({"a": b"a\n", "b": b"b\n"})


def test_a_broken_index_is_one_message(tmp_path: Path) -> None:
    make_repository(tmp_path, {"a": "a\n"})
    (tmp_path / ".git" / "index").write_bytes(b"DIRC\0\0\0\2garbage garbage garbage garbage")

    with pytest.raises(CheckError, match=r"^git ls-files failed: ") as caught:
        WorkTree(str(tmp_path))
    assert caught.value.environment


@posix
def test_a_file_that_may_not_be_read_is_in_the_tree_and_an_error_when_read(tmp_path: Path) -> None:
    make_repository(tmp_path, {"a": "a\n", "closed": "closed\n"})
    write(tmp_path, {"new": "new\n"})
    for name in ("closed", "new"):
        (tmp_path / name).chmod(0o000)
    code = """
import sys
from checks.tree import WorkTree
tree = WorkTree(sys.argv[1])
print(sorted(tree.keys), tree.keys["new"])
for path in ("closed", "new"):
    try:
        tree.read(path)
    except OSError as error:
        print(error.strerror)
"""

    done = run(code, str(tmp_path), bound=True)

    assert (done.stdout, done.stderr) == (
        "['a', 'closed', 'new'] unreadable\nPermission denied\nPermission denied\n",
        "",
    )


@posix
def test_a_checkout_that_may_not_be_written_is_read(tmp_path: Path) -> None:
    make_repository(tmp_path, {"a": "a\n"})
    write(tmp_path, {"new": "new\n"})
    for folder in (tmp_path / ".git", tmp_path):
        folder.chmod(0o555)
    code = "import sys; from checks.tree import WorkTree; print(sorted(WorkTree(sys.argv[1]).keys))"

    done = run(code, str(tmp_path), bound=True)
    for folder in (tmp_path, tmp_path / ".git"):
        folder.chmod(0o755)

    assert (done.stdout, done.stderr) == ("['a', 'new']\n", "")


def test_what_was_changed_is_read_once_so_that_a_later_edit_does_not_come_between(tmp_path: Path) -> None:
    make_repository(tmp_path, {"a": "old\n"})
    write(tmp_path, {"a": "new\n"})

    tree = WorkTree(str(tmp_path))
    write(tmp_path, {"a": "newer\n"})

    assert (tree.keys, tree.read("a"), tree.outdated()) == (
        keys({"a": b"new\n"}),
        b"new\n",
        frozenset({blob(b"new\n")}),
    )


def test_a_file_that_changes_while_we_run_is_known_to_have_outrun_its_key(tmp_path: Path) -> None:
    make_repository(tmp_path, {"a": "a\n", "b": "b\n", "touched": "touched\n"})
    tree = WorkTree(str(tmp_path))
    with closing(CommitTree(str(tmp_path), "HEAD", beside=tree)) as commit:
        assert (tree.outdated(), commit.outdated()) == (frozenset(), frozenset())
        write(tmp_path, {"a": "edited\n", "touched": "touched\n"})
        (tmp_path / "b").unlink()

        assert (tree.outdated(), commit.outdated()) == (frozenset({blob(b"a\n")}),) * 2


def test_a_file_too_large_to_be_source_is_told_from_others_without_being_read(tmp_path: Path) -> None:
    make_repository(tmp_path, {"a": "a\n"})
    for name in ("weights", "more"):
        with (tmp_path / name).open("wb") as file:
            file.truncate(33 << 20)

    first, second = WorkTree(str(tmp_path)).keys, WorkTree(str(tmp_path)).keys
    os.truncate(tmp_path / "more", 34 << 20)

    assert first == second
    assert len(set(first.values())) == 3
    assert {path for path, key in WorkTree(str(tmp_path)).keys.items() if key != first[path]} == {"more"}


@posix
def test_a_folder_without_git_holds_every_file_that_is_not_hidden(tmp_path: Path) -> None:
    write(tmp_path, {"a": "a\n", "b/c": "c\n", ".hidden/d": "d\n", "b/__pycache__/e": "e\n", ".file": "f\n"})
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "loop").symlink_to(".")
    os.mkfifo(tmp_path / "pipe")

    tree = FolderTree(str(tmp_path))

    assert read(tree) == {".file": b"f\n", "a": b"a\n", "b/c": b"c\n"}
    assert tree.others == {"link", "loop", "pipe"}


def test_a_tree_in_memory_gives_equal_texts_equal_keys() -> None:
    tree = MemoryTree({"a": b"x", "b": b"x", "c": b"y"})

    assert (tree.keys["a"] == tree.keys["b"], tree.keys["a"] == tree.keys["c"], tree.read("c")) == (True, False, b"y")
