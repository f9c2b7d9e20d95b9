"""Rows of the failure matrix that a rebase meets: a refusal changes nothing, a stop can be taken back."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.tooling.git.repositories import COMMAND, Bench, Result, snapshot, text, write


def refused(bench: Bench, *argv: str, at: Path | None = None) -> tuple[int, str]:
    """Run a command that must change nothing; its exit code and the stable code of its refusal."""
    before, at_fork, at_up = snapshot(bench, at), bench.refs("fork.git"), bench.refs("up.git")
    result = bench.run(*argv, "--json", at=at)
    assert (snapshot(bench, at), bench.refs("fork.git"), bench.refs("up.git")) == (before, at_fork, at_up)
    return result.code, (result.json["items"] or [{"code": result.json["status"]}])[0]["code"]


def conflict(bench: Bench) -> None:
    """Upstream changes the line that the first commit changes."""
    bench.upstream("Change line 3", {"a.txt": text({3: "theirs"})})


def warned(result: Result) -> list[str]:
    return [warning["code"] for warning in result.json["warnings"]]


def test_row_01_edits_are_listed_and_stop_a_rebase(bench: Bench) -> None:
    write(bench.work / "b.txt", "edit\n")

    assert refused(bench, "rebase") == (3, "dirty")


def test_row_01_edits_and_staged_changes_come_back_as_they_were_where_upstream_left_the_files_alone(
    bench: Bench,
) -> None:
    write(bench.work / "b.txt", text({10: "mine", 1: "staged"}))
    bench.git("add", "b.txt")
    write(bench.work / "b.txt", text({10: "mine", 1: "staged", 2: "not staged"}))
    write(bench.work / "added.txt", "x\n")
    bench.git("add", "added.txt")
    bench.git("rm", "--quiet", "--cached", "folder/c.txt")
    before = snapshot(bench, ours=False)

    result = bench.run("rebase", "--autostash")

    after = snapshot(bench, ours=False)
    assert (result.code, after["status"], after["stashes"]) == (0, before["status"], before["stashes"])
    assert {name: before["files"][name] for name in before["files"]} == {
        name: after["files"][name] for name in after["files"] if name != "d.txt"
    }


def test_row_03_continue_after_an_edit_conflict_ends_the_run(bench: Bench) -> None:
    bench.upstream("Change line 18", {"a.txt": text({18: "upstream"})})
    write(bench.work / "a.txt", text({3: "mine", 18: "edit"}))
    bench.run("rebase", "--autostash")
    assert bench.run("continue").code == 4
    write(bench.work / "a.txt", text({3: "mine", 18: "both"}))
    bench.git("add", "a.txt")

    assert (bench.run("continue").code, bench.run("status", "--json").json["items"][0]["open"]) == (0, None)


@pytest.mark.parametrize(
    "theirs", [{"added.txt": "theirs\n"}, {"folder/c.txt": None}, {"folder/c.txt": None, "folder": "x\n"}]
)
def test_row_03_edits_that_cannot_be_merged_are_told_and_come_back(
    bench: Bench, theirs: dict[str, str | bytes | None]
) -> None:
    if "folder" in theirs:
        bench.git("fetch", "--quiet", "origin", at=bench.other)
        bench.git("switch", "--quiet", "--detach", "origin/main", at=bench.other)
        bench.git("rm", "--quiet", "-r", "folder", at=bench.other)
        write(bench.other / "folder", "now a file\n")
        bench.git("add", "folder", at=bench.other)
        bench.git("commit", "--quiet", "--message", "A file", at=bench.other)
        bench.git("push", "--quiet", "origin", "HEAD:main", at=bench.other)
    else:
        bench.upstream("Theirs", theirs)
    write(bench.work / "added.txt", "mine\n")
    bench.git("add", "added.txt")
    write(bench.work / "folder/c.txt", text({1: "edit"}))
    before = snapshot(bench, ours=False)

    result = bench.run("rebase", "--autostash")

    assert (result.code, bench.run("undo").code) == (4, 0)
    assert snapshot(bench, ours=False) == before


def test_row_05_an_ignored_file_in_the_way_is_not_overwritten(bench: Bench) -> None:
    bench.upstream("Track a log", {".gitignore": "\n", "build.ignored": "theirs\n"})
    write(bench.work / "build.ignored", "mine\n")

    assert refused(bench, "rebase") == (3, "in-the-way")


def test_row_05_a_file_where_upstream_has_a_folder_is_in_the_way(bench: Bench) -> None:
    bench.upstream("Add a folder", {"notes/one.txt": "theirs\n"})
    write(bench.work / "notes", "mine\n")

    assert refused(bench, "rebase") == (3, "in-the-way")


def test_row_05_a_tracked_file_may_become_a_folder(bench: Bench) -> None:
    bench.upstream("Make b a folder", {"b.txt": None, "b.txt.d/x": "x\n", "a.txt": text()})
    bench.git("reset", "--quiet", "--hard", "HEAD~1")
    bench.git("update-ref", "-d", "refs/remotes/origin/feature")

    assert bench.run("rebase").code == 0


@pytest.mark.parametrize("flag", ["--skip-worktree", "--assume-unchanged"])
def test_row_06_an_edit_that_git_was_told_not_to_see_is_explained(bench: Bench, flag: str) -> None:
    bench.upstream("Change c", {"folder/c.txt": text({5: "upstream"})})
    bench.git("update-index", flag, "folder/c.txt")
    write(bench.work / "folder/c.txt", "hidden edit\n")

    assert refused(bench, "rebase") == (3, "hidden-edits")


def test_row_07_a_detached_head_is_refused(bench: Bench) -> None:
    bench.git("switch", "--quiet", "--detach")

    assert refused(bench, "rebase") == (3, "detached")


def test_row_08_a_main_branch_is_refused(bench: Bench) -> None:
    bench.git("switch", "--quiet", "main")

    assert refused(bench, "rebase") == (3, "on-main")


@pytest.mark.parametrize("command", ["rebase", "sync"])
def test_row_09_without_a_remote_for_the_project_it_says_how_to_add_one(bench: Bench, command: str) -> None:
    bench.git("remote", "remove", "upstream")

    assert refused(bench, command) == (3, "no-upstream")


def test_row_10_one_other_remote_is_upstream_whatever_its_name(bench: Bench) -> None:
    bench.git("remote", "rename", "upstream", "project")

    assert (bench.run("rebase").code, bench.git("log", "-1", "--format=%s", "feature~2")) == (0, "Add d")


def test_row_10_several_other_remotes_are_listed_and_configuration_decides(bench: Bench) -> None:
    bench.git("remote", "rename", "upstream", "project")
    bench.git("remote", "add", "friend", str(bench.root / "fork.git"))

    assert refused(bench, "rebase") == (3, "upstream-ambiguous")
    bench.git("config", "mergeready.upstreamRemote", "project")
    assert bench.run("rebase").code == 0


def test_row_11_without_a_fork_a_rebase_is_fine_and_a_push_has_to_be_meant(bench: Bench) -> None:
    bench.git("remote", "set-url", "origin", bench.url("up.git"))

    assert refused(bench, "sync") == (3, "no-fork")
    bench.git("update-ref", "-d", "refs/remotes/origin/feature")
    assert bench.run("rebase").code == 0
    assert refused(bench, "push") == (3, "no-fork")
    assert bench.run("push", "--to-upstream").code == 0
    assert bench.oid("refs/heads/feature", at=bench.root / "up.git") == bench.oid()


def test_row_12_the_main_branch_is_what_upstream_says_it_is(bench: Bench) -> None:
    up = bench.root / "up.git"
    bench.git("branch", "--move", "main", "trunk", at=up)
    bench.git("symbolic-ref", "HEAD", "refs/heads/trunk", at=up)

    assert (bench.run("rebase").code, bench.git("log", "-1", "--format=%s", "feature~2")) == (0, "Add d")
    assert bench.oid("refs/remotes/upstream/trunk") == bench.oid("refs/heads/trunk", at=up)


def test_row_17_only_own_commits_are_replayed_after_upstream_was_rewritten(bench: Bench) -> None:
    assert bench.run("rebase").code == 0
    up = bench.other
    bench.git("switch", "--quiet", "--detach", "refs/remotes/origin/main", at=up)
    bench.git("commit", "--quiet", "--amend", "--message", "Add d, better", at=up)
    bench.git("push", "--quiet", "--force", "origin", "HEAD:refs/heads/main", at=up)

    result = bench.run("rebase", "--json")

    subjects = bench.git("log", "--format=%s").split("\n")
    assert (result.code, warned(result)) == (0, ["upstream-rewritten"])
    assert subjects == ["Change line 10 of b", "Change line 3 of a", "Add d, better", "Begin"]


def test_row_17_it_makes_no_difference_that_somebody_fetched_before(bench: Bench) -> None:
    assert bench.run("rebase").code == 0
    bench.git("switch", "--quiet", "--detach", "refs/remotes/origin/main", at=bench.other)
    bench.git("commit", "--quiet", "--amend", "--message", "Add d, better", at=bench.other)
    bench.git("push", "--quiet", "--force", "origin", "HEAD:refs/heads/main", at=bench.other)
    bench.git("fetch", "--quiet", "upstream")

    result = bench.run("rebase", "--json")

    assert (result.code, warned(result)) == (0, ["upstream-rewritten"])
    assert bench.git("log", "--format=%s", "-3").split("\n")[2] == "Add d, better"


def test_row_18_up_to_date_is_done_and_leaves_no_trace(bench: Bench) -> None:
    bench.git("fetch", "--quiet", "upstream")
    bench.git("rebase", "--quiet", "upstream/main")
    before = snapshot(bench)

    result = bench.run("rebase")

    assert (result.code, result.said, snapshot(bench)) == (0, "feature is up to date with upstream/main", before)


def test_row_20_commits_that_are_upstream_already_are_listed_as_dropped(bench: Bench) -> None:
    bench.upstream("Taken over", {"a.txt": text({3: "mine"})})

    result = bench.run("rebase", "--json")

    assert [dropped["subject"] for dropped in result.json["dropped"]] == ["Change line 3 of a"]
    assert result.json["summary"] == "feature is rebased: 1 commit replayed, 1 dropped"


def test_row_21_a_branch_that_was_squash_merged_is_recognised(bench: Bench) -> None:
    bench.upstream("Both at once", {"a.txt": text({3: "mine"}), "b.txt": text({10: "mine"})})

    assert refused(bench, "rebase") == (3, "already-merged")


def test_row_22_a_branch_that_has_become_empty_is_not_pushed(bench: Bench) -> None:
    bench.git("fetch", "--quiet", "upstream")
    bench.git("reset", "--quiet", "--hard", "upstream/main")

    assert refused(bench, "push") == (3, "empty-branch")
    assert (bench.run("push", "--allow-empty-branch").code, bench.at_fork()) == (0, bench.oid())


KINDS: list[tuple[str, dict[str, str | bytes | None], dict[str, str | bytes | None], str]] = [
    ("both changed", {"c": "mine\n"}, {"c": "theirs\n"}, "both changed it"),
    ("both added", {"new": "mine\n"}, {"new": "theirs\n"}, "both added it"),
    ("mine deleted", {"c": None}, {"c": "theirs\n"}, "changed upstream, deleted by your commit"),
    ("theirs deleted", {"c": "mine\n"}, {"c": None}, "deleted upstream, changed by your commit"),
]


@pytest.mark.parametrize(("mine", "theirs", "kind"), [case[1:] for case in KINDS], ids=[case[0] for case in KINDS])
def test_row_23_a_conflict_says_what_happened_on_either_side(
    bench: Bench, mine: dict[str, str | bytes | None], theirs: dict[str, str | bytes | None], kind: str
) -> None:
    bench.upstream("Add c", {"c": "base\n"})
    bench.git("fetch", "--quiet", "upstream")
    bench.git("rebase", "--quiet", "upstream/main")
    bench.commit("Mine", mine)
    bench.upstream("Theirs", theirs)
    bench.git("update-ref", "-d", "refs/remotes/origin/feature")
    before = snapshot(bench, ours=False)

    result = bench.run("rebase", "--json")

    assert (result.code, [found["kind"] for found in result.json["conflicts"]]) == (4, [kind])
    assert (result.json["summary"], bench.run("abort").code) == ("conflict at commit 3 of 3", 0)
    assert snapshot(bench, ours=False) == before


def _recorded_resolution(bench: Bench) -> None:
    bench.git("config", "rerere.enabled", "true")
    conflict(bench)
    bench.run("rebase")
    write(bench.work / "a.txt", text({3: "both"}))
    bench.git("add", "a.txt")
    assert bench.run("continue").code == 0
    assert bench.run("undo").code == 0


@pytest.mark.parametrize("update", ["true", "false"])
def test_row_24_a_remembered_resolution_stops_by_default_and_goes_on_when_asked(bench: Bench, update: str) -> None:
    _recorded_resolution(bench)
    bench.git("config", "rerere.autoUpdate", update)
    before = snapshot(bench, ours=False)

    stopped = bench.run("rebase")
    assert (stopped.code, "resolved as you resolved it before" in stopped.said) == (4, True)
    assert bench.run("abort").code == 0
    assert snapshot(bench, ours=False) == before
    assert bench.run("rebase", "--rerere-continue").code == 0
    assert (bench.work / "a.txt").read_text(encoding="utf-8") == text({3: "both"})


def test_row_25_a_rebase_that_was_finished_with_git_is_recognised_and_can_be_undone(bench: Bench) -> None:
    conflict(bench)
    before = snapshot(bench, ours=False)
    bench.run("rebase")
    write(bench.work / "a.txt", text({3: "both"}))
    bench.git("add", "a.txt")
    bench.git("-c", "core.editor=true", "rebase", "--continue")

    assert bench.run("status", "--json").json["items"][0]["open"] is None
    assert bench.run("undo").code == 0
    assert snapshot(bench, ours=False) == before


@pytest.mark.parametrize("way", ["--continue", "--abort"])
def test_row_25_edits_come_back_also_after_plain_git(bench: Bench, way: str) -> None:
    conflict(bench)
    write(bench.work / "b.txt", text({10: "mine", 20: "edit"}))
    bench.run("rebase", "--autostash")
    write(bench.work / "a.txt", text({3: "both"}))
    bench.git("add", "a.txt")
    bench.git("-c", "core.editor=true", "rebase", way)

    assert bench.run("continue").code == 0
    assert (bench.work / "b.txt").read_text(encoding="utf-8") == text({10: "mine", 20: "edit"})
    assert bench.run("status", "--json").json["items"][0]["open"] is None


def test_row_25_abort_brings_the_branch_back_after_somebody_checked_out_another(bench: Bench) -> None:
    conflict(bench)
    before = snapshot(bench, ours=False)
    bench.run("rebase")
    bench.git("checkout", "--quiet", "--force", "main")

    assert bench.run("abort").code == 0
    assert snapshot(bench, ours=False) == before


def test_row_26_continue_refuses_conflict_markers_that_were_added(bench: Bench) -> None:
    conflict(bench)
    bench.run("rebase")
    bench.git("add", "a.txt")
    before = snapshot(bench)

    result = bench.run("continue", "--json")

    assert (result.code, result.json["items"], result.json["details"]) == (3, [{"code": "markers"}], ["a.txt"])
    assert snapshot(bench) == before


def test_skip_leaves_a_commit_out_and_undo_brings_it_back(bench: Bench) -> None:
    conflict(bench)
    before = snapshot(bench, ours=False)
    bench.run("rebase")

    result = bench.run("skip", "--json")

    assert (result.code, [dropped["subject"] for dropped in result.json["dropped"]]) == (0, ["Change line 3 of a"])
    assert bench.run("undo").code == 0
    assert snapshot(bench, ours=False) == before


def _begin(bench: Bench, operation: str) -> None:
    bench.git("switch", "--quiet", "--create", "clash", "main")
    clash = bench.commit("Clash", {"a.txt": text({3: "clash"})})
    bench.git("switch", "--quiet", "feature")
    commands = {
        "merge": ("merge", clash),
        "cherry-pick": ("cherry-pick", clash),
        "revert": ("revert", "--no-edit", "HEAD~1"),
        "rebase": ("rebase", clash),
        "bisect": ("bisect", "start"),
        "am": ("am", "--quiet"),
    }
    if operation == "revert":
        bench.commit("Change it again", {"a.txt": text({3: "again"})})
        commands["revert"] = ("revert", "--no-edit", "HEAD~2")
    patch = bench.git("format-patch", "--stdout", "-1", clash) if operation == "am" else ""
    bench.git(*commands[operation], fails=True, stdin=patch.encode())


@pytest.mark.parametrize("operation", ["merge", "cherry-pick", "revert", "rebase", "bisect", "am"])
@pytest.mark.parametrize("command", ["rebase", "sync", "push", "abort"])
def test_row_27_what_git_is_in_the_middle_of_is_left_alone(bench: Bench, operation: str, command: str) -> None:
    _begin(bench, operation)

    code, reason = refused(bench, command)

    assert (code, reason) == (3, "not-ours" if command == "abort" else "in-progress")


def test_row_28_a_branch_that_is_checked_out_elsewhere_too_is_refused(bench: Bench) -> None:
    bench.git("worktree", "add", "--quiet", "--force", str(bench.root / "second"), "feature")

    assert refused(bench, "rebase") == (3, "checked-out-elsewhere")


def test_row_29_a_subfolder_works_even_if_the_rebase_makes_it_go_away_for_a_while(bench: Bench) -> None:
    bench.commit("Add a folder", {"only/here/x.txt": "x\n"})

    assert bench.run("rebase", at=bench.work / "only" / "here").code == 0


@pytest.mark.parametrize("place", ["bare", "inside", "nowhere", "unborn"])
def test_row_29_where_there_is_no_branch_to_work_on_it_says_so(bench: Bench, place: str) -> None:
    unborn = bench.root / "unborn"
    bench.git("init", "--quiet", str(unborn), at=bench.root)
    bench.git("remote", "add", "upstream", str(bench.root / "up.git"), at=unborn)
    bench.git("remote", "add", "origin", str(bench.root / "fork.git"), at=unborn)
    places = {"bare": bench.root / "fork.git", "inside": bench.work / ".git", "nowhere": bench.root, "unborn": unborn}

    assert bench.run("rebase", at=places[place]).code == 3


def test_row_30_a_submodule_that_moves_is_told_and_not_committed(bench: Bench) -> None:
    library = bench.root / "library"
    bench.git("init", "--quiet", "--initial-branch=main", str(library), at=bench.root)
    bench.commit("One", {"x": "1\n"}, at=library)
    bench.git("fetch", "--quiet", "origin", at=bench.other)
    bench.git("switch", "--quiet", "--detach", "origin/main", at=bench.other)
    bench.git("submodule", "--quiet", "add", str(library), "sub", at=bench.other)
    bench.git("commit", "--quiet", "--message", "Add a submodule", at=bench.other)
    bench.git("push", "--quiet", "origin", "HEAD:main", at=bench.other)
    assert bench.run("rebase").code == 0
    bench.git("submodule", "--quiet", "update", "--init")
    bench.commit("Two", {"x": "2\n"}, at=library)
    bench.git("pull", "--quiet", at=bench.other / "sub")
    bench.git("commit", "--quiet", "--all", "--message", "Move it", at=bench.other)
    bench.git("push", "--quiet", "origin", "HEAD:main", at=bench.other)
    write(bench.work / "sub" / "x", "dirty\n")

    result = bench.run("rebase", "--json")

    assert (result.code, sorted(set(warned(result)))) == (0, ["submodule", "submodule-moved"])
    assert bench.git("diff", "--name-only", "upstream/main", "HEAD") == "a.txt\nb.txt"
    assert (bench.work / "sub" / "x").read_text(encoding="utf-8") == "dirty\n"


def test_row_38_a_pre_rebase_hook_may_refuse_and_edits_come_back(bench: Bench) -> None:
    bench.hook("pre-rebase", "echo 'not today' >&2; exit 1")
    write(bench.work / "b.txt", text({10: "mine", 1: "edit"}))
    before = snapshot(bench, ours=False)

    result = bench.run("rebase", "--autostash")

    assert (result.code, "refused" in result.said, snapshot(bench, ours=False)) == (3, True, before)


def test_row_39_signing_that_fails_is_found_before_anything_moves(bench: Bench) -> None:
    bench.git("config", "commit.gpgSign", "true")
    bench.git("config", "gpg.program", "/bin/false")
    before = snapshot(bench)

    result = bench.run("rebase")

    assert (result.code, "cannot be signed" in result.said, snapshot(bench)) == (6, True, before)


def test_row_39_signing_that_fails_half_way_takes_everything_back(bench: Bench) -> None:
    program, count = bench.root / "sign", bench.root / "count"
    lines = (
        "#!/bin/sh",
        f"echo x >> {count}",
        f'[ "$(wc -l < {count})" -gt 2 ] && exit 1',
        "cat > /dev/null",
        "printf '\\n[GNUPG:] SIG_CREATED \\n' >&2",
        "echo signature",
    )
    write(program, "\n".join(lines) + "\n")
    program.chmod(0o755)
    bench.git("config", "commit.gpgSign", "true")
    bench.git("config", "gpg.program", str(program))
    write(bench.work / "b.txt", text({10: "mine", 1: "edit"}))
    before = snapshot(bench, ours=False)

    result = bench.run("rebase", "--autostash")

    assert (result.code, "could not sign at commit 2 of 2" in result.said) == (6, True)
    assert snapshot(bench, ours=False) == before
    assert bench.run("status", "--json").json["items"][0]["open"] is None


NAME = b"caf\xe9 \x1b[31m\n.txt"


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="no such name can be written there")
def test_row_41_paths_that_are_no_text_are_conflicts_told_exactly(bench: Bench) -> None:
    for place in (bench.work, bench.other):
        bench.git("fetch", "--quiet", "origin", at=place)
    path = os.fsdecode(NAME)
    bench.commit("Mine", {path: "mine\n"})
    bench.upstream("Theirs", {path: "theirs\n"})
    before = snapshot(bench, ours=False)

    result = bench.run("rebase", "--json")
    shown = bench.run("status")

    expected = {"path": "caf\\udce9 \\x1b[31m\\n.txt", "path_b64": "Y2Fm6SAbWzMxbQoudHh0"}
    assert {key: result.json["conflicts"][0][key] for key in expected} == expected
    assert "\x1b" not in shown.out + result.out
    assert bench.run("abort").code == 0
    assert snapshot(bench, ours=False) == before


def test_row_42_no_letter_of_a_message_in_another_encoding_is_lost(bench: Bench) -> None:
    encoding = ("-c", "i18n.commitEncoding=ISO-8859-1")
    tree = bench.git("rev-parse", "HEAD^{tree}")
    oid = bench.git(*encoding, "commit-tree", tree, "-p", "HEAD~1", "-F", "-", stdin=b"caf\xe9\n")
    bench.git("reset", "--quiet", "--hard", oid)

    assert (bench.run("rebase").code, bench.git("log", "-1", "--format=%B")) == (0, "caf\u00e9\n")


@pytest.mark.skipif(sys.platform == "win32", reason="nobody can send a Ctrl-C to one process there")
def test_row_46_ctrl_c_stops_git_too_and_everything_comes_back(bench: Bench) -> None:
    bench.git("config", "filter.slow.smudge", "sleep 0.4; cat")
    bench.upstream("Slow", {".gitattributes": "slow* filter=slow\n", **{f"slow{n}": f"{n}\n" for n in range(8)}})
    before = snapshot(bench, ours=False)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [*COMMAND, "rebase"], cwd=bench.work, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    while not list((bench.work).glob("slow1")):
        time.sleep(0.02)
    process.send_signal(2)
    out, _ = process.communicate(timeout=30)

    assert (process.returncode, b"nothing is lost" in out) == (130, True)
    deadline = time.monotonic() + 60
    while (aborted := bench.run("abort")).code == 3 and time.monotonic() < deadline:
        time.sleep(0.1)  # before 2.36, git checks out in a process of its own, which our signal does not reach
    assert aborted.code == 0
    assert snapshot(bench, ours=False) == before


def test_row_48_a_lock_is_waited_for_and_then_named_and_never_removed(bench: Bench) -> None:
    lock = bench.work / ".git" / "index.lock"
    lock.touch()
    before = snapshot(bench, ours=False)

    result = bench.run("rebase")

    assert (result.code, str(lock) in result.err, lock.exists()) == (3, True, True)
    lock.unlink()
    assert snapshot(bench, ours=False) == before


def test_row_48_a_lock_on_the_branch_at_the_very_end_stops_and_can_be_gone_on_with(bench: Bench) -> None:
    lock = bench.work / ".git" / "refs" / "heads" / "feature.lock"
    lock.touch()
    before = snapshot(bench, ours=False)

    result = bench.run("rebase", "--json")

    assert (result.code, "lock" in result.json["summary"]) == (4, True)
    lock.unlink()
    assert (bench.run("continue").code, bench.run("undo").code) == (0, 0)
    assert snapshot(bench, ours=False) == before


def test_row_49_a_second_run_is_told_of_the_first(bench: Bench) -> None:
    bench.hook("pre-rebase", "sleep 3")
    environment: dict[str, Any] = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    first = subprocess.Popen([*COMMAND, "rebase"], cwd=bench.work, env=environment, stdout=subprocess.DEVNULL)
    while not list((bench.work / ".git/mergeready/journal").glob("*/entry.json")):
        time.sleep(0.02)

    second, status = bench.run("rebase"), bench.run("status")

    # In a virtual environment on Windows, what was started only starts the real thing.
    holder = r"\d+" if sys.platform == "win32" else str(first.pid)
    assert second.code == 3
    assert re.fullmatch(f"another run is at work here: mergeready rebase, process {holder}", second.said)
    assert (status.code, status.said) == (0, second.said)
    assert first.wait(30) == 0


def test_row_02_staged_changes_stop_a_rebase_and_stay_staged(bench: Bench) -> None:
    write(bench.work / "staged.txt", "mine\n")
    bench.git("add", "staged.txt")

    assert refused(bench, "rebase") == (3, "dirty")
    assert (bench.run("rebase", "--autostash").code, bench.git("status", "--porcelain")) == (0, "A  staged.txt")


def test_row_16_histories_that_have_nothing_in_common_are_shown_by_their_first_commits(bench: Bench) -> None:
    unrelated = bench.root / "unrelated"
    bench.git("init", "--quiet", "--initial-branch=main", str(unrelated), at=bench.root)
    bench.commit("Elsewhere", {"z.txt": "z\n"}, at=unrelated)
    bench.git("remote", "set-url", "upstream", str(unrelated))

    told = [bench.run(command, "--json").json["details"] for command in ("rebase", "sync")]

    words = "with {} Begin (Ada Author <ada@example.org>)", "with {} Elsewhere (Ada Author <ada@example.org>)"
    first, other = bench.oid("main")[:10], bench.oid("main", at=unrelated)[:10]
    assert told == [
        [f"{left} begins {words[0].format(first)}", f"{right} begins {words[1].format(other)}"]
        for left, right in (("feature", "upstream/main"), ("origin", "upstream"))
    ]


@pytest.mark.parametrize("local", [True, False])
def test_row_21_the_way_out_of_a_branch_that_is_merged_can_be_run(bench: Bench, local: bool) -> None:
    bench.upstream("Both at once", {"a.txt": text({3: "mine"}), "b.txt": text({10: "mine"})})
    if not local:
        bench.git("branch", "--move", "main", "other")

    for step in bench.run("rebase", "--json").json["next"]:
        bench.git(*step["argv"][1:])

    assert bench.oid("refs/heads/feature") == ""
