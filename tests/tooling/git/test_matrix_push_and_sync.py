"""Rows of the failure matrix that a push or a sync meets."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tooling.git.repositories import Bench, snapshot, text, write
from tests.tooling.git.test_matrix_rebase import refused, warned


def amended(bench: Bench) -> None:
    """The branch was pushed, then amended."""
    bench.git("commit", "--quiet", "--amend", "--message", "Change line 10 of b, better")


def test_a_branch_that_was_amended_is_pushed_over_what_it_was(bench: Bench) -> None:
    amended(bench)

    result = bench.run("push")

    assert (result.code, bench.at_fork()) == (0, bench.oid())


def test_row_32_a_push_over_a_commit_that_was_fetched_and_never_taken_in_is_refused(bench: Bench) -> None:
    amended(bench)
    bench.reviewer("Fix a typo", {"a.txt": text({3: "mine", 15: "theirs"})})
    bench.git("fetch", "--quiet", "origin")

    assert refused(bench, "push") == (3, "foreign-commits")


def test_row_33_a_push_over_a_commit_that_was_not_fetched_is_stale(bench: Bench) -> None:
    amended(bench)
    bench.reviewer("Fix a typo", {"a.txt": text({3: "mine", 15: "theirs"})})

    assert refused(bench, "push") == (5, "stale")


def test_row_34_a_branch_that_is_gone_on_the_fork_is_not_made_again(bench: Bench) -> None:
    amended(bench)
    bench.git("update-ref", "-d", "refs/heads/feature", at=bench.root / "fork.git")

    assert refused(bench, "push") == (5, "gone")


def test_row_35_a_new_branch_is_pushed_without_force_and_followed(bench: Bench) -> None:
    bench.git("switch", "--quiet", "--create", "fresh")

    plan = bench.run("push", "--dry-run", "--json").json["items"][0]["argv"]
    assert (bench.run("push").code, bench.at_fork("refs/heads/fresh")) == (0, bench.oid())
    assert [word for word in plan if word.startswith("--force")] == []
    assert bench.git("config", "branch.fresh.merge") == "refs/heads/fresh"


def test_row_36_a_protected_branch_says_what_the_remote_said_and_offers_a_pull_request(bench: Bench) -> None:
    bench.hook("update", "printf 'GH013: rules \\033[31mviolated\\n' >&2; exit 1", at=bench.root / "fork.git")
    before = snapshot(bench)

    result = bench.run("sync")

    assert (result.code, "hook declined" in result.said) == (5, True)
    assert "GH013: rules \\x1b[31mviolated" in result.err
    assert "mergeready sync --via-pr" in result.err
    after = snapshot(bench)
    assert {**after, "refs": []} == {**before, "refs": []}
    assert bench.run("status", "--json").json["items"][0]["open"] is None


def test_row_37_a_hook_of_ones_own_that_refuses_is_told_from_the_remote(bench: Bench) -> None:
    amended(bench)
    bench.hook("pre-push", "echo no >&2; exit 1")

    assert refused(bench, "push") == (5, "hook")
    assert (bench.run("push", "--no-verify").code, bench.at_fork()) == (0, bench.oid())


def test_row_37_the_lease_is_looked_at_before_a_slow_hook_runs(bench: Bench) -> None:
    amended(bench)
    ran = bench.root / "ran"
    bench.hook("pre-push", f"touch {ran}")
    bench.reviewer("Fix a typo", {"a.txt": text({3: "mine", 15: "theirs"})})

    assert (refused(bench, "push"), ran.exists()) == ((5, "stale"), False)


def test_row_37_a_remote_that_is_not_there_is_not_called_a_refusal(bench: Bench) -> None:
    amended(bench)
    (bench.root / "fork.git").rename(bench.root / "away.git")

    result = bench.run("push")

    assert (result.code, result.said.startswith("origin cannot be used")) == (6, True)


def test_a_main_branch_is_not_pushed(bench: Bench) -> None:
    bench.git("switch", "--quiet", "main")
    bench.commit("Oops", {"x": "x\n"})

    assert refused(bench, "push") == (3, "to-main")


def test_what_was_pushed_is_put_back_when_asked(bench: Bench) -> None:
    old, before = bench.at_fork(), snapshot(bench, ours=False)
    assert bench.run("rebase", "--push").code == 0

    offered = bench.run("undo")

    assert (offered.code, bench.at_fork() != old, "git push --porcelain --force-with-lease" in offered.out) == (
        0,
        True,
        True,
    )
    assert snapshot(bench, ours=False) == before


def test_the_reverse_push_spares_what_others_have_pushed_since(bench: Bench) -> None:
    assert bench.run("rebase", "--push").code == 0
    theirs = bench.reviewer("On top", {"e.txt": "e\n"})

    result = bench.run("undo", "--push")

    assert (result.code, bench.at_fork()) == (5, theirs)


def test_the_reverse_push_puts_the_fork_back(bench: Bench) -> None:
    old = bench.at_fork()
    assert bench.run("rebase", "--push").code == 0

    assert (bench.run("undo", "--push").code, bench.at_fork(), bench.oid()) == (0, old, old)


def test_a_sync_moves_the_fork_and_the_local_main_branch_without_a_checkout(bench: Bench) -> None:
    write(bench.work / "a.txt", "edit\n")
    files = snapshot(bench)["files"]

    result = bench.run("sync")

    new = bench.oid("refs/heads/main", at=bench.root / "up.git")
    assert (result.code, bench.at_fork("refs/heads/main"), bench.oid("refs/heads/main")) == (0, new, new)
    assert snapshot(bench)["files"] == files


def test_a_sync_moves_a_main_branch_that_is_checked_out_and_undo_takes_it_back(bench: Bench) -> None:
    bench.git("switch", "--quiet", "main")
    before = snapshot(bench, ours=False)

    assert (bench.run("sync").code, (bench.work / "d.txt").exists()) == (0, True)
    assert bench.run("undo").code == 0
    assert snapshot(bench, ours=False) == before


def test_a_local_main_branch_that_has_fallen_behind_both_follows_too(bench: Bench) -> None:
    assert (bench.run("sync").code, bench.run("undo").code) == (0, 0)

    result = bench.run("sync", "--json")

    assert (result.code, warned(result)) == (0, [])
    assert bench.oid("refs/heads/main") == bench.oid("refs/heads/main", at=bench.root / "up.git")


def test_a_local_main_branch_with_a_commit_of_its_own_is_left_with_a_word(bench: Bench) -> None:
    bench.git("switch", "--quiet", "main")
    own = bench.commit("Own", {"own.txt": "x\n"})

    result = bench.run("sync", "--json")

    assert (result.code, warned(result), bench.oid("refs/heads/main")) == (0, ["local-main"], own)


def test_row_28_a_main_branch_with_edits_is_left_with_a_word(bench: Bench) -> None:
    bench.git("switch", "--quiet", "main")
    write(bench.work / "a.txt", "edit\n")
    before = snapshot(bench, ours=False)

    result = bench.run("sync", "--json")

    assert (result.code, warned(result), snapshot(bench, ours=False)) == (0, ["local-main"], before)


def test_row_12_a_fork_with_another_name_for_main_is_told(bench: Bench) -> None:
    up = bench.root / "up.git"
    bench.git("branch", "--move", "main", "trunk", at=up)
    bench.git("symbolic-ref", "HEAD", "refs/heads/trunk", at=up)

    result = bench.run("sync", "--json")

    assert (result.code, warned(result)) == (0, ["main-renamed"])
    assert bench.at_fork("refs/heads/main") == bench.oid("refs/heads/trunk", at=up)


def _land(bench: Bench, branch: str) -> None:
    """Merge a pull request the way the button does that makes one commit of it."""
    fork = bench.root / "fork.git"
    tree = bench.git("rev-parse", f"{branch}^{{tree}}")
    commit = bench.git("commit-tree", tree, "-p", bench.at_fork("refs/heads/main"), "-m", "Sync (#1)")
    bench.git("push", "--quiet", str(fork), f"{commit}:refs/heads/main")


def test_squashed_syncs_do_not_conflict_with_themselves(bench: Bench) -> None:
    for number in range(3):
        bench.upstream(f"Round {number}", {"a.txt": text({3: f"round {number}"})})
        result = bench.run("sync", "--via-pr", "--json")
        branch = result.json["refs"][0]["ref"]
        assert (result.code, bench.oid(f"{branch}^{{tree}}")) == (0, bench.oid("upstream/main^{tree}"))
        _land(bench, branch)


def test_squashed_syncs_keep_what_the_fork_has_of_its_own(bench: Bench) -> None:
    bench.reviewer("Fork's own", {"own.txt": "own\n", "b.txt": text({1: "own"})}, branch="main")
    for number in range(3):
        bench.upstream(
            f"Round {number}", {"a.txt": text({3: f"round {number}"}), "b.txt": text({12: f"round {number}"})}
        )
        result = bench.run("sync", "--via-pr", "--json")
        branch = result.json["refs"][0]["ref"]
        assert (result.code, bench.git("show", f"{branch}:b.txt")) == (0, text({1: "own", 12: f"round {number}"})[:-1])
        assert bench.git("show", f"{branch}:own.txt") == "own"
        _land(bench, branch)


def test_a_squashed_sync_that_has_not_landed_is_not_taken_for_one_that_has(bench: Bench) -> None:
    bench.reviewer("Fork's own", {"own.txt": "own\n"}, branch="main")
    bench.upstream("Round 0", {"a.txt": text({3: "round 0"})})
    assert bench.run("sync", "--via-pr").code == 0
    bench.upstream("Round 1", {"a.txt": text({3: "round 1"})})

    branch = bench.run("sync", "--via-pr", "--json").json["refs"][0]["ref"]

    assert bench.git("show", f"{branch}:a.txt") == text({3: "round 1"})[:-1]
    assert bench.git("show", f"{branch}:d.txt") == "new"


def test_row_54_a_branch_name_that_is_taken_gets_a_number_and_a_branch_called_sync_a_dash(bench: Bench) -> None:
    made = [bench.run("sync", "--via-pr", "--json").json["refs"][0]["ref"] for _ in range(2)]
    names = [ref.partition("upstream-")[2][len("2026-01-02") :] for ref in made]
    for ref in bench.git("for-each-ref", "--format=%(refname)", "refs/heads/sync").split("\n"):
        bench.git("update-ref", "-d", ref)
    bench.git("branch", "sync")
    dashed = bench.run("sync", "--via-pr", "--json").json["refs"][0]["ref"]

    assert (names, dashed.startswith("refs/heads/sync-upstream-")) == (["", "-2"], True)


def _conflicting_sync(bench: Bench) -> Path:
    bench.reviewer("Fork's own", {"a.txt": text({3: "fork"})}, branch="main")
    bench.upstream("Upstream's", {"a.txt": text({3: "upstream"})})
    assert bench.run("sync", "--via-pr").code == 4
    return next((bench.work / ".git/mergeready/worktrees").iterdir())


def test_row_58_a_conflict_is_resolved_in_a_worktree_of_its_own(bench: Bench) -> None:
    before = snapshot(bench, ours=False)
    place = _conflicting_sync(bench)
    assert bench.run("continue").code == 4
    write(place / "a.txt", text({3: "both"}))
    bench.git("add", "a.txt", at=place)

    result = bench.run("continue", "--json")

    branch = result.json["refs"][0]["ref"]
    assert (result.code, bench.git("show", f"{branch}:a.txt"), place.exists()) == (0, text({3: "both"})[:-1], False)
    bench.git("update-ref", "-d", branch)
    assert snapshot(bench, ours=False) == before


def test_row_56_a_resolution_that_changes_nothing_needs_no_commit(bench: Bench) -> None:
    bench.reviewer("Take d", {"a.txt": text({3: "fork"}), "d.txt": "new\n"}, branch="main")
    bench.upstream("Upstream's", {"a.txt": text({3: "upstream"})})
    before = snapshot(bench, ours=False)
    assert bench.run("sync", "--via-pr").code == 4
    place = next((bench.work / ".git/mergeready/worktrees").iterdir())
    bench.git("checkout", "--ours", "--", "a.txt", at=place)
    bench.git("add", "a.txt", at=place)

    result = bench.run("continue")

    assert (result.code, result.said) == (0, "the fork has all of it already: no commit is needed")
    assert snapshot(bench, ours=False) == before


def test_row_58_giving_up_a_conflict_drops_the_worktree(bench: Bench) -> None:
    before = snapshot(bench, ours=False)
    place = _conflicting_sync(bench)

    assert (bench.run("abort").code, place.exists()) == (0, False)
    assert snapshot(bench, ours=False) == before


def test_a_dry_run_of_a_sync_changes_nothing(bench: Bench) -> None:
    bench.git("fetch", "--quiet", "--all")
    before, at_fork = snapshot(bench), bench.refs("fork.git")

    codes = [bench.run("sync", *options, "--dry-run").code for options in ((), ("--via-pr",), ("--realign",))]

    assert (codes, snapshot(bench), bench.refs("fork.git")) == ([0, 0, 0], before, at_fork)


@pytest.mark.parametrize("signed", [("commit.gpgSign", "true"), ("gpg.program", "/bin/false")])
def test_row_39_a_squashed_sync_is_signed_where_commits_are(bench: Bench, signed: tuple[str, str]) -> None:
    bench.git("config", "commit.gpgSign", "true")
    bench.git("config", "gpg.program", "/bin/false")
    bench.git("config", *signed)
    before = snapshot(bench)

    assert (bench.run("sync", "--via-pr").code, snapshot(bench)) == (6, before)


SCOPE = (
    "refusing to allow an OAuth App to create or update workflow `.github/workflows/ci.yml` without `workflow` scope"
)


@pytest.mark.parametrize("argv", [("sync",), ("push",)])
def test_row_59_a_login_that_may_not_change_workflows_is_told_what_it_lacks(
    bench: Bench, argv: tuple[str, ...]
) -> None:
    amended(bench)
    bench.hook("pre-receive", f"printf '%s\\n' '{SCOPE}' >&2; exit 1", at=bench.root / "fork.git")
    at_fork = bench.refs("fork.git")

    result = bench.run(*argv, "--json")

    assert (result.code, "your login may not change workflows" in result.json["summary"]) == (5, True)
    assert SCOPE in result.json["details"]
    assert [step["argv"] for step in result.json["next"]] == [["gh", "auth", "refresh", "-s", "workflow"]]
    assert (bench.refs("fork.git"), bench.run("status", "--json").json["items"][0]["open"]) == (at_fork, None)


@pytest.mark.parametrize("options", [(), ("--via-pr", "--push")])
def test_row_44_a_fork_that_is_lost_between_fetch_and_push_is_told_from_one_that_refuses(
    bench: Bench, options: tuple[str, ...]
) -> None:
    dies = bench.root / "receive-pack"
    write(dies, "#!/bin/sh\nkill -9 $$\n")
    dies.chmod(0o755)
    bench.git("config", "remote.origin.receivepack", dies.as_posix())
    before, at_fork = snapshot(bench, ours=False), bench.refs("fork.git")

    result = bench.run("sync", *options, "--json")

    assert (result.code, result.json["summary"].partition(": ")[0]) == (
        6,
        "upstream was fetched, but the fork is as it was",
    )
    assert bench.refs("fork.git") == at_fork
    again = result.json["next"][0]["argv"]
    bench.git("config", "--unset", "remote.origin.receivepack")
    if options:
        bench.git(*again[1:])
        assert bench.at_fork(again[-1].partition(":")[2]) != ""
        assert bench.run("undo").code == 0
    else:
        assert (again, snapshot(bench, ours=False)) == (["mergeready", "sync"], before)
        assert bench.run("sync").code == 0
