"""A git that is killed in the middle of a commit: going on loses no commit, and a lock that it left is named."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.tooling.git.faults import Fault, Injector
from tests.tooling.git.repositories import Bench, copy_of, snapshot, text, write
from tooling.git.command import Git
from tooling.git.plan import RefusedError

posix = pytest.mark.skipif(sys.platform == "win32", reason="a shell and signals of POSIX")


def kill_git_at(bench: Bench, name: str, *, spared: bool = False) -> None:
    """Have git killed the next time that it writes this file, or the time after that where one is `spared`.

    A rebase writes what its first commit changes twice: when it checks out what it goes onto, and for the commit.
    """
    armed, spare = bench.root / "armed", bench.root / "spare"
    armed.touch()
    if spared:
        spare.touch()
    kill = f"if test -e '{armed}'; then rm '{armed}'; kill -KILL $PPID; fi"
    smudge = f"if test -e '{spare}'; then rm '{spare}'; else {kill}; fi; cat"
    bench.git("config", "filter.kill.smudge", smudge)
    bench.git("config", "filter.kill.clean", "cat")
    write(bench.work / ".git/info/attributes", f"{name} filter=kill\n")


def unlock(bench: Bench) -> None:
    """Remove the lock that the killed git has left, as the message says."""
    (bench.work / ".git/index.lock").unlink()


@posix
def test_the_commit_that_git_was_killed_at_is_replayed_when_it_is_gone_on_with(bench: Bench, tmp_path: Path) -> None:
    undisturbed = copy_of(bench.root, tmp_path / "undisturbed")
    write(undisturbed.work / ".git/info/attributes", "a.txt filter=kill\n")
    assert undisturbed.run("rebase").code == 0
    kill_git_at(bench, "a.txt", spared=True)
    assert bench.spawn("rebase").code == 6
    unlock(bench)

    asked = bench.run("continue", "--dry-run").out
    done = bench.run("continue", "--json")

    assert "git was cut off in the middle of a commit: take it back, and begin again" in asked
    assert (done.code, done.json["dropped"]) == (0, [])
    assert snapshot(bench, ours=False) == snapshot(undisturbed, ours=False)


@posix
def test_a_rebase_that_was_cut_off_stands_at_no_commit_that_could_be_left_out(bench: Bench) -> None:
    kill_git_at(bench, "a.txt", spared=True)
    bench.spawn("rebase")
    unlock(bench)

    skipped = bench.run("skip", "--json")

    assert (skipped.code, skipped.json["items"]) == (3, [{"code": "cut-off"}])
    assert [step["argv"] for step in skipped.json["next"]] == [["mergeready", "continue"], ["mergeready", "abort"]]


@posix
def test_a_git_that_was_killed_before_the_first_commit_leaves_something_to_take_back(bench: Bench) -> None:
    before = snapshot(bench, ours=False)
    kill_git_at(bench, "a.txt")

    killed = bench.spawn("rebase")
    opened = bench.run("status", "--json").json["items"][0]["open"]
    unlock(bench)
    aborted = bench.run("abort")

    assert (killed.code, opened["command"]) == (6, "rebase")
    assert (aborted.code, snapshot(bench, ours=False)) == (0, before)


@posix
def test_what_was_resolved_before_git_was_killed_is_not_dropped_by_beginning_again(bench: Bench) -> None:
    bench.upstream("Change line 3", {"a.txt": text({3: "theirs"})})
    before = snapshot(bench, ours=False)
    assert bench.run("rebase").code == 4
    write(bench.work / "a.txt", text({3: "both"}))
    bench.git("add", "a.txt")
    kill_git_at(bench, "b.txt")
    assert bench.spawn("continue").code == 6
    unlock(bench)

    again = bench.run("continue", "--json")
    resolved = bench.git("show", "HEAD:a.txt") + "\n"
    aborted = bench.run("abort")

    assert (again.code, again.json["items"], resolved) == (3, [{"code": "cut-off"}], text({3: "both"}))
    assert (aborted.code, snapshot(bench, ours=False)) == (0, before)


@posix
def test_an_undo_that_is_interrupted_says_how_to_finish_it(bench: Bench, tmp_path: Path) -> None:
    assert bench.run("rebase").code == 0

    interrupted = Injector(bench, tmp_path / "faults").run(("undo", "--json"), Fault(1, "before", "us", "SIGINT"))

    assert (interrupted.code, [step["argv"] for step in interrupted.json["next"]]) == (
        130,
        [["mergeready", "status"], ["mergeready", "undo"]],
    )


def test_a_rebase_that_came_to_nothing_stays_open_while_a_lock_stands_against_taking_it_back(bench: Bench) -> None:
    write(bench.work / "b.txt", text({10: "mine", 1: "edit"}))
    before = snapshot(bench, ours=False)
    bench.hook("pre-rebase", "touch .git/index.lock; exit 1")

    refused = bench.run("rebase", "--autostash", "--json")
    unlock(bench)
    aborted = bench.run("abort")

    (remove, lock), take_back = (step["argv"] for step in refused.json["next"])
    assert (refused.code, refused.json["items"]) == (6, [{"code": "locked"}])
    assert (remove, Path(lock), take_back) == ("rm", bench.work / ".git/index.lock", ["mergeready", "abort"])
    assert (aborted.code, snapshot(bench, ours=False)) == (0, before)


@posix
@pytest.mark.parametrize("way", ["continue", "abort"])
def test_a_sync_that_a_lock_stopped_half_way_is_gone_on_with_or_taken_back(bench: Bench, way: str) -> None:
    bench.git("switch", "--quiet", "main")
    before = snapshot(bench, ours=False)
    kill_git_at(bench, "d.txt")

    killed = bench.run("sync", "--json")
    (bench.work / ".git/info/attributes").unlink()
    locked = bench.run("continue", "--json")
    left = bench.run("status", "--json").json["items"][0]["open"]
    unlock(bench)
    ended = bench.run(way)

    remove, *ways = (step["argv"] for step in locked.json["next"])
    assert (killed.code, bench.at_fork("refs/heads/main")) == (6, bench.oid("refs/remotes/upstream/main"))
    assert (locked.code, locked.json["items"], remove[0]) == (6, [{"code": "locked"}], "rm")
    assert (ways, left is None) == ([["mergeready", "continue"], ["mergeready", "abort"]], False)
    after = snapshot(bench, ours=False)
    assert (ended.code, after == before) == (0, way == "abort")
    assert way == "abort" or (bench.oid(), after["status"]) == (bench.oid("refs/remotes/upstream/main"), "")


def test_the_lock_of_a_branch_that_a_killed_git_has_left_is_named_before_anything_is_taken_back(bench: Bench) -> None:
    before = snapshot(bench, ours=False)
    assert bench.run("rebase").code == 0
    rebased = snapshot(bench)
    lock = bench.work / ".git/refs/heads/feature.lock"
    lock.touch()

    refused = bench.run("undo", "--json")

    assert (refused.code, refused.json["items"], snapshot(bench)) == (3, [{"code": "locked"}], rebased)
    remove, path = refused.json["next"][0]["argv"]
    assert (remove, Path(path)) == ("rm", lock)
    lock.unlink()
    assert (bench.run("undo").code, snapshot(bench, ours=False)) == (0, before)


def test_a_lock_that_git_finds_itself_is_named_by_its_file(bench: Bench) -> None:
    lock = bench.work / ".git/refs/heads/other.lock"
    lock.touch()

    with pytest.raises(RefusedError) as refused:
        Git(str(bench.work)).ask("update-ref", "refs/heads/other", bench.oid())

    ((remove, path),) = (step.argv for step in refused.value.next)
    assert (refused.value.code, remove, Path(path)) == ("locked", "rm", lock)
