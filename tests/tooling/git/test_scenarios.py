"""The scenarios of the specification that are about git, under their numbers."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from tests.tooling.git.repositories import Bench, snapshot, text, write

EVERY_FORM = """Merge pull request #12 from octo/cat

Fixes #3, closes GH-4, resolves octo/cat#5 and https://github.com/octo/cat/pull/6
Thanks @octocat, see 58eb52c0aa11 and C#7

Co-authored-by: Somebody <somebody@example.org>
"""


def test_s01_a_reviewers_commit_that_was_fetched_stops_the_rebase_before_it_begins(bench: Bench) -> None:
    theirs = bench.reviewer("Fix a typo", {"a.txt": text({3: "mine", 15: "theirs"})})
    bench.git("fetch", "--all", "--quiet")
    before, at_fork = snapshot(bench), bench.refs("fork.git")

    result = bench.run("rebase", "--push")

    assert (result.code, result.said) == (3, "the fork's feature has 1 commit that you do not have")
    assert f"  {theirs[:10]} Fix a typo (Ada Author <ada@example.org>)\n" in result.err
    assert (snapshot(bench), bench.refs("fork.git")) == (before, at_fork)


def test_s01_adopting_takes_the_reviewers_commit_in(bench: Bench) -> None:
    bench.reviewer("Fix a typo", {"a.txt": text({3: "mine", 15: "theirs"})})
    bench.git("fetch", "--all", "--quiet")

    result = bench.run("rebase", "--adopt", "--push")

    subjects = bench.git("log", "--format=%s", "upstream/main..").split("\n")
    assert (result.code, subjects) == (0, ["Fix a typo", "Change line 10 of b", "Change line 3 of a"])
    assert bench.at_fork() == bench.oid()


def test_s01_adopting_keeps_what_the_reviewer_reverted_reverted(bench: Bench) -> None:
    bench.reviewer("Revert line 3", {"a.txt": text()})
    bench.git("fetch", "--all", "--quiet")
    bench.commit("More", {"more.txt": "x\n"})

    result = bench.run("rebase", "--adopt")

    subjects = bench.git("log", "--format=%s", "upstream/main..").split("\n")
    assert (result.code, subjects) == (0, ["More", "Revert line 3", "Change line 10 of b", "Change line 3 of a"])
    assert (bench.work / "a.txt").read_text(encoding="utf-8") == text()


def test_s02_an_edit_that_conflicts_afterwards_is_kept_and_comes_back_byte_for_byte(bench: Bench) -> None:
    bench.upstream("Change line 18", {"a.txt": text({18: "upstream"})})
    write(bench.work / "a.txt", text({3: "mine", 18: "edit"}))
    edit, before = (bench.work / "a.txt").read_bytes(), snapshot(bench, ours=False)

    result = bench.run("rebase", "--autostash", "--json")

    assert (result.code, result.json["conflicts"]) == (
        4,
        [{"path": "a.txt", "kind": "both changed it", "remembered": False}],
    )
    assert bench.git("merge-base", "--is-ancestor", "upstream/main", "feature") == ""
    kept = bench.git("for-each-ref", "--format=%(refname)", "refs/mergeready/edits")
    assert bench.git("show", f"{kept}:a.txt") + "\n" == edit.decode()
    assert bench.run("undo").code == 0
    assert snapshot(bench, ours=False) == before


def test_s03_an_untracked_file_in_the_way_is_named_and_left(bench: Bench) -> None:
    bench.upstream("Add a report", {"report.json": "{}\n"})
    write(bench.work / "report.json", "precious\n")
    before = snapshot(bench)

    result = bench.run("rebase")

    assert (result.code, result.err.split("\n")[:2]) == (
        3,
        ["error: upstream/main has files where yours are, and git does not track yours", "  report.json"],
    )
    assert snapshot(bench) == before


def test_s04_a_squashed_sync_refers_to_nothing(bench: Bench) -> None:
    for number in range(3):
        bench.upstream(EVERY_FORM, {f"new{number}.txt": "x\n"})
    before, fork_main = snapshot(bench, ours=False), bench.at_fork("refs/heads/main")

    result = bench.run("sync", "--via-pr", "--json")

    branch = result.json["refs"][0]["ref"]
    assert result.code == 0
    assert bench.git("rev-list", "--parents", "-1", branch).split()[1:] == [fork_main]
    assert bench.oid(f"{branch}^{{tree}}") == bench.oid("upstream/main^{tree}")
    assert bench.run("refs-check", "--commit", branch).code == 0
    suggested = bench.root / "suggested.txt"
    write(suggested, "\n".join([branch, *result.json["details"]]))
    assert bench.run("refs-check", str(suggested)).code == 0
    bench.git("update-ref", "-d", branch)
    assert (snapshot(bench, ours=False), bench.at_fork("refs/heads/main")) == (before, fork_main)


def test_s06_the_users_own_stashes_are_never_touched(bench: Bench) -> None:
    for number in range(20):
        write(bench.work / "folder/c.txt", text({1: f"stash {number}"}))
        bench.git("stash", "push", "--quiet", "--message", f"stash {number}")
    bench.upstream("Change line 3", {"a.txt": text({3: "theirs"})})
    write(bench.work / "folder/c.txt", text({1: "edit"}))
    before = snapshot(bench, ours=False)

    codes = [bench.run("rebase", "--autostash").code, bench.run("abort").code, bench.run("undo").code]

    assert codes == [4, 0, 0]
    assert snapshot(bench, ours=False) == before


def test_s08_a_rebase_that_was_aborted_with_git_leaves_nothing_to_undo(bench: Bench) -> None:
    bench.upstream("Change line 3", {"a.txt": text({3: "theirs"})})
    before = snapshot(bench, ours=False)
    bench.run("rebase")
    bench.git("rebase", "--abort")

    results = [bench.run("undo"), bench.run("undo")]

    assert [(result.code, result.said) for result in results] == [(0, "there is nothing to undo")] * 2
    assert snapshot(bench, ours=False) == before
    assert bench.run("status", "--json").json["items"][0]["open"] is None


def test_s09_a_rebase_in_a_linked_worktree_is_seen_and_aborted_only_there(bench: Bench) -> None:
    bench.upstream("Change line 3", {"a.txt": text({3: "theirs"})})
    linked = bench.root / "linked"
    bench.git("switch", "--quiet", "main")
    bench.git("worktree", "add", "--quiet", str(linked), "feature")
    before, main_before = snapshot(bench, linked, ours=False), snapshot(bench, ours=False)

    assert bench.run("rebase", at=linked).code == 4
    seen = [bench.run("status", "--json", at=place).json["items"][0]["open"] for place in (linked, bench.work)]
    assert seen == [{"command": "rebase", "state": "stopped"}, None]
    elsewhere = bench.run("abort")
    assert (elsewhere.code, elsewhere.said) == (0, "there is nothing to abort")
    assert bench.run("abort", at=linked).code == 0
    assert (snapshot(bench, linked, ours=False), snapshot(bench, ours=False)) == (before, main_before)


def test_s13_a_rebase_goes_through_where_large_files_cannot_be_fetched(bench: Bench) -> None:
    smudge = bench.root / "smudge"
    write(smudge, '#!/bin/sh\n[ -n "$GIT_LFS_SKIP_SMUDGE" ] && exec cat\necho "smudge error: 404" >&2\nexit 2\n')
    smudge.chmod(0o755)
    for key, value in (("clean", "cat"), ("smudge", smudge.as_posix()), ("required", "true")):
        bench.git("config", f"filter.lfs.{key}", value)
    bench.upstream("Add a large file", {".gitattributes": "*.bin filter=lfs\n", "large.bin": "pointer\n"})

    result = bench.run("rebase", "--json")

    assert (result.code, [warned["code"] for warned in result.json["warnings"]]) == (0, ["lfs"])
    assert (bench.work / "large.bin").read_text(encoding="utf-8") == "pointer\n"


@pytest.mark.parametrize("cleanup", ["", "scissors", "verbatim", "whitespace"])
def test_s14_continue_needs_no_editor_and_keeps_the_message(bench: Bench, cleanup: str) -> None:
    message = "Change line 3\n\n# not a comment\n\nbody\n"
    if cleanup:
        bench.git("config", "commit.cleanup", cleanup)
    bench.git("reset", "--quiet", "--hard", "origin/main")
    bench.commit("x", {"a.txt": text({3: "mine"})})
    bench.git("commit", "--quiet", "--amend", "--cleanup=verbatim", "--message", message)
    bench.upstream("Change line 3", {"a.txt": text({3: "theirs"})})
    bench.git("branch", "--unset-upstream")
    bench.git("update-ref", "-d", "refs/remotes/origin/feature")
    bench.run("rebase")
    write(bench.work / "a.txt", text({3: "both"}))
    bench.git("add", "a.txt")

    start = time.monotonic()
    result = bench.spawn("continue", env={"EDITOR": "", "VISUAL": "", "TERM": "dumb"})

    assert (result.code, bench.git("log", "-1", "--format=%B")) == (0, message)
    assert time.monotonic() - start < 60  # an editor that nobody closes takes for ever


def test_s24_a_push_goes_to_the_branch_on_the_fork_whatever_is_configured(bench: Bench) -> None:
    bench.git("config", "remote.pushDefault", "upstream")
    bench.git("config", "push.default", "upstream")
    bench.git("fetch", "--quiet", "upstream")
    bench.git("branch", "--set-upstream-to=upstream/main")
    upstream, main = bench.refs("up.git"), bench.at_fork("refs/heads/main")

    result = bench.run("rebase", "--push")

    assert (result.code, bench.at_fork()) == (0, bench.oid())
    assert (bench.refs("up.git"), bench.at_fork("refs/heads/main")) == (upstream, main)


def test_s25_a_fork_with_a_commit_of_its_own_is_not_moved(bench: Bench) -> None:
    bench.reviewer("Only in the fork", {"own.txt": "x\n"}, branch="main")
    at_fork = bench.refs("fork.git")

    result = bench.run("sync")

    assert (result.code, result.said) == (3, "main on origin has 1 commit of its own, so it cannot be fast-forwarded")
    assert "Only in the fork" in result.err
    assert bench.refs("fork.git") == at_fork


def test_s26_line_ends_that_git_wants_normalised_are_told_from_edits(bench: Bench) -> None:
    bench.git("config", "core.autocrlf", "false")
    bench.commit("Windows line ends", {"crlf.txt": b"one\r\ntwo\r\n"})
    bench.commit("Ask for normalisation", {".gitattributes": "*.txt text eol=lf\n"})
    os.utime(bench.work / "crlf.txt", (1, 1))
    assert bench.git("status", "--porcelain") == " M crlf.txt"
    before = snapshot(bench)

    result = bench.run("rebase")

    assert (result.code, result.said) == (
        3,
        "files differ from their commit only in line ends: that is git's normalisation, not an edit of yours",
    )
    assert snapshot(bench) == before


def test_s27_a_message_that_refers_is_refused_with_its_spans_or_stripped(bench: Bench) -> None:
    before = snapshot(bench)

    refused = bench.run("sync", "--via-pr", "-m", "sync, thanks @bob (#7)")

    assert (refused.code, refused.err.split("\n")[1:3]) == (3, ["  1:14 mention: @bob", "  1:19 number: (#7)"])
    assert snapshot(bench) == before
    stripped = bench.run("sync", "--via-pr", "-m", "sync, thanks @bob (#7)", "--strip", "--json")
    assert bench.git("log", "-1", "--format=%B", stripped.json["refs"][0]["ref"]) == "sync, thanks bob"


def test_s28_a_staged_file_is_not_swept_into_a_squashed_sync(bench: Bench) -> None:
    write(bench.work / "staged.txt", "mine\n")
    bench.git("add", "staged.txt")
    index = bench.git("ls-files", "--stage")

    result = bench.run("sync", "--via-pr", "--json")

    branch = result.json["refs"][0]["ref"]
    assert bench.git("ls-tree", "-r", "--name-only", branch, "staged.txt") == ""
    assert bench.git("ls-files", "--stage") == index


@pytest.mark.parametrize("command", [("rebase",), ("sync",), ("sync", "--via-pr")])
def test_s30_unrelated_histories_are_refused(bench: Bench, command: tuple[str, ...]) -> None:
    unrelated = bench.root / "unrelated"
    bench.git("init", "--quiet", "--initial-branch=main", str(unrelated), at=bench.root)
    bench.commit("Elsewhere", {"z.txt": "z\n"}, at=unrelated)
    bench.git("remote", "set-url", "upstream", str(unrelated))
    before, at_fork = snapshot(bench), bench.refs("fork.git")

    result = bench.run(*command)

    assert (result.code, "no common history" in result.said) == (3, True)
    assert (snapshot(bench), bench.refs("fork.git")) == (before, at_fork)


def _merge_with_extra(bench: Bench) -> None:
    bench.git("switch", "--quiet", "--create", "side", "feature~1")
    bench.commit("Side", {"side.txt": "x\n"})
    bench.git("switch", "--quiet", "feature")
    bench.git("merge", "--quiet", "--no-commit", "--no-ff", "side")
    write(bench.work / "only-in-merge.txt", "evil\n")
    bench.git("add", "only-in-merge.txt")
    bench.git("commit", "--quiet", "--message", "Merge side")


def test_s31_a_merge_commit_is_named_and_refused(bench: Bench) -> None:
    _merge_with_extra(bench)
    before = snapshot(bench)

    result = bench.run("rebase")

    assert (result.code, result.said) == (3, "feature has 1 merge commit: a rebase drops what is only in them")
    assert "Merge side" in result.err
    assert snapshot(bench) == before


def test_s31_flattening_reports_the_loss_and_can_be_undone(bench: Bench) -> None:
    _merge_with_extra(bench)
    before = snapshot(bench, ours=False)

    result = bench.run("rebase", "--flatten", "--json")

    lost = [warned["code"] for warned in result.json["warnings"]]
    assert (result.code, lost, (bench.work / "only-in-merge.txt").exists()) == (
        0,
        ["flatten", "merge-content-lost"],
        False,
    )
    assert bench.run("undo").code == 0
    assert snapshot(bench, ours=False) == before


def test_s32_a_local_branch_called_upstream_main_is_not_taken_for_upstream(bench: Bench) -> None:
    bench.git("branch", "upstream/main", "origin/main")

    result = bench.run("rebase", "--json")

    assert (result.code, [warned["code"] for warned in result.json["warnings"]]) == (0, ["same-name"])
    assert bench.git("log", "-1", "--format=%s", "feature~2") == "Add d"


def test_s36_a_staged_change_survives_a_sync_that_conflicts_and_its_abort(bench: Bench) -> None:
    bench.reviewer("Fork's own", {"a.txt": text({3: "fork"})}, branch="main")
    bench.upstream("Upstream's", {"a.txt": text({3: "upstream"})})
    write(bench.work / "a.txt", text({3: "staged"}))
    bench.git("add", "a.txt")
    before = snapshot(bench, ours=False)

    codes = [bench.run("sync", "--via-pr").code, bench.run("abort").code]

    assert codes == [4, 0]
    assert snapshot(bench, ours=False) == before


@pytest.mark.skipif(sys.platform == "win32", reason="no branch can have such a name there")
@pytest.mark.parametrize("command", ["rebase", "push", "sync", "status", "undo", "abort", "continue", "skip"])
def test_s38_a_branch_named_like_an_option_runs_nothing(bench: Bench, command: str) -> None:
    trap = bench.root / "trap"
    name = f"--exec=touch {trap}"
    bench.git("update-ref", f"refs/heads/{name.replace(' ', '${IFS}')}", "feature")
    bench.git("symbolic-ref", "HEAD", f"refs/heads/{name.replace(' ', '${IFS}')}")
    before = snapshot(bench)

    result = bench.run(command)

    expected = 3 if command in ("rebase", "push") else 0
    assert (result.code, trap.exists()) == (expected, False)
    assert command == "sync" or snapshot(bench) == before


def test_s39_a_partial_clone_whose_remote_is_down_is_left_on_its_branch(bench: Bench) -> None:
    bench.git("config", "uploadpack.allowFilter", "true", at=bench.root / "fork.git")
    bench.git("config", "uploadpack.allowFilter", "true", at=bench.root / "up.git")
    partial = bench.root / "partial"
    bench.git("clone", "--quiet", "--filter=blob:none", bench.url("fork.git"), str(partial), at=bench.root)
    bench.git("switch", "--quiet", "feature", at=partial)
    bench.git("remote", "add", "upstream", bench.url("up.git"), at=partial)
    before = snapshot(bench, partial)
    (bench.root / "up.git").rename(bench.root / "gone.git")

    result = bench.run("rebase", at=partial)

    assert result.code == 6
    assert snapshot(bench, partial) == before


def test_s39_a_partial_clone_is_rebased_when_its_remotes_are_there(bench: Bench) -> None:
    for name in ("fork.git", "up.git"):
        bench.git("config", "uploadpack.allowFilter", "true", at=bench.root / name)
        bench.git("config", "uploadpack.allowAnySHA1InWant", "true", at=bench.root / name)
    partial = bench.root / "partial"
    bench.git("clone", "--quiet", "--filter=blob:none", bench.url("fork.git"), str(partial), at=bench.root)
    bench.git("switch", "--quiet", "feature", at=partial)
    bench.git("remote", "add", "upstream", bench.url("up.git"), at=partial)

    result = bench.run("rebase", at=partial)

    assert (result.code, result.said) == (0, "feature is rebased: 2 commits replayed")


def test_s40_a_bots_commit_that_was_not_fetched_stops_the_push_only(bench: Bench) -> None:
    bot = bench.reviewer("Fix formatting", {"b.txt": text({10: "mine", 1: "bot"})})
    before = snapshot(bench, ours=False)

    result = bench.run("rebase", "--push")

    assert (result.code, "stale" in result.said, bench.at_fork()) == (5, True, bot)
    assert bench.git("merge-base", "--is-ancestor", "upstream/main", "feature") == ""
    assert bench.run("undo").code == 0
    assert (snapshot(bench, ours=False), bench.at_fork()) == (before, bot)


def _equal_contents(bench: Bench) -> None:
    bench.reviewer("Add d, again", {"d.txt": "new\n"}, branch="main")


def test_s41_equal_contents_need_no_commit(bench: Bench) -> None:
    _equal_contents(bench)
    at_fork = bench.refs("fork.git")

    result = bench.run("sync")

    assert (result.code, result.said) == (0, "already in sync: contents are equal, the history differs by 1 commit")
    assert bench.refs("fork.git") == at_fork


def test_s41_realigning_keeps_the_old_tip_on_a_branch_of_the_fork(bench: Bench) -> None:
    _equal_contents(bench)
    old = bench.at_fork("refs/heads/main")

    asked = bench.spawn("sync", "--realign")
    result = bench.run("sync", "--realign", "--yes")

    kept = bench.git(
        "for-each-ref", "--format=%(objectname)", "refs/heads/mergeready-backup", at=bench.root / "fork.git"
    )
    assert (asked.code, result.code, kept) == (3, 0, old)
    assert bench.at_fork("refs/heads/main") == bench.oid("refs/heads/main", at=bench.root / "up.git")


def test_the_bench_is_where_the_tests_think_it_is(bench: Bench) -> None:
    assert Path(bench.git("rev-parse", "--show-toplevel")) == bench.work
