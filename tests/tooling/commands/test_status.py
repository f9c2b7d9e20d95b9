"""The picture that `mergeready status` draws."""

from __future__ import annotations

from tests.tooling.commands.git_commands import bench, stable, template
from tests.tooling.git.repositories import Bench, text, write

__all__ = ["bench", "template"]


ASK = """ask upstream, and see what a rebase would do:
    mergeready rebase --dry-run --fetch
"""


def test_before_upstream_was_ever_asked_there_is_only_the_fork(bench: Bench) -> None:
    assert stable(bench, bench.run("status")) == """feature; upstream was never asked where it stands
  ┌ origin/feature  ID  the same as here
  └ feature         ID
""" + ASK


def test_on_a_main_branch_that_is_behind_it_offers_a_sync(bench: Bench) -> None:
    bench.git("fetch", "--quiet", "upstream")
    bench.git("switch", "--quiet", "main")

    assert [step["argv"] for step in bench.run("status", "--json").json["next"]] == [["mergeready", "sync"]]


def test_behind_upstream_it_offers_a_rebase(bench: Bench) -> None:
    bench.git("fetch", "--quiet", "upstream")
    write(bench.work / "a.txt", "edit\n")
    write(bench.work / "new.txt", "new\n")

    assert stable(bench, bench.run("status")) == """feature is 1 commit behind upstream/main
  ┌ upstream/main   ID  1 commit that you do not have
  ├ origin/feature  ID  the same as here
  └ feature         ID  2 commits of its own
    1 file with edits, 1 untracked
replay your commits on upstream:
    mergeready rebase
"""


def test_after_a_rebase_it_offers_a_push(bench: Bench) -> None:
    bench.run("rebase")

    assert stable(bench, bench.run("status")) == """feature is up to date
  ┌ upstream/main   ID  0 commits that you do not have
  ├ origin/feature  ID  differs: 2 commits there, 3 here
  └ feature         ID  2 commits of its own
    before the rebase, kept as refs/mergeready/backup/feature/TIME; back with: mergeready undo
bring it to your fork:
    mergeready push
"""


def test_at_a_conflict_it_says_where_and_what_to_run(bench: Bench) -> None:
    bench.upstream("Change line 3", {"a.txt": text({3: "theirs"})})
    bench.run("rebase")

    assert stable(bench, bench.run("status")) == """a rebase of feature stopped, at commit 1 of 2, 1 file in conflict
  ┌ upstream/main   ID  2 commits that you do not have
  ├ origin/feature  ID  the same as here
  └ feature         ID  2 commits of its own
    1 file with edits, 0 untracked
    before the rebase, kept as refs/mergeready/backup/feature/TIME; back with: mergeready undo
go on:
    mergeready continue
or take it back:
    mergeready abort
"""


def test_what_git_has_begun_itself_is_told_with_its_own_ways_out(bench: Bench) -> None:
    bench.upstream("Change line 3", {"a.txt": text({3: "theirs"})})
    bench.git("fetch", "--quiet", "upstream")
    bench.git("merge", "--quiet", "upstream/main", fails=True)

    result = bench.run("status", "--json")

    assert (result.json["summary"], [step["argv"] for step in result.json["next"]]) == (
        "a merge is in progress",
        [["git", "merge", "--continue"], ["git", "merge", "--abort"]],
    )


def test_status_changes_nothing_and_needs_no_remote(bench: Bench) -> None:
    bench.git("remote", "remove", "upstream")
    bench.git("remote", "remove", "origin")

    assert stable(bench, bench.run("status")) == (
        f"feature; upstream was never asked where it stands\n  ─ feature  ID\n{ASK}"
    )
