"""`--dry-run` of `continue`, `skip` and `abort`: it tells what would be done, and nothing is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tooling.git.repositories import Bench, Result, snapshot, text, write
from tests.tooling.git.test_matrix_rebase import refused


def stopped(bench: Bench) -> None:
    """A rebase stands at a conflict in the first of two commits, with edits put away."""
    bench.upstream("Change line 3", {"a.txt": text({3: "theirs"})})
    write(bench.work / "b.txt", text({10: "mine", 1: "edit"}))
    assert bench.run("rebase", "--autostash").code == 4


def foretold(bench: Bench, command: str) -> Result:
    """What a dry run says; nothing changes by it."""
    before = snapshot(bench)
    result = bench.run(command, "--dry-run", "--json")
    assert snapshot(bench) == before
    return result


def test_what_is_still_in_conflict_is_told_as_without_a_dry_run(bench: Bench) -> None:
    stopped(bench)

    result = foretold(bench, "continue")

    assert (result.code, result.json["details"]) == (4, ["a.txt: both changed it"])


def test_the_steps_that_are_left_are_told(bench: Bench) -> None:
    stopped(bench)
    write(bench.work / "a.txt", text({3: "both"}))
    bench.git("add", "a.txt")

    result = foretold(bench, "continue")

    assert (result.code, result.json["status"], result.json["summary"]) == (
        0,
        "planned",
        "would go on with the rebase of feature",
    )
    assert [item["action"] for item in result.json["items"]] == ["rebase", "put-back"]
    assert [line.split(" ", 4)[:3] for line in result.json["details"]] == [["go", "on", "after"]]
    assert result.json["details"][0].endswith("Change line 3 of a")


def test_the_commit_that_would_be_left_out_is_named(bench: Bench) -> None:
    stopped(bench)

    (line,) = foretold(bench, "skip").json["details"]

    assert (line.startswith("leave out "), line.endswith("Change line 3 of a")) == (True, True)


def test_what_would_come_back_is_told(bench: Bench) -> None:
    stopped(bench)

    result = foretold(bench, "abort")

    assert (result.code, result.json["summary"]) == (0, "would take back the rebase of feature")
    assert result.json["details"] == ["edits come back: b.txt"]


@pytest.mark.parametrize("command", ["continue", "skip", "abort"])
def test_where_nothing_is_open_there_is_nothing_to_do(bench: Bench, command: str) -> None:
    assert foretold(bench, command).json["status"] == "nothing to do"


def _squash(bench: Bench) -> Path:
    bench.reviewer("Fork's own", {"a.txt": text({3: "fork"})}, branch="main")
    bench.upstream("Upstream's", {"a.txt": text({3: "upstream"})})
    assert bench.run("sync", "--via-pr").code == 4
    return next((bench.work / ".git/mergeready/worktrees").iterdir())


def test_a_squashed_sync_tells_too_and_has_nothing_to_skip(bench: Bench) -> None:
    place = _squash(bench)

    assert refused(bench, "skip") == (3, "nothing-to-skip")
    assert foretold(bench, "abort").json["summary"] == f"would give up the sync, and drop {place.as_posix()}"
    write(place / "a.txt", text({3: "both"}))
    bench.git("add", "a.txt", at=place)
    result = foretold(bench, "continue")
    assert (result.json["status"], [item["action"] for item in result.json["items"]]) == ("planned", ["move", "move"])
    assert (bench.run("continue").code, place.exists()) == (0, False)


def test_a_rehearsal_asks_no_remote_and_tells_of_upstream_as_it_was_last_fetched(bench: Bench) -> None:
    bench.git("fetch", "--quiet", "upstream")
    bench.upstream("Change line 3", {"a.txt": text({3: "theirs"})})
    (bench.root / "up.git").rename(bench.root / "away.git")
    known = bench.refs("work")

    result = foretold(bench, "rebase")

    assert (result.code, result.json["conflicts"], bench.refs("work")) == (0, [], known)
    assert [warning["code"] for warning in result.json["warnings"]] == ["not-asked"]


@pytest.mark.parametrize("command", ["rebase", "sync"])
def test_what_was_never_fetched_is_asked_for_only_with_fetch(bench: Bench, command: str) -> None:
    refs = bench.refs("work")

    code, reason = refused(bench, command, "--dry-run")
    unchanged = bench.refs("work") == refs
    ask = bench.run(command, "--dry-run", "--json").json["next"][0]["argv"]

    assert (code, reason, unchanged) == (3, "not-fetched", True)
    assert ask == ["mergeready", command, "--dry-run", "--fetch"]
    assert bench.run(*ask[1:]).code == 0


def test_a_branch_of_upstream_can_be_named_in_a_rehearsal_as_it_is_known(bench: Bench) -> None:
    bench.upstream("Next", {"next.txt": "x\n"}, branch="main")
    bench.git("fetch", "--quiet", "upstream")

    assert bench.run("rebase", "--dry-run", "--onto", "upstream/main").code == 0
    assert refused(bench, "rebase", "--dry-run", "--onto", "upstream/other") == (3, "not-fetched")
    assert bench.run("rebase", "--dry-run", "--onto", "main").code == 0


def test_a_rehearsal_on_a_main_branch_is_refused_without_asking(bench: Bench) -> None:
    bench.git("fetch", "--quiet", "upstream")
    bench.git("switch", "--quiet", "main")

    assert refused(bench, "rebase", "--dry-run") == (3, "on-main")
