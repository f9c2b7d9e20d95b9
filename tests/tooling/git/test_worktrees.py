"""A main branch that another worktree has checked out (row 28): it follows where nothing is in its way."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.tooling.git.kills import lost_to_kills
from tests.tooling.git.repositories import Bench, git_version, snapshot, text, write
from tests.tooling.git.test_matrix_rebase import warned


def beside(bench: Bench) -> Path:
    """Check the main branch out in a worktree of its own."""
    place = bench.root / "main-tree"
    bench.git("worktree", "add", "--quiet", str(place), "main")
    return place


def upstream_main(bench: Bench) -> str:
    return bench.oid("refs/heads/main", at=bench.root / "up.git")


def test_row_28_a_main_branch_in_a_clean_worktree_follows_there_and_undo_takes_it_back(bench: Bench) -> None:
    place = beside(bench)
    write(place / "mine.ignored", "ignored\n")
    write(place / "untracked", "untracked\n")
    before, work = snapshot(bench, place, ours=False), snapshot(bench)["files"]

    result = bench.run("sync", "--json")

    assert (result.code, warned(result), bench.oid("HEAD", at=place)) == (0, [], upstream_main(bench))
    assert bench.git("status", "--porcelain", at=place) == "?? untracked"
    assert (bench.at_fork("refs/heads/main"), snapshot(bench)["files"]) == (upstream_main(bench), work)
    assert bench.run("undo").code == 0
    assert snapshot(bench, place, ours=False) == before


def _edit(place: Path) -> None:
    write(place / "a.txt", "edit\n")


def _untracked_in_the_way(place: Path) -> None:
    write(place / "d.txt", "mine\n")


def _gone(place: Path) -> None:
    place.rename(place.parent / "moved")


@pytest.mark.parametrize("work", [_edit, _untracked_in_the_way, _gone])
def test_row_28_a_main_branch_in_a_worktree_with_work_in_it_is_left_with_a_word(bench: Bench, work: object) -> None:
    place = beside(bench)
    assert callable(work)
    work(place)
    before = snapshot(bench, place, ours=False) if place.exists() else None

    result = bench.run("sync", "--json")

    (message,) = [warning["message"] for warning in result.json["warnings"]]
    assert (result.code, warned(result), f"git -C {place.as_posix()} merge --ff-only" in message) == (
        0,
        ["local-main"],
        True,
    )
    assert (snapshot(bench, place, ours=False) if place.exists() else None) == before
    assert bench.at_fork("refs/heads/main") == upstream_main(bench)


def test_row_28_a_main_branch_in_two_worktrees_is_left_in_both(bench: Bench) -> None:
    places = [beside(bench), bench.root / "second"]
    bench.git("worktree", "add", "--quiet", "--force", str(places[1]), "main")
    before = [snapshot(bench, place, ours=False) for place in places]

    assert warned(bench.run("sync", "--json")) == ["local-main"]
    assert [snapshot(bench, place, ours=False) for place in places] == before


def test_undo_keeps_work_that_went_on_in_the_other_worktree_and_refuses_where_it_overlaps(bench: Bench) -> None:
    place = beside(bench)
    old = bench.oid("main")
    assert bench.run("sync").code == 0
    write(place / "d.txt", "changed\n")
    before = snapshot(bench, place)

    refused = bench.run("undo", "--json")
    unchanged = snapshot(bench, place) == before
    bench.git("checkout", "--quiet", "d.txt", at=place)
    write(place / "a.txt", "later\n")

    assert (refused.code, refused.json["items"], refused.json["details"], unchanged) == (
        3,
        [{"code": "overlap"}],
        ["d.txt"],
        True,
    )
    assert (bench.run("undo").code, bench.oid("main"), (place / "a.txt").read_text(encoding="utf-8")) == (
        0,
        old,
        "later\n",
    )
    assert bench.git("status", "--porcelain", at=place) == " M a.txt"


def test_undo_waits_for_what_git_is_in_the_middle_of_in_the_other_worktree(bench: Bench) -> None:
    place = beside(bench)
    assert bench.run("sync").code == 0
    bench.git("switch", "--quiet", "--create", "clash", "HEAD~1", at=place)
    bench.commit("Clash", {"d.txt": "clash\n"}, at=place)
    bench.git("switch", "--quiet", "main", at=place)
    bench.git("merge", "clash", at=place, fails=True)
    before = snapshot(bench, place)

    result = bench.run("undo", "--json")

    assert (result.code, result.json["items"], snapshot(bench, place)) == (3, [{"code": "in-progress"}], before)
    assert result.json["next"][0]["argv"] == ["git", "-C", place.as_posix(), "merge", "--continue"]


def test_undo_moves_a_branch_back_where_it_was_checked_out_since(bench: Bench) -> None:
    before = bench.oid("feature")
    assert bench.run("rebase").code == 0
    bench.git("switch", "--quiet", "main")
    place = bench.root / "later"
    bench.git("worktree", "add", "--quiet", str(place), "feature")

    assert (bench.run("undo").code, bench.oid("feature")) == (0, before)
    assert (bench.git("status", "--porcelain", at=place), (place / "d.txt").exists()) == ("", False)


def test_a_kill_while_the_other_worktree_follows_loses_nothing(bench: Bench, tmp_path: Path) -> None:
    place = beside(bench)
    write(bench.work / "b.txt", text({1: "edit"}))

    def look() -> tuple[object, object]:
        bench.git("update-index", "-q", "--refresh", at=place, fails=True)
        return snapshot(bench, ours=False), snapshot(bench, place, ours=False)

    assert lost_to_kills(bench, tmp_path, ("sync",), look, step=31) == []


@pytest.mark.parametrize("kind", ["submodule", "git folder elsewhere"])
def test_a_checkout_whose_git_folder_is_elsewhere_is_not_taken_for_another_one(bench: Bench, kind: str) -> None:
    fork, place = str(bench.root / "fork.git"), bench.root / "outer/inner"
    if kind == "submodule":
        bench.git("init", "--quiet", str(bench.root / "outer"), at=bench.root)
        add = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", fork, "inner")
        bench.git(*add, at=bench.root / "outer")
    else:
        elsewhere = f"--separate-git-dir={bench.root / 'elsewhere'}"
        bench.git("clone", "--quiet", elsewhere, fork, str(place), at=bench.root)
    bench.git("remote", "add", "upstream", str(bench.root / "up.git"), at=place)
    bench.git("switch", "--quiet", "feature", at=place)
    bench.git("worktree", "add", "--quiet", str(bench.root / "linked"), "main", at=place)

    assert bench.run("rebase", at=place).code == 0


@pytest.mark.skipif(git_version() < (2, 36), reason="git lists worktrees so that such a name can be read since 2.36")
def test_a_line_end_in_the_name_of_a_folder_is_part_of_it(bench: Bench) -> None:
    moved, linked = bench.work.rename(bench.root / "wo\nrk"), bench.root / "lin\nked"
    bench.git("worktree", "add", "--quiet", str(linked), "main", at=moved)

    assert [bench.run(command, at=moved).code for command in ("rebase", "sync")] == [0, 0]
    assert bench.oid("HEAD", linked) == bench.oid("refs/heads/main", bench.root / "up.git")


@pytest.mark.parametrize("gone", [True, False])
def test_a_branch_that_two_worktrees_have_is_free_once_one_lets_go_of_it(bench: Bench, gone: bool) -> None:
    linked = bench.root / "linked"
    bench.git("worktree", "add", "--quiet", "--force", str(linked), "feature")
    if gone:
        shutil.rmtree(linked)

    refusal = bench.run("rebase", "--json")
    bench.git(*refusal.json["next"][gone]["argv"][1:])

    assert (refusal.code, bench.run("rebase").code) == (3, 0)


@pytest.mark.parametrize("is_gone", [True, False])
def test_a_worktree_of_ours_that_git_was_killed_in_the_making_or_removing_of_is_forgotten(
    bench: Bench, *, is_gone: bool
) -> None:
    before = bench.git("worktree", "list")
    place = bench.work / ".git/mergeready/worktrees/killed"
    bench.git("worktree", "add", "--quiet", "--detach", str(place))
    if is_gone:
        shutil.rmtree(place)
    else:
        write(bench.work / ".git/worktrees/killed/locked", "initializing\n")
        (place / ".git").unlink()

    assert bench.run("status").code == 0
    assert bench.git("worktree", "list") == before
