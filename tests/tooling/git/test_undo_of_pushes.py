"""Undo after a push: what is said of the fork is true, and the command that puts it back stays at hand."""

from __future__ import annotations

import pytest

from tests.tooling.git.repositories import Bench


def test_undo_of_a_push_alone_says_that_nothing_here_has_changed(bench: Bench) -> None:
    bench.run("rebase")
    bench.run("push")

    undone = bench.run("undo", "--json")

    assert undone.json["summary"] == "the push of feature has changed nothing here"
    assert undone.json["next"][0]["why"] == "origin still has it; to put that back"
    assert bench.run("undo").said == "rebase is undone"


def test_a_fork_that_cannot_be_reached_is_named_and_can_be_put_back_later(bench: Bench) -> None:
    old = bench.at_fork()
    bench.run("rebase", "--push")
    (bench.root / "fork.git").rename(bench.root / "gone.git")

    undone = bench.run("undo", "--push", "--json")
    (bench.root / "gone.git").rename(bench.root / "fork.git")
    bench.git(*undone.json["next"][0]["argv"][1:])

    assert (undone.code, undone.json["summary"].partition(":")[0]) == (5, "rebase is undone, and origin is as it was")
    assert (bench.oid(), bench.at_fork()) == (old, old)


@pytest.mark.parametrize("known", [True, False])
def test_undo_of_a_sync_puts_the_fork_where_it_was_and_not_where_it_was_last_seen(bench: Bench, known: bool) -> None:
    fork = bench.root / "fork.git"
    bench.git("push", "--quiet", str(fork), "HEAD:refs/heads/main", at=bench.other)
    bench.upstream("Add e", {"e.txt": "e\n"})
    if not known:
        bench.git("update-ref", "-d", "refs/remotes/origin/main")
    before = bench.at_fork("refs/heads/main")

    assert [bench.run("sync").code, bench.run("undo", "--push").code] == [0, 0]
    assert bench.at_fork("refs/heads/main") == before
