"""`rebase --update-refs`: branches below the one that is rebased move with it, and back with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tooling.git.kills import lost_to_kills
from tests.tooling.git.repositories import Bench, Result, git_version, snapshot, text, write
from tests.tooling.git.test_matrix_environment import fake_git
from tests.tooling.git.test_matrix_rebase import refused, warned

updates_refs = pytest.mark.skipif(git_version() < (2, 38), reason="git moves branches along since 2.38")


def stack(bench: Bench) -> None:
    """`lower` is at the first commit of `feature`, `middle` at the second, and `feature` has a third."""
    bench.git("branch", "lower", "feature~1")
    bench.git("branch", "middle", "feature")
    bench.commit("Change c", {"folder/c.txt": text({1: "mine"})})


def subjects(bench: Bench, branch: str) -> list[str]:
    return bench.git("log", "--format=%s", f"upstream/main..{branch}").split("\n")


@updates_refs
def test_branches_below_move_along_and_undo_moves_all_of_them_back(bench: Bench) -> None:
    stack(bench)
    before = snapshot(bench, ours=False)
    old = {name: bench.oid(name) for name in ("feature", "lower", "middle")}

    result = bench.run("rebase", "--update-refs", "--json")

    moved = {ref["ref"].removeprefix("refs/heads/"): (ref["old"], ref["new"]) for ref in result.json["refs"]}
    assert (result.code, warned(result)) == (0, ["stacked"])
    assert moved == {name: (oid, bench.oid(name)) for name, oid in old.items()}
    assert [subjects(bench, name) for name in ("lower", "middle")] == [
        ["Change line 3 of a"],
        ["Change line 10 of b", "Change line 3 of a"],
    ]
    kept = bench.git("for-each-ref", "--format=%(objectname)", "refs/mergeready/backup").split("\n")
    assert sorted(kept) == sorted(old.values())
    assert bench.run("undo").code == 0
    assert snapshot(bench, ours=False) == before


def test_without_it_they_stay_and_it_is_said(bench: Bench) -> None:
    stack(bench)
    old = bench.oid("lower")

    result = bench.run("rebase", "--json")

    (warning,) = result.json["warnings"]
    assert (result.code, bench.oid("lower")) == (0, old)
    assert warning == {
        "code": "stacked",
        "message": "these stay on the old commits; --update-refs moves them: lower, middle",
    }


@updates_refs
def test_a_dry_run_moves_nothing_and_names_what_would_move(bench: Bench) -> None:
    stack(bench)
    before = snapshot(bench)

    result = bench.run("rebase", "--update-refs", "--dry-run", "--fetch", "--json")

    assert (result.code, snapshot(bench)) == (0, before)
    assert [ref["ref"] for ref in result.json["refs"]] == [
        f"refs/heads/{name}" for name in ("feature", "lower", "middle")
    ]


@updates_refs
@pytest.mark.parametrize("way", ["abort", "continue", "git", "skip"])
def test_a_rebase_that_stopped_takes_them_all_along_or_none(bench: Bench, way: str) -> None:
    stack(bench)
    bench.upstream("Change line 10", {"b.txt": text({10: "theirs"})})
    write(bench.work / "folder/c.txt", text({1: "mine", 9: "edit"}))
    before = snapshot(bench, ours=False)
    assert bench.run("rebase", "--update-refs", "--autostash").code == 4
    write(bench.work / "b.txt", text({10: "both"}))

    if way == "continue":
        bench.git("add", "b.txt")
        assert bench.run("continue").code == 0
    elif way == "git":
        bench.git("add", "b.txt")
        bench.git("-c", "core.editor=true", "rebase", "--continue")
    elif way == "skip":
        assert bench.run("skip").code == 0

    if way != "abort":
        assert subjects(bench, "lower") == ["Change line 3 of a"]
    assert bench.run("abort" if way in ("abort", "git") else "undo").code == 0
    assert snapshot(bench, ours=False) == before


@updates_refs
def test_finished_with_plain_git_all_of_them_can_be_undone(bench: Bench) -> None:
    stack(bench)
    bench.upstream("Change line 10", {"b.txt": text({10: "theirs"})})
    before = snapshot(bench, ours=False)
    assert bench.run("rebase", "--update-refs").code == 4
    write(bench.work / "b.txt", text({10: "both"}))
    bench.git("add", "b.txt")
    bench.git("-c", "core.editor=true", "rebase", "--continue")

    assert bench.run("status", "--json").json["items"][0]["open"] is None
    assert bench.run("undo").code == 0
    assert snapshot(bench, ours=False) == before


@updates_refs
def test_undo_is_refused_once_a_branch_below_has_moved_on(bench: Bench) -> None:
    stack(bench)
    assert bench.run("rebase", "--update-refs").code == 0
    bench.git("update-ref", "refs/heads/lower", "main")

    assert refused(bench, "undo") == (3, "moved-since")


@updates_refs
def test_undo_from_a_branch_below_moves_that_one_back_under_its_files(bench: Bench) -> None:
    stack(bench)
    old = {name: bench.oid(name) for name in ("feature", "lower", "middle")}
    assert bench.run("rebase", "--update-refs").code == 0
    bench.git("switch", "--quiet", "lower")
    write(bench.work / "folder/c.txt", text({9: "edit"}))

    assert bench.run("undo").code == 0

    assert {name: bench.oid(name) for name in old} == old
    assert bench.git("status", "--porcelain") == " M folder/c.txt"


@updates_refs
def test_a_branch_below_that_another_worktree_holds_is_named(bench: Bench) -> None:
    stack(bench)
    bench.git("worktree", "add", "--quiet", str(bench.root / "second"), "lower")

    assert refused(bench, "rebase", "--update-refs") == (3, "checked-out-elsewhere")


def test_a_git_that_cannot_is_told_from_one_that_can(bench: Bench) -> None:
    stack(bench)
    env = fake_git(bench, 'case "$*" in *version*) echo "git version 2.37.1";; *) exec "$GIT" "$@";; esac')
    before = snapshot(bench)

    result: Result = bench.spawn("rebase", "--update-refs", env=env)

    assert (result.code, result.said, snapshot(bench)) == (
        6,
        "--update-refs needs git 2.38, and this is 2.37",
        before,
    )


@updates_refs
def test_branches_below_are_taken_along_over_what_a_reviewer_pushed(bench: Bench) -> None:
    stack(bench)
    bench.git("push", "--quiet", "origin", "feature")
    bench.reviewer("Fix a typo", {"a.txt": text({3: "mine", 15: "theirs"})})
    bench.git("fetch", "--quiet", "origin")
    bench.commit("More", {"more.txt": "x\n"})
    old = {name: bench.oid(name) for name in ("feature", "lower", "middle")}

    assert bench.run("rebase", "--update-refs", "--adopt").code == 0
    assert subjects(bench, "feature")[:2] == ["More", "Fix a typo"]
    assert bench.run("undo").code == 0
    assert {name: bench.oid(name) for name in old} == old


@updates_refs
def test_a_kill_while_branches_move_along_loses_none(bench: Bench, tmp_path: Path) -> None:
    stack(bench)
    write(bench.work / "folder/c.txt", text({1: "mine", 9: "edit"}))

    def look() -> object:
        return snapshot(bench, ours=False)

    assert lost_to_kills(bench, tmp_path, ("rebase", "--update-refs", "--autostash"), look, step=53) == []
