"""What `mergeready rebase`, `continue`, `skip` and `abort` say, word for word."""

from __future__ import annotations

from tests.tooling.commands.git_commands import bench, stable, template
from tests.tooling.git.repositories import Bench, text, write

__all__ = ["bench", "template"]

RESOLVE = """resolve the files and add them, then:
    mergeready continue
leave this commit out:
    mergeready skip
or take all of it back:
    mergeready abort
"""


def test_a_rebase_lists_what_became_of_each_commit(bench: Bench) -> None:
    assert stable(bench, bench.run("rebase")) == """feature is rebased: 2 commits replayed
  ID = ID Change line 3 of a
  ID = ID Change line 10 of b
take it back:
    mergeready undo
"""


def test_a_dry_run_shows_what_conflicts_and_the_commands(bench: Bench) -> None:
    bench.upstream("Change line 3", {"a.txt": text({3: "theirs"})})

    assert (
        stable(bench, bench.run("rebase", "--dry-run", "--fetch"))
        == """replay 2 commits of feature on upstream/main, 2 commits ahead
  rehearsed: 2 commits in the result
  conflict in ID Change line 3 of a
    a.txt: both changed it
  keep the branch as it is now
    git update-ref refs/mergeready/backup/feature/TIME ID
  onto upstream/main at ID
    git rebase --merge --no-autostash --no-autosquash --no-fork-point --no-rebase-merges --no-reapply-cherry-picks \
--empty=drop --quiet --onto ID ID
"""
    )


def test_a_dry_run_tells_programs_which_commit_conflicts_in_what(bench: Bench) -> None:
    bench.upstream("Change both", {"a.txt": text({3: "theirs"}), "b.txt": text({10: "theirs"})})
    tip = bench.oid()

    result = bench.run("rebase", "--dry-run", "--fetch", "--json")

    conflicts = [item for item in result.json["items"] if "commit" in item]
    assert [(item["subject"], item["conflicts"]) for item in conflicts] == [
        ("Change line 3 of a", [{"path": "a.txt"}]),
        ("Change line 10 of b", [{"path": "b.txt"}]),
    ]
    assert (result.code, bench.oid(), bench.git("worktree", "list").count("\n")) == (0, tip, 0)


def test_a_conflict_says_whose_change_is_which_and_what_to_run(bench: Bench) -> None:
    bench.upstream("Change line 3", {"a.txt": text({3: "theirs"})})

    assert stable(bench, bench.run("rebase")) == ("""conflict at commit 1 of 2
  between <<<<<<< and ======= is upstream, below it is your commit
  a.txt: both changed it
""" + RESOLVE)


def test_continue_names_what_is_still_in_conflict_and_marks_what_it_changed(bench: Bench) -> None:
    bench.upstream("Change line 3", {"a.txt": text({3: "theirs"})})
    bench.run("rebase")

    first = stable(bench, bench.run("continue"))
    write(bench.work / "a.txt", text({3: "both"}))
    bench.git("add", "a.txt")
    second = stable(bench, bench.run("continue"))

    assert first == "1 file still in conflict\n  a.txt: both changed it\n"
    assert second == """feature is rebased: 2 commits replayed
  ID ! ID Change line 3 of a
  ID = ID Change line 10 of b
take it back:
    mergeready undo
"""


def test_abort_says_where_half_done_work_is_kept(bench: Bench) -> None:
    bench.upstream("Change line 3", {"a.txt": text({3: "theirs"})})
    bench.run("rebase")
    write(bench.work / "a.txt", "half done\n")

    said = stable(bench, bench.run("abort"))

    kept = list((bench.work / ".git/mergeready/journal").glob("*/kept/*/a.txt"))
    assert [path.read_text(encoding="utf-8") for path in kept] == ["half done\n"]
    assert said == """feature is as it was before the rebase
  what you had changed since is kept in ROOT/work/.git/mergeready/journal/TIME/kept/TIME
"""


def test_a_refusal_says_what_is_in_the_way_and_the_ways_out(bench: Bench) -> None:
    write(bench.work / "b.txt", "edit\n")

    assert stable(bench, bench.run("rebase")) == """error: 1 file with changes that are not committed
   M b.txt
Nothing was changed.
put them away for the while:
    mergeready rebase --autostash
or commit them:
    git commit -a
"""


def test_a_way_out_keeps_what_was_asked_for(bench: Bench) -> None:
    bench.upstream("Add a report", {"report.json": "{}\n"})
    write(bench.work / "report.json", "mine\n")
    write(bench.work / "b.txt", "edit\n")

    first = bench.run("rebase", "--push", "--onto", "upstream/main", "--json").json["next"][0]["argv"]
    second = bench.run(*first[1:], "--json").json["next"][1]["argv"]

    assert first == ["mergeready", "rebase", "--autostash", "--push", "--onto", "upstream/main"]
    assert second == ["mergeready", "rebase", "--backup-ignored", "--autostash", "--push", "--onto", "upstream/main"]
    assert (bench.run(*second[1:]).code, bench.at_fork()) == (0, bench.oid())


def test_another_branch_of_upstream_or_a_commit_that_is_here_can_be_named(bench: Bench) -> None:
    bench.upstream("Only on next", {"next.txt": "x\n"}, branch="main")
    bench.git("push", "--quiet", "origin", "HEAD:refs/heads/next", at=bench.other)

    named = bench.run("rebase", "--onto", "upstream/next", "--json")
    missing = bench.run("rebase", "--onto", "nowhere", "--json")
    here = bench.run("rebase", "--onto", "main", "--json")

    assert (named.code, bench.git("log", "-1", "--format=%s", "feature~2")) == (0, "Only on next")
    assert (missing.code, missing.json["items"]) == (3, [{"code": "no-such-commit"}])
    assert (here.code, here.json["status"]) == (0, "nothing to do")


def test_nothing_open_is_nothing_to_do(bench: Bench) -> None:
    results = [bench.run(command) for command in ("continue", "skip", "abort", "undo")]

    assert [(result.code, result.said) for result in results] == [
        (0, "there is nothing to continue"),
        (0, "there is nothing to skip"),
        (0, "there is nothing to abort"),
        (0, "there is nothing to undo"),
    ]


def test_a_second_rebase_on_top_of_one_that_stands_is_refused(bench: Bench) -> None:
    bench.upstream("Change line 3", {"a.txt": text({3: "theirs"})})
    bench.run("rebase")

    result = bench.run("rebase", "--json")

    assert (result.code, result.json["items"], [step["argv"] for step in result.json["next"]]) == (
        3,
        [{"code": "unfinished"}],
        [["mergeready", "continue"], ["mergeready", "abort"]],
    )
