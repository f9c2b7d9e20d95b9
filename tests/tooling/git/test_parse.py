"""From the bytes of plumbing to values: what git really prints, for names of every kind."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.tooling.git.repositories import Bench, write
from tooling.git.parse import status, version, worktrees
from tooling.git.state import Change, Head, Worktree

names = st.binary(min_size=1, max_size=12).filter(
    lambda name: not {0, ord("/")} & set(name) and name not in (b".", b"..", b".git") and name.lower() != b".git"
)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(names, min_size=1, max_size=4, unique=True))
def test_paths_of_any_bytes_survive(tmp_path: Path, found: list[bytes]) -> None:
    folder = tmp_path / os.urandom(8).hex()
    folder.mkdir()
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main"], cwd=folder, check=True)
    for name in found:
        Path(folder, os.fsdecode(name)).write_bytes(b"x\n")
    out = subprocess.run(
        ["git", "status", "--porcelain=v2", "--branch", "--untracked-files=all", "--ignored=no", "-z"],
        cwd=folder,
        check=True,
        capture_output=True,
    ).stdout

    head, changes = status(out)

    assert head == Head("", "refs/heads/main")
    assert {os.fsencode(change.path) for change in changes} == set(found) - {b".gitignore"} | set(found)


def test_each_kind_of_change_is_told_apart(bench: Bench) -> None:
    write(bench.work / "a.txt", "unstaged\n")
    write(bench.work / "b.txt", "staged\n")
    bench.git("add", "b.txt")
    write(bench.work / "b.txt", "and changed again\n")
    (bench.work / "folder/c.txt").unlink()
    write(bench.work / "new file", "untracked\n")
    out = bench.git("status", "--porcelain=v2", "--branch", "-z").encode()

    assert status(out) == (
        Head(bench.oid(), "refs/heads/feature"),
        (Change("a.txt", ".M"), Change("b.txt", "MM"), Change("folder/c.txt", ".D"), Change("new file", "??")),
    )


def test_versions_of_vendors_are_read() -> None:
    said = [b"git version 2.39.5", b"git version 2.30.1 (Apple Git-130)", b"git version 2.45.0.windows.1", b"nonsense"]

    assert [version(line) for line in said] == [(2, 39), (2, 30), (2, 45), (0, 0)]


def test_worktrees_are_read_and_bare_ones_left_out() -> None:
    out = b"worktree /bare\nbare\n\nworktree /a b\nHEAD 11\nbranch refs/heads/x\n\nworktree /c\nHEAD 22\ndetached\n\n"

    assert worktrees(out) == (Worktree("/a b", "11", "refs/heads/x"), Worktree("/c", "22", ""))
