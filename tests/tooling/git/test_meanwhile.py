"""What somebody does between two commands: plain git, another folder, a repository that is moved."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tooling.git.repositories import Bench, snapshot, text, write
from tests.tooling.git.test_matrix_rebase import conflict


def test_a_commit_that_was_made_by_hand_is_told_from_one_that_was_replayed_and_from_one_upstream_has(
    bench: Bench,
) -> None:
    conflict(bench)
    bench.run("rebase")
    write(bench.work / "a.txt", "resolved\n")
    bench.git("commit", "--quiet", "--all", "--message", "By hand", "--date", "2026-02-03T00:00:00Z")
    made = bench.oid()

    result = bench.run("continue")

    assert result.said == "feature is rebased: 1 commit replayed, 1 dropped, 1 made by hand"
    assert f"  made by hand: {made[:10]} By hand" in result.out.split("\n")
    assert "  dropped, as upstream has it or it was left out: Change line 3 of a" in result.out.split("\n")


@pytest.mark.parametrize("command", ["continue", "abort", "undo"])
def test_a_merge_that_was_begun_since_is_not_taken_away(bench: Bench, command: str) -> None:
    conflict(bench)
    write(bench.work / "b.txt", text({10: "mine", 1: "edit"}))
    bench.run("rebase", "--autostash")
    bench.git("rebase", "--abort")
    bench.git("merge", "--quiet", "upstream/main", fails=True)
    before = snapshot(bench)

    result = bench.run(command, "--json")

    assert (result.code, result.json["summary"]) == (3, "a merge is in progress")
    assert snapshot(bench) == before
    bench.git("merge", "--abort")
    assert (bench.run(command).code, (bench.work / "b.txt").read_text("utf-8")) == (0, text({10: "mine", 1: "edit"}))


def test_a_rebase_of_the_users_own_is_not_ended_by_undo(bench: Bench) -> None:
    write(bench.work / "b.txt", text({10: "mine", 1: "edit"}))
    bench.run("rebase", "--autostash")
    bench.git("commit", "--quiet", "--all", "--message", "Edit")
    bench.git("-c", "core.editor=true", "rebase", "--quiet", "--exec", "false", "HEAD~1", fails=True)
    before = snapshot(bench)

    assert (bench.run("undo").code, snapshot(bench)) == (3, before)


def test_a_branch_that_was_renamed_leaves_only_taking_it_back(bench: Bench) -> None:
    conflict(bench)
    bench.run("rebase")
    bench.git("rebase", "--abort")
    bench.git("branch", "--move", "renamed")

    result = bench.run("continue", "--json")

    assert [step["argv"] for step in result.json["next"]] in ([], [["mergeready", "abort"]])


def test_a_repository_that_is_moved_while_a_rebase_stands_goes_on(bench: Bench) -> None:
    conflict(bench)
    write(bench.work / "b.txt", text({10: "mine", 1: "edit"}))
    before = snapshot(bench, ours=False)
    bench.run("rebase", "--autostash")
    moved = bench.work.rename(bench.root / "moved")

    assert bench.run("abort", at=moved).code == 0
    moved.rename(bench.work)
    assert snapshot(bench, ours=False) == before


def test_commands_that_are_named_can_be_typed_where_the_user_is(bench: Bench) -> None:
    bench.upstream("Theirs", {"folder/c.txt": text({5: "theirs"}), "new/n.txt": "theirs\n"})
    bench.commit("Mine", {"folder/c.txt": text({5: "mine"})})
    write(bench.work / "new/n.txt", "mine\n")
    folder = bench.work / "folder"

    in_the_way = bench.run("rebase", "--json", at=folder)
    bench.run("rebase", "--backup-ignored", at=folder)
    write(folder / "c.txt", text({5: "both"}))
    unresolved = bench.run("continue", "--json", at=folder)
    bench.git(*unresolved.json["next"][0]["argv"][1:], at=folder)

    assert in_the_way.json["next"][0]["argv"] == ["mv", "--", "../new/n.txt", "../new/n.txt.mine"]
    assert bench.run("continue", at=folder).code == 0


def test_commits_without_a_message_are_gone_on_with(bench: Bench) -> None:
    conflict(bench)
    bench.git("reset", "--quiet", "--hard", "main")
    write(bench.work / "a.txt", text({3: "mine"}))
    bench.git("commit", "--quiet", "--all", "--allow-empty-message", "--message", "")

    rehearsed = bench.run("rebase", "--dry-run", "--fetch")
    stopped = bench.run("rebase")
    write(bench.work / "a.txt", text({3: "both"}))
    bench.git("add", "a.txt")

    assert (rehearsed.code, stopped.code, bench.run("continue").code) == (0, 4, 0)
    assert bench.git("log", "-1", "--format=%an %B").strip() == "Ada Author"


def test_a_branch_that_has_taken_the_name_of_one_that_is_gone_is_explained(bench: Bench) -> None:
    bench.run("rebase")
    up: Path = bench.root / "up.git"
    bench.git("branch", "--move", "main", "other", at=up)
    bench.git("branch", "--move", "other", "main/v2", at=up)

    result = bench.run("rebase")
    bench.git("remote", "prune", "upstream")

    assert (result.code, result.err.strip().endswith("git remote prune upstream")) == (6, True)
    assert bench.run("rebase").code == 0


def test_a_conflict_in_a_file_with_a_line_end_in_its_name_is_not_taken_for_remembered(bench: Bench) -> None:
    bench.git("config", "rerere.enabled", "true")
    bench.upstream("Theirs", {"a\nb.txt": "theirs\n"})
    bench.commit("Mine", {"a\nb.txt": "mine\n"})

    result = bench.run("rebase", "--rerere-continue", "--json")

    assert (result.code, [found["remembered"] for found in result.json["conflicts"]]) == (4, [False])


def stopped_squash(bench: Bench) -> Path:
    """A squashed sync that has stopped at a conflict; the worktree in which it waits."""
    own = bench.commit("Own", {"d.txt": "own\n"})
    bench.git("push", "--quiet", str(bench.root / "fork.git"), f"{own}:refs/heads/main")
    assert bench.run("sync", "--via-pr").code == 4
    return next((bench.work / ".git/mergeready/worktrees").iterdir())


def test_undo_of_a_squashed_sync_that_has_stopped_keeps_what_was_resolved(bench: Bench) -> None:
    write(stopped_squash(bench) / "d.txt", "both\n")

    assert bench.run("undo", "--dry-run").code == 0
    undone = bench.run("undo")
    bench.run("status")

    kept = [path.read_text("utf-8") for path in (bench.work / ".git/mergeready").rglob("d.txt") if path.is_file()]
    assert (undone.code, kept) == (0, ["both\n"])


def test_a_rehearsal_of_a_squashed_sync_names_its_conflicts(bench: Bench) -> None:
    stopped_squash(bench)
    bench.run("abort")

    rehearsed = bench.run("sync", "--via-pr", "--dry-run")

    assert (rehearsed.code, "  d.txt: both added it" in rehearsed.out.split("\n")) == (0, True)


def test_making_a_fork_equal_that_has_nothing_of_its_own_needs_no_word(bench: Bench) -> None:
    assert bench.run("sync", "--realign").code == 0
    assert bench.at_fork("refs/heads/main") == bench.oid("refs/heads/main", bench.root / "up.git")


def test_comments_begin_as_the_user_has_chosen(bench: Bench) -> None:
    bench.git("config", "core.commentChar", ";")
    write(bench.work / "message", "Title\n\n# heading, @bob\n; a comment, #1\n; ---- >8 ----\n#2\n")

    found = bench.run("refs-check", "message", "--json").json["items"]

    assert [item["text"] for item in found] == ["@bob"]
