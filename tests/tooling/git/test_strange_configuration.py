"""Configuration that is strange and allowed: what is done is what is said, and it goes where it belongs."""

from __future__ import annotations

import shutil

import pytest

from tests.tooling.git.repositories import Bench, snapshot, text, write
from tests.tooling.git.test_matrix_rebase import refused


@pytest.mark.parametrize("options", ["--squash", "--no-commit --no-ff", "--verify-signatures"])
def test_a_main_branch_follows_whatever_options_merges_into_it_have(bench: Bench, options: str) -> None:
    bench.git("config", "branch.main.mergeOptions", options)
    bench.git("switch", "--quiet", "main")

    result = bench.run("sync")

    there = bench.oid("refs/heads/main", bench.root / "up.git")
    assert (result.code, bench.oid("main"), bench.git("status", "--porcelain")) == (0, there, "")


def test_a_squashed_sync_needs_no_signatures_of_upstreams_commits(bench: Bench) -> None:
    bench.git("config", "merge.verifySignatures", "true")
    fork = str(bench.root / "fork.git")
    bench.git("push", "--quiet", fork, f"{bench.commit('Own', {'own.txt': 'x'})}:refs/heads/main")

    result = bench.run("sync", "--via-pr", "--json")

    branch = next(move["ref"] for move in result.json["refs"] if move["ref"].startswith("refs/heads/sync/"))
    assert "d.txt" in bench.git("ls-tree", "--name-only", branch).split()


def test_a_merge_that_git_does_not_begin_is_not_taken_for_one_without_changes(bench: Bench) -> None:
    fork = str(bench.root / "fork.git")
    bench.git("push", "--quiet", fork, f"{bench.commit('Own', {'own.txt': 'x'})}:refs/heads/main")
    bench.git("config", "pull.twohead", "nothing-of-the-kind")

    result = bench.run("sync", "--via-pr")

    assert (result.code, result.said.startswith("git merge failed: ")) == (6, True)


def test_a_branch_that_a_clone_does_not_follow_can_be_pushed_again_after_a_rebase(bench: Bench) -> None:
    shutil.rmtree(bench.work)
    fork = str(bench.root / "fork.git")
    bench.git("clone", "--quiet", "--single-branch", fork, str(bench.work), at=bench.root)
    bench.git("remote", "add", "upstream", str(bench.root / "up.git"))
    bench.git("switch", "--quiet", "--create", "topic")
    bench.commit("Topic", {"t.txt": "t\n"})

    assert [bench.run(command).code for command in ("push", "rebase", "push")] == [0, 0, 0]
    assert bench.at_fork("refs/heads/topic") == bench.oid()


def test_what_others_have_pushed_to_a_branch_that_a_clone_does_not_follow_stays(bench: Bench) -> None:
    bench.git("config", "remote.origin.fetch", "+refs/heads/main:refs/remotes/origin/main")
    bench.git("update-ref", "-d", "refs/remotes/origin/feature")
    theirs = bench.reviewer("Review", {"r.txt": "r\n"})
    bench.run("rebase")

    result = bench.run("push", "--json")
    look = result.json["next"][0]["argv"]
    bench.git(*look[1:])

    assert (result.code, bench.at_fork(), bench.oid("refs/remotes/origin/feature")) == (5, theirs, theirs)
    assert refused(bench, "push") == (3, "foreign-commits")


@pytest.mark.parametrize("key", ["remote.origin.pushurl", "remote.origin.url"])
def test_a_fork_whose_pushes_go_to_upstream_too_is_not_pushed_to(bench: Bench, key: str) -> None:
    bench.git("config", "--add", key, str(bench.root / "up.git"))

    assert refused(bench, "push") == (3, "no-fork")
    assert refused(bench, "rebase", "--push") == (3, "no-fork")
    assert refused(bench, "sync") == (3, "no-fork")


def test_remotes_with_slashes_in_their_names_are_told_from_their_branches(bench: Bench) -> None:
    bench.git("remote", "rename", "upstream", "team/project")
    bench.git("fetch", "--quiet", "team/project")
    bench.git("remote", "set-head", "team/project", "main")
    bench.git("switch", "--quiet", "main")

    assert [step["argv"] for step in bench.run("status", "--json").json["next"]] == [["mergeready", "sync"]]


def test_a_namespace_of_somebody_elses_hides_nothing(bench: Bench) -> None:
    assert bench.spawn("rebase", env={"GIT_NAMESPACE": "other", "GIT_QUARANTINE_PATH": "/"}).code == 0


@pytest.mark.parametrize("seconds", ["0", "-5", "nan", "soon"])
def test_no_time_at_all_is_not_how_long_a_remote_is_waited_for(bench: Bench, seconds: str) -> None:
    bench.git("config", "mergeready.timeout", seconds)

    assert bench.run("rebase").code == 0


def test_a_hook_that_edits_files_on_the_way_is_told_by_them(bench: Bench) -> None:
    bench.hook("post-checkout", "echo hooked >> a.txt")
    before = snapshot(bench, ours=False)

    result = bench.run("rebase", "--json")

    assert (result.code, result.json["summary"].endswith("would be overwritten by merge: a.txt")) == (4, True)
    assert result.json["next"][0]["why"] == "once that is mended, go on"
    assert (bench.run("abort").code, snapshot(bench, ours=False)) == (0, before)


def test_between_two_commits_of_a_sequence_it_is_in_progress_too(bench: Bench) -> None:
    bench.upstream("Change line 3", {"a.txt": text({3: "theirs"})})
    bench.upstream("Change line 10", {"b.txt": text({10: "theirs"})})
    bench.git("fetch", "--quiet", "upstream")
    bench.git("cherry-pick", "upstream/main~2..upstream/main", fails=True)
    bench.git("commit", "--quiet", "--all", "--message", "Resolved")

    assert refused(bench, "rebase") == (3, "in-progress")
    assert bench.run("status").said == "a cherry-pick is in progress"


@pytest.mark.parametrize(
    "argv",
    [
        ("sync", "--push"),
        ("sync", "--strip"),
        ("sync", "-m", "x"),
        ("sync", "--via-pr", "--realign"),
        ("refs-check", "--commit", "HEAD", "a.txt"),
    ],
)
def test_an_option_that_would_be_passed_over_is_a_mistake(bench: Bench, argv: tuple[str, ...]) -> None:
    assert bench.run(*argv).code == 2


def test_a_filter_that_fails_while_main_follows_leaves_no_files_of_upstreams_behind(bench: Bench) -> None:
    bench.upstream("Filter", {".gitattributes": "*.bin filter=big\n", "x.bin": "x\n", "a.txt": text({1: "theirs"})})
    bench.git("config", "filter.big.smudge", "false")
    bench.git("config", "filter.big.required", "true")
    bench.git("switch", "--quiet", "main")
    before = snapshot(bench, ours=False)

    failed = bench.run("sync")
    after = snapshot(bench, ours=False)
    bench.git("config", "filter.big.required", "false")

    assert (failed.code, failed.said.startswith("the fork is up to date, but here error: external")) == (6, True)
    assert (after, bench.run("sync").code) == (before, 0)
    assert bench.oid("main") == bench.at_fork("refs/heads/main")


@pytest.mark.parametrize("argv", [("rebase",), ("rebase", "--autostash"), ("sync", "--via-pr")])
def test_a_git_that_does_not_know_who_commits_is_told_before_anything_moves(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, argv: tuple[str, ...]
) -> None:
    for name in ("GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "EMAIL"):
        monkeypatch.delenv(name, raising=False)
    bench.git("config", "user.useConfigOnly", "true")
    if "--autostash" in argv:
        write(bench.work / "b.txt", text({10: "mine", 1: "edit"}))
    before = snapshot(bench)

    result = bench.run(*argv)

    assert (result.code, result.said.startswith("git does not know who you are: fatal: ")) == (6, True)
    assert snapshot(bench) == before


def test_a_submodule_that_the_branch_has_added_is_in_nobodys_way(bench: Bench) -> None:
    add = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(bench.root / "up.git"), "sub")
    bench.git(*add)
    bench.git("commit", "--quiet", "--message", "Add a submodule")
    write(bench.work / "sub/new.txt", "mine\n")
    bench.commit("Move it", {"a.txt": text({3: "mine", 4: "mine"})}, at=bench.work / "sub")
    bench.git("add", "sub")
    write(bench.work / "b.txt", text({10: "mine", 1: "edit"}))
    before = snapshot(bench, ours=False)

    assert [bench.run("rebase", "--autostash").code, bench.run("undo").code] == [0, 0]
    assert snapshot(bench, ours=False) == before


def test_a_lock_on_what_follows_upstream_is_named_with_the_way_out(bench: Bench) -> None:
    lock = bench.work / ".git/refs/remotes/upstream/main.lock"
    write(lock, "")

    result = bench.run("rebase", "--json")

    assert (result.code, result.json["next"][0]["argv"]) == (3, ["rm", str(lock)])
