"""Shallow clones (row 14): refused with what the rest costs, made whole when asked, and used where enough is here."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tooling.git.repositories import Bench, snapshot
from tests.tooling.git.test_matrix_environment import fake_git
from tests.tooling.git.test_matrix_rebase import refused
from tooling.git.shallow import _Progress


def shallow(bench: Bench, *options: str, depth: int = 1) -> Path:
    """A clone of the fork in which history is cut off; the remotes are asked as if they were far away."""
    place = bench.root / "shallow"
    for name in ("fork.git", "up.git"):
        bench.git("config", "uploadpack.allowFilter", "true", at=bench.root / name)
    fork = bench.url("fork.git")
    arguments = ("--quiet", f"--depth={depth}", "--branch=feature", *options)
    bench.git("clone", *arguments, fork, str(place), at=bench.root)
    bench.git("remote", "add", "upstream", bench.url("up.git"), at=place)
    return place


def long_ago(bench: Bench) -> None:
    """Upstream has a history of some length, which the fork has too, before the branch."""
    for number in range(5):
        bench.upstream(f"Old {number}", {"old.txt": f"{number}\n"})
    bench.git("fetch", "--quiet", "upstream")
    bench.git("rebase", "--quiet", "upstream/main")
    bench.git("push", "--quiet", "--force", "origin", "feature")
    bench.git("push", "--quiet", "origin", "upstream/main:refs/heads/main")
    bench.upstream("New", {"e.txt": "new\n"})


@pytest.mark.parametrize("command", [("rebase",), ("sync",), ("sync", "--via-pr"), ("rebase", "--dry-run")])
def test_row_14_a_shallow_clone_is_refused_and_nothing_of_upstream_is_fetched(
    bench: Bench, command: tuple[str, ...]
) -> None:
    place = shallow(bench)

    assert refused(bench, *command, at=place) == (3, "shallow")
    assert bench.git("for-each-ref", "refs/remotes/upstream", at=place) == ""


def test_row_14_the_refusal_says_what_the_rest_costs_and_how_to_get_it(bench: Bench) -> None:
    long_ago(bench)
    place = shallow(bench)

    result = bench.run("rebase", "--json", at=place)

    here, fork, upstream = result.json["details"]
    assert here.startswith("here: 1 commit, ")
    assert fork.startswith("origin/main: 7 commits more, ")
    assert upstream.startswith("upstream/main: 8 commits more, ")
    assert [step["argv"] for step in result.json["next"]] == [
        ["mergeready", "rebase", "--unshallow"],
        ["mergeready", "rebase", "--unshallow", "--dry-run"],
    ]
    assert list((place / ".git/mergeready").glob("estimate-*")) == []


def test_row_14_where_the_rest_cannot_be_counted_it_says_so(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    place = shallow(bench)
    slow = fake_git(bench, 'case "$*" in *--filter=tree:0*) exec sleep 60;; esac; exec "$GIT" "$@"')
    monkeypatch.setenv("PATH", slow["PATH"])
    monkeypatch.setattr("tooling.git.shallow._SECONDS", 0.1)

    result = bench.run("rebase", "--json", at=place)

    assert result.json["details"][1:] == [
        "origin/main: it cannot be told how many commits more there are",
        "upstream/main: it cannot be told how many commits more there are",
    ]


def test_row_14_a_dry_run_tells_what_would_be_fetched_and_fetches_nothing(bench: Bench) -> None:
    place = shallow(bench)
    before = snapshot(bench, place)

    results = [bench.run(command, "--unshallow", "--dry-run", "--json", at=place) for command in ("rebase", "sync")]

    assert [result.code for result in results] == [0, 0]
    assert [item["argv"][-2:] for item in results[0].json["items"]] == [
        ["refs/heads/feature", "refs/heads/main"],
        ["upstream", "refs/heads/main"],
    ]
    assert (snapshot(bench, place), bench.git("rev-parse", "--is-shallow-repository", at=place)) == (before, "true")


@pytest.mark.parametrize("options", [(), ("--no-single-branch",)])
@pytest.mark.parametrize("depth", [1, 2])
def test_row_14_the_rest_is_fetched_when_asked_and_the_branch_is_rebased(
    bench: Bench, options: tuple[str, ...], depth: int
) -> None:
    long_ago(bench)
    place = shallow(bench, *options, depth=depth)
    seen = bench.oid("refs/remotes/origin/feature", at=place)

    result = bench.run("rebase", "--unshallow", at=place)

    subjects = bench.git("log", "--format=%s", "-4", at=place).split("\n")
    assert (result.code, subjects) == (0, ["Change line 10 of b", "Change line 3 of a", "New", "Old 4"])
    assert bench.git("rev-parse", "--is-shallow-repository", at=place) == "false"
    assert bench.oid("refs/remotes/origin/feature", at=place) == seen
    assert (bench.run("undo", at=place).code, bench.oid(at=place)) == (0, seen)
    assert bench.run("rebase", "--unshallow", at=place).code == 0


def test_row_14_a_sync_fetches_the_rest_when_asked(bench: Bench) -> None:
    long_ago(bench)
    place = shallow(bench)

    assert bench.run("sync", "--unshallow", at=place).code == 0
    assert bench.at_fork("refs/heads/main") == bench.oid("refs/heads/main", at=bench.root / "up.git")


def test_row_14_a_reviewers_commit_that_comes_with_the_rest_still_stops_the_push(bench: Bench) -> None:
    place = shallow(bench)
    theirs = bench.reviewer("Fix a typo", {"e.txt": "e\n"})

    result = bench.run("rebase", "--unshallow", "--push", at=place)

    assert (result.code, "stale" in result.said, bench.at_fork()) == (5, True, theirs)


def test_row_14_enough_history_is_enough(bench: Bench) -> None:
    long_ago(bench)
    place = shallow(bench, "--no-single-branch", depth=4)
    bench.git("fetch", "--quiet", "upstream", at=place)
    assert bench.git("rev-parse", "--is-shallow-repository", at=place) == "true"

    result = bench.run("rebase", at=place)

    assert (result.code, bench.git("log", "-1", "--format=%s", "feature~2", at=place)) == (0, "New")
    assert bench.git("rev-parse", "--is-shallow-repository", at=place) == "true"


def test_row_14_a_base_that_is_only_the_edge_of_what_is_here_is_not_believed(bench: Bench) -> None:
    """Upstream merges a branch that began before the cut: what it brought may be the better base."""
    bench.git("switch", "--quiet", "--detach", "main")
    bench.commit("Old side", {"side.txt": "1\n"})
    side = bench.oid()
    bench.git("switch", "--quiet", "feature")
    long_ago(bench)
    bench.git("fetch", "--quiet", "upstream")
    bench.git("switch", "--quiet", "--detach", "upstream/main")
    bench.git("merge", "--quiet", "--no-edit", side)
    bench.git("push", "--quiet", "upstream", "HEAD:refs/heads/main")
    bench.git("switch", "--quiet", "feature")
    place = shallow(bench, "--no-single-branch", depth=4)
    bench.git("fetch", "--quiet", "--depth=3", "upstream", at=place)

    assert refused(bench, "rebase", at=place) == (3, "shallow")
    assert bench.run("rebase", "--unshallow", at=place).code == 0


def test_row_14_a_branch_that_no_remote_has_any_more_is_told(bench: Bench) -> None:
    place = shallow(bench)
    bench.git("update-ref", "-d", "refs/heads/feature", at=bench.root / "fork.git")
    bench.git("gc", "--quiet", "--prune=now", at=bench.root / "fork.git")
    before = bench.oid(at=place)

    result = bench.run("rebase", "--unshallow", "--json", at=place)

    assert (result.code, result.json["items"], bench.oid(at=place)) == (3, [{"code": "shallow"}], before)
    assert result.json["summary"] == "the history is still cut off: neither remote has what comes before it"


def test_progress_is_told_at_every_tenth_and_never_raw() -> None:
    told: list[str] = []
    progress = _Progress(told.append)
    for piece in (
        b"remote: \x1b[31mCounting objects: 50% (1/2)\r",
        b"Receiving objects:   3% (3/100)\rReceiving objects:   4% (4/100)\r",
        b"Receiving objects:  41% (41/100), 1.25 MiB | 2.00 MiB/s\r",
        b"Resolving deltas: 100% (7/7), done.\n",
    ):
        progress.hear(piece)

    assert told == [
        "receiving objects: 3%, 3 of 100",
        "receiving objects: 41%, 41 of 100, 1.25 MiB",
        "resolving deltas: 100%, 7 of 7",
    ]
