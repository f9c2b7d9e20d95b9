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
