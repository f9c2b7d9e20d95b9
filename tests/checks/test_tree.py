"""Which files a run looks at and by which keys, in every state that git knows of them."""

from __future__ import annotations

import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from checks.commit import CommitTree
from checks.tree import WorkTree
from tests.checks.repositories import blob, commit_all, git, keys, make_repository, read, write


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
    from checks.tree import Listing

    make_repository(tmp_path, {"a": "a\n", "sub/b": "b\n"})
    write(tmp_path, {"new": "new\n", "sub/c": "c\n"})

    tree = WorkTree(str(tmp_path), Listing(str(tmp_path / "sub")))

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
