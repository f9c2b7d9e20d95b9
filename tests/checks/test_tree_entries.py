"""Links, submodules, odd names and converted line ends: what is a file of the tree, and what is not."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path

import pytest

from checks.commit import CommitTree
from checks.tree import WorkTree
from tests.checks.repositories import commit_all, git, keys, make_repository, read, write

posix = pytest.mark.skipif(sys.platform == "win32", reason="names and links that Windows cannot hold")


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
