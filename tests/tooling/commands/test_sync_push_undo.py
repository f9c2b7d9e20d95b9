"""What `mergeready sync`, `push` and `undo` say, word for word, and how they ask."""

from __future__ import annotations

import sys

import pytest

from tests.tooling.commands.git_commands import bench, stable, template
from tests.tooling.git.repositories import Bench
from tests.tooling.git.terminal import typed

__all__ = ["bench", "template"]


def test_a_fast_forward_is_one_line_and_a_way_back(bench: Bench) -> None:
    assert stable(bench, bench.run("sync")) == """bring main up to date with upstream/main: 1 commit
take it back:
    mergeready undo
"""


def test_a_squashed_sync_suggests_a_title_and_a_body(bench: Bench) -> None:
    assert stable(bench, bench.run("sync", "--via-pr")) == """\
Bring main up to date with upstream, DAY: one commit on sync/upstream-DAY
  suggested title: Bring main up to date with upstream, DAY
  suggested body: 1 commit of upstream in one.
push it:
    git push origin refs/heads/sync/upstream-DAY:refs/heads/sync/upstream-DAY
take it back:
    mergeready undo
"""


def _answer(bench: Bench, words: str) -> int:
    """Run a realignment at a terminal and type these words."""
    bench.reviewer("Fork's own", {"own.txt": "x\n"}, branch="main")
    return typed(bench, ("sync", "--realign"), words)[0]


needs_terminal = pytest.mark.skipif(sys.platform == "win32", reason="there is no such terminal on Windows")


@needs_terminal
def test_realigning_asks_for_the_name_and_takes_no_other(bench: Bench) -> None:
    upstream = bench.oid("refs/heads/main", at=bench.root / "up.git")

    assert (_answer(bench, "yes"), bench.at_fork("refs/heads/main") == upstream) == (3, False)


@needs_terminal
def test_realigning_goes_ahead_once_the_name_was_typed(bench: Bench) -> None:
    upstream = bench.oid("refs/heads/main", at=bench.root / "up.git")

    assert (_answer(bench, "origin/main"), bench.at_fork("refs/heads/main") == upstream) == (0, True)


def test_a_push_shows_its_command_and_says_where_it_went(bench: Bench) -> None:
    bench.run("rebase")

    planned, done, again = (stable(bench, bench.run("push", *options)) for options in (("--dry-run",), (), ()))

    assert planned == """push feature to origin, only if ID is still there
  push feature to origin, only if ID is still there
    git push --porcelain --progress --force-with-lease=refs/heads/feature:ID --end-of-options origin \
refs/heads/feature:refs/heads/feature
"""
    assert (done, again) == ("feature is on origin\n", "feature is on origin already\n")


def test_a_stale_lease_says_what_happened_and_never_to_force(bench: Bench) -> None:
    bench.run("rebase")
    bench.reviewer("Fix a typo", {"e.txt": "e\n"})

    assert stable(bench, bench.run("push")) == """\
error: feature was not pushed: stale: feature on origin has moved to ID, which you have not seen yet
look at what is there:
    git fetch origin +refs/heads/feature:refs/remotes/origin/feature
"""


def test_undo_lists_what_it_can_take_back_and_takes_back_the_newest(bench: Bench) -> None:
    bench.run("rebase")
    bench.run("push")

    listed = stable(bench, bench.run("undo", "--list"))
    promised = stable(bench, bench.run("undo", "--dry-run"))
    undone = [stable(bench, bench.run("undo")).partition("\n")[0] for _ in range(3)]

    assert listed == """can be taken back, newest first:
  TIME  push of feature, finished
  TIME  rebase of feature, finished; before: ID
"""
    assert promised == "would take back the push of feature\n"
    assert undone == ["the push of feature has changed nothing here", "rebase is undone", "there is nothing to undo"]


def test_undo_refuses_once_the_branch_has_moved_on(bench: Bench) -> None:
    bench.run("rebase")
    bench.commit("More work", {"more.txt": "x\n"})
    tip = bench.oid()

    result = bench.run("undo", "--json")

    assert (result.code, result.json["items"], bench.oid()) == (3, [{"code": "moved-since"}], tip)


def test_undo_keeps_work_that_went_on_in_other_files_and_refuses_where_it_overlaps(bench: Bench) -> None:
    bench.run("rebase")
    (bench.work / "folder/c.txt").write_text("later\n", encoding="utf-8")

    kept = bench.run("undo")
    later = (bench.work / "folder/c.txt").read_text(encoding="utf-8")
    bench.git("checkout", "--quiet", "folder/c.txt")
    bench.run("rebase")
    (bench.work / "d.txt").write_text("changed\n", encoding="utf-8")
    refused = bench.run("undo", "--json")

    assert (kept.code, later) == (0, "later\n")
    assert (refused.code, refused.json["items"], refused.json["details"]) == (3, [{"code": "overlap"}], ["d.txt"])
