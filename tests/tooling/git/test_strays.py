"""What git's older merge leaves beside a path in conflict goes with the conflict, and nothing else does."""

from __future__ import annotations

import pytest

from tests.tooling.git.repositories import Bench, snapshot, text, write


@pytest.fixture
def stopping(bench: Bench) -> Bench:
    """Upstream has a file where the branch goes on working in a folder, and the merge is the older one."""
    bench.git("config", "pull.twohead", "recursive")
    bench.upstream("A folder goes", {"folder/c.txt": None})
    (bench.other / "folder").rmdir()
    bench.upstream("A file comes", {"folder": "now a file\n"})
    bench.commit("Change line 5 of c", {"folder/c.txt": text({5: "mine"})})
    return bench


def test_an_abort_takes_away_the_file_that_git_put_beside_a_folder(stopping: Bench) -> None:
    before = snapshot(stopping, ours=False)

    stopped = stopping.run("rebase")
    aborted = stopping.run("abort", "--json")

    assert (stopped.code, aborted.code, snapshot(stopping, ours=False)) == (4, 0, before)


def test_a_file_of_the_users_own_stays_although_git_could_have_named_it(stopping: Bench) -> None:
    write(stopping.work / "folder~HEAD", "now a file\n")
    write(stopping.work / "notes/d~HEAD_3", "mine\n")
    before = snapshot(stopping, ours=False)

    assert [stopping.run(command).code for command in ("rebase", "abort")] == [4, 0]
    assert snapshot(stopping, ours=False) == before


def test_a_file_that_is_made_while_a_rebase_stands_stays(stopping: Bench) -> None:
    stopping.run("rebase")
    write(stopping.work / "folder~old", "made while it stood\n")
    write(stopping.work / "c~ABCD (not an id)", "made while it stood\n")

    stopping.run("abort")

    assert stopping.git("status", "--porcelain", "-z") == "?? c~ABCD (not an id)\0?? folder~old\0"


def test_what_was_written_into_such_a_file_is_copied_before_it_goes(stopping: Bench) -> None:
    before = snapshot(stopping, ours=False)
    stopping.run("rebase")
    write(stopping.work / "folder~HEAD", "resolved by hand\n")

    aborted = stopping.run("abort", "--json")

    kept = [path for path in (stopping.work / ".git/mergeready/journal").rglob("folder~HEAD") if path.is_file()]
    assert [path.read_text(encoding="utf-8") for path in kept] == ["resolved by hand\n"]
    assert str(kept[0].parent) in aborted.out
    assert snapshot(stopping, ours=False) == before


def test_a_skip_leaves_nothing_beside_the_path_and_an_undo_finds_nothing_there(stopping: Bench) -> None:
    before = snapshot(stopping, ours=False)
    stopping.run("rebase")

    assert (stopping.run("skip").code, stopping.git("status", "--porcelain")) == (0, "")
    assert (stopping.run("undo").code, snapshot(stopping, ours=False)) == (0, before)


@pytest.mark.parametrize("content", ["now a file\n", "changed since\n"])
def test_what_stays_after_a_conflict_was_resolved_goes_with_an_undo_unless_it_was_changed(
    stopping: Bench, content: str
) -> None:
    stopping.run("rebase")
    stopping.git("update-index", "--force-remove", "--", "folder", "folder~HEAD")
    stopping.git("add", "folder/c.txt")
    write(stopping.work / "folder~HEAD", content)

    assert [stopping.run(command).code for command in ("continue", "undo")] == [0, 0]
    assert stopping.git("status", "--porcelain") == ("" if content == "now a file\n" else "?? folder~HEAD")
