"""Which files a run looks at and by which keys, in real repositories of every shape."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing
from hashlib import sha1
from pathlib import Path

import pytest

from checks.commit import CommitTree
from checks.errors import CheckError
from checks.tree import FolderTree, MemoryTree, Tree, WorkTree
from tests.checks.processes import run
from tests.checks.repositories import commit_all, git, make_repository, write

posix = pytest.mark.skipif(sys.platform == "win32", reason="names and links that Windows cannot hold")


def blob(content: bytes) -> str:
    return sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def keys(contents: Mapping[str, bytes]) -> dict[str, str]:
    return {path: blob(content) for path, content in contents.items()}


def read(tree: Tree) -> dict[str, bytes]:
    return {path: tree.read(path) for path in sorted(tree.keys)}


def test_a_tree_holds_what_is_on_disk_committed_or_not_and_nothing_that_git_ignores(tmp_path: Path) -> None:
    files = {
        "kept": "kept\n",
        "edited": "old\n",
        "staged": "old\n",
        "both": "old\n",
        "gone": "gone\n",
        "deep/a/b": "b\n",
    }
    make_repository(tmp_path, {**files, ".gitignore": "ignored/\n*.log\n"})
    write(tmp_path, {"staged": "new\n", "both": "staged\n", "added": "added\n"})
    git(tmp_path, "add", "staged", "both", "added")
    write(tmp_path, {"edited": "new\n", "both": "both\n", "untracked": "untracked\n", "new/folder/c": "c\n"})
    write(tmp_path, {"ignored/a": "a\n", "a.log": "log\n"})
    git(tmp_path, "rm", "--quiet", "--cached", "deep/a/b")
    (tmp_path / "gone").unlink()

    expected = {
        ".gitignore": b"ignored/\n*.log\n",
        "added": b"added\n",
        "both": b"both\n",
        "deep/a/b": b"b\n",
        "edited": b"new\n",
        "kept": b"kept\n",
        "new/folder/c": b"c\n",
        "staged": b"new\n",
        "untracked": b"untracked\n",
    }
    tree = WorkTree(str(tmp_path))
    assert (tree.keys, tree.others, read(tree)) == (keys(expected), frozenset(), expected)


def test_the_whole_checkout_is_listed_from_any_folder_of_it(tmp_path: Path) -> None:
    from checks.tree import start_listing

    make_repository(tmp_path, {"a": "a\n", "sub/b": "b\n"})
    write(tmp_path, {"new": "new\n", "sub/c": "c\n"})

    tree = WorkTree(str(tmp_path), start_listing(str(tmp_path / "sub")))

    assert tree.keys == keys({"a": b"a\n", "sub/b": b"b\n", "new": b"new\n", "sub/c": b"c\n"})


def test_a_clean_checkout_and_its_commit_have_the_same_keys(tmp_path: Path) -> None:
    make_repository(tmp_path, {"a": "a\n", "b/c": "c\n", "empty": "", "run.sh": "#!\n"})
    (tmp_path / "run.sh").chmod(0o755)
    commit_all(tmp_path)

    tree = WorkTree(str(tmp_path))
    with closing(CommitTree(str(tmp_path), "HEAD")) as commit:
        assert (commit.keys, commit.others, read(commit)) == (tree.keys, tree.others, read(tree))


def test_a_commit_is_read_from_disk_where_it_is_the_same_and_from_git_elsewhere(tmp_path: Path) -> None:
    make_repository(tmp_path, {"same": "same\n", "edited": "old\n", "gone": "gone\n"})
    write(tmp_path, {"edited": "new\n", "new": "new\n"})
    (tmp_path / "gone").unlink()

    with closing(CommitTree(str(tmp_path), "HEAD", beside=WorkTree(str(tmp_path)))) as commit:
        assert read(commit) == {"same": b"same\n", "edited": b"old\n", "gone": b"gone\n"}


def test_an_object_that_is_not_in_the_clone_is_an_error_of_reading(tmp_path: Path) -> None:
    make_repository(tmp_path, {"a": "a\n", "b": "b\n"})
    key = blob(b"a\n")
    (tmp_path / ".git" / "objects" / key[:2] / key[2:]).unlink()

    with closing(CommitTree(str(tmp_path), "HEAD")) as commit:
        with pytest.raises(OSError, match=f"object {key} is not in this clone"):
            commit.read("a")
        assert commit.read("b") == b"b\n"


def test_files_in_conflict_are_read_as_they_are(tmp_path: Path) -> None:
    make_repository(tmp_path, {"a": "base\n", "b": "base\n"})
    git(tmp_path, "checkout", "--quiet", "-b", "other")
    write(tmp_path, {"a": "theirs\n"})
    git(tmp_path, "rm", "--quiet", "b")
    commit_all(tmp_path)
    git(tmp_path, "checkout", "--quiet", "main")
    write(tmp_path, {"a": "ours\n", "b": "ours\n"})
    commit_all(tmp_path)
    subprocess.run(("git", "-C", str(tmp_path), "merge", "--quiet", "other"), capture_output=True, check=False)

    tree = WorkTree(str(tmp_path))

    assert read(tree) == {"a": b"<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> other\n", "b": b"ours\n"}
    assert tree.keys == keys(read(tree))


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_files_that_git_was_told_not_to_look_at_are_looked_at(tmp_path: Path, flag: str) -> None:
    make_repository(tmp_path, {"edited": "old\n", "gone": "gone\n", "same": "same\n"})
    git(tmp_path, "update-index", flag, "edited", "gone", "same")
    write(tmp_path, {"edited": "new\n"})
    (tmp_path / "gone").unlink()

    assert WorkTree(str(tmp_path)).keys == keys({"edited": b"new\n", "same": b"same\n"})


def test_files_outside_of_a_sparse_checkout_are_not_there(tmp_path: Path) -> None:
    make_repository(tmp_path, {"in/a": "a\n", "out/b": "b\n", "top": "top\n"})
    git(tmp_path, "sparse-checkout", "set", "--cone", "--sparse-index", "in")

    assert WorkTree(str(tmp_path)).keys == keys({"in/a": b"a\n", "top": b"top\n"})


def test_a_file_that_is_only_announced_to_git_is_read(tmp_path: Path) -> None:
    make_repository(tmp_path, {"a": "a\n"})
    write(tmp_path, {"new": "new\n"})
    git(tmp_path, "add", "--intent-to-add", "new")

    assert WorkTree(str(tmp_path)).keys == keys({"a": b"a\n", "new": b"new\n"})


@posix
def test_links_are_there_and_hold_no_text(tmp_path: Path) -> None:
    make_repository(tmp_path / "repo", {"a": "a\n", "folder/b": "b\n", "replaced": "old\n"})
    write(tmp_path, {"outside/secret": "secret\n"})
    repo = tmp_path / "repo"
    for name, target in {
        "to_file": "a",
        "to_folder": "folder",
        "broken": "nowhere",
        "loop": "loop",
        "up": "..",
        "outside": "../outside",
    }.items():
        (repo / name).symlink_to(target)
    git(repo, "add", "to_file", "loop", "up")
    git(repo, "commit", "--quiet", "--message", "links")
    (repo / "replaced").unlink()
    (repo / "replaced").symlink_to("a")

    tree = WorkTree(str(repo))

    assert tree.keys == keys({"a": b"a\n", "folder/b": b"b\n"})
    assert tree.others == {"to_file", "to_folder", "broken", "loop", "up", "outside", "replaced"}


@posix
def test_a_link_that_became_a_file_is_a_file_and_a_folder_that_became_a_link_hides_its_files(tmp_path: Path) -> None:
    make_repository(tmp_path, {"a": "a\n", "folder/b": "b\n", "elsewhere/b": "b\n"})
    (tmp_path / "link").symlink_to("a")
    commit_all(tmp_path)
    (tmp_path / "link").unlink()
    write(tmp_path, {"link": "text\n"})
    (tmp_path / "folder" / "b").unlink()
    (tmp_path / "folder").rmdir()
    (tmp_path / "folder").symlink_to("elsewhere")

    tree = WorkTree(str(tmp_path))

    assert (tree.keys, tree.others) == (
        keys({"a": b"a\n", "elsewhere/b": b"b\n", "link": b"text\n"}),
        frozenset({"folder"}),
    )


def test_a_file_that_became_a_folder_is_a_folder(tmp_path: Path) -> None:
    make_repository(tmp_path, {"a": "a\n"})
    (tmp_path / "a").unlink()
    write(tmp_path, {"a/b": "b\n"})

    tree = WorkTree(str(tmp_path))

    assert (tree.keys, tree.others) == (keys({"a/b": b"b\n"}), frozenset())


def test_submodules_and_nested_repositories_are_there_and_their_files_are_not_ours(tmp_path: Path) -> None:
    make_repository(tmp_path / "library", {"inner": "inner\n"})
    make_repository(tmp_path / "repo", {"a": "a\n"})
    repo = tmp_path / "repo"
    git(repo, "submodule", "--quiet", "add", str(tmp_path / "library"), "sub")
    commit_all(repo)
    write(repo, {"sub/inner": "edited\n", "sub/new": "new\n"})
    make_repository(repo / "nested", {"n": "n\n"})

    tree = WorkTree(str(repo))

    assert (sorted(tree.keys), tree.others) == ([".gitmodules", "a"], frozenset({"sub", "nested"}))
    with closing(CommitTree(str(repo), "HEAD")) as commit:
        assert (sorted(commit.keys), commit.others) == ([".gitmodules", "a"], frozenset({"sub"}))


def test_a_submodule_that_was_not_fetched_or_was_removed_is_no_file(tmp_path: Path) -> None:
    make_repository(tmp_path / "library", {"inner": "inner\n"})
    make_repository(tmp_path / "repo", {"a": "a\n"})
    git(tmp_path / "repo", "submodule", "--quiet", "add", str(tmp_path / "library"), "sub")
    commit_all(tmp_path / "repo")
    git(tmp_path, "clone", "--quiet", str(tmp_path / "repo"), "clone")

    assert WorkTree(str(tmp_path / "clone")).others == {"sub"}
    (tmp_path / "clone" / "sub").rmdir()
    assert WorkTree(str(tmp_path / "clone")).others == frozenset()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems refuse such names")
def test_names_that_no_text_can_hold_are_read(tmp_path: Path) -> None:
    names = ["line\nend", "tab\there", "\udcff\udcfe", "quote\"'", " space ", "é", "\x1b[31m", "-dash", ":(glob)*"]
    make_repository(tmp_path, {f"committed/{name}": "c\n" for name in names})
    write(tmp_path, {f"untracked/{name}": "u\n" for name in names})
    expected = {f"committed/{name}": b"c\n" for name in names} | {f"untracked/{name}": b"u\n" for name in names}

    tree = WorkTree(str(tmp_path))

    assert (tree.keys, read(tree)) == (keys(expected), {path: expected[path] for path in sorted(expected)})
    with closing(CommitTree(str(tmp_path), "HEAD")) as commit:
        assert read(commit) == {path: b"c\n" for path in expected if path.startswith("committed/")}


@pytest.mark.parametrize("setting", ["true", "input"])
def test_line_ends_that_git_converts_make_no_file_look_changed(tmp_path: Path, setting: str) -> None:
    make_repository(tmp_path / "repo", {"a.py": "a\nb\n"})
    git(tmp_path, "-c", f"core.autocrlf={setting}", "clone", "--quiet", "repo", "clone")
    git(tmp_path / "clone", "config", "core.autocrlf", setting)

    tree = WorkTree(str(tmp_path / "clone"))

    assert tree.keys == keys({"a.py": b"a\nb\n"})
    assert tree.read("a.py") == (b"a\r\nb\r\n" if setting == "true" else b"a\nb\n")


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
