"""Rows of the failure matrix about what surrounds a repository: git itself, configuration, rights, hooks and names."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tooling.git.repositories import COMMAND, Bench, snapshot, text, write

COMMANDS = (("rebase",), ("sync",), ("push",), ("status",), ("undo",))


def fake_git(bench: Bench, script: str) -> dict[str, str]:
    """An environment whose git is a script; `$GIT` in it is the real one."""
    if sys.platform == "win32":
        pytest.skip("a script called git is not found on the path there")
    folder = bench.root / "bin"
    folder.mkdir()
    (folder / "git").write_text(f'#!/bin/sh\nGIT={shutil.which("git")}\n{script}\n', encoding="utf-8")
    (folder / "git").chmod(0o755)
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


def test_row_51_a_git_that_is_too_old_is_named_with_what_is_needed(bench: Bench) -> None:
    env = fake_git(bench, 'case "$*" in *version*) echo "git version 2.20.1 (Vendor)";; *) exec "$GIT" "$@";; esac')
    before = snapshot(bench)

    result = bench.spawn("rebase", env=env)

    assert (result.code, result.said, snapshot(bench)) == (6, "git 2.20 is too old: 2.30 or newer is needed", before)


# Newer options are refused, as they would be there.
GIT_2_30 = """
for word in "$@"; do
  case "$word" in
    version) echo "git version 2.30.0"; exit 0;;
    merge-tree|--update-refs|--porcelain=v3|--no-write-commit-graph) echo "unknown: $word" >&2; exit 129;;
  esac
done
exec "$GIT" "$@"
"""


def test_row_51_git_2_30_is_enough_for_everything(bench: Bench) -> None:
    env = fake_git(bench, GIT_2_30)
    write(bench.work / "a.txt", text({3: "mine", 20: "edit"}))

    codes = [
        bench.spawn(*argv, env=env).code
        for argv in (("rebase", "--autostash", "--push"), ("undo",), ("sync", "--via-pr"), ("sync",), ("status",))
    ]

    assert codes == [0, 0, 0, 0, 0]


@pytest.mark.parametrize(("line", "code"), [("line 7", 3), ("upstream too", 0)])
def test_row_51_git_2_30_knows_a_branch_as_merged_where_upstream_has_its_files(
    bench: Bench, line: str, code: int
) -> None:
    bench.upstream("Both at once", {"a.txt": text({3: "mine", 7: line}), "b.txt": text({10: "mine"})})

    assert bench.spawn("rebase", env=fake_git(bench, GIT_2_30)).code == code


def test_row_51_git_2_30_knows_a_squashed_sync_that_landed_among_other_commits(bench: Bench) -> None:
    env = fake_git(bench, GIT_2_30)
    bench.reviewer("Fork's own", {"own.txt": "own\n"}, branch="main")
    bench.upstream("Round 0", {"a.txt": text({3: "round 0"})})
    assert bench.spawn("sync", "--via-pr", env=env).code == 0
    bench.reviewer("Another", {"e.txt": "another\n"}, branch="main")
    bench.reviewer("The sync, squashed", {"a.txt": text({3: "round 0"}), "d.txt": "new\n"}, branch="main")
    bench.upstream("Round 1", {"a.txt": text({3: "round 1"})})

    assert bench.spawn("sync", "--via-pr", env=env).code == 0


def test_row_51_without_git_it_says_so(bench: Bench, tmp_path: Path) -> None:
    result = bench.spawn("rebase", env={"PATH": str(tmp_path)})

    assert (result.code, result.said) == (6, "git is not installed")


@pytest.mark.parametrize("argv", COMMANDS)
def test_row_52_a_folder_that_somebody_else_owns_is_not_trusted_for_the_user(
    bench: Bench, argv: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    if bench.git("status", fails=True):
        pytest.skip("this git trusts every folder: it came before 2.30.3, or before the mending of its own line")

    result = bench.run(*argv)

    assert result.code == 6
    assert f"git config --global --add safe.directory {bench.work}" in result.err


def test_row_53_variables_that_a_hook_sets_do_not_lead_us_astray(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"):
        monkeypatch.setenv(name, str(bench.other / ".git"))

    result = bench.run("rebase", "--json")

    monkeypatch.undo()
    assert (result.code, result.json["refs"][0]["new"]) == (0, bench.oid())


HOSTILE = """
[color]
\tui = always
[pull]
\trebase = true
[push]
\tdefault = matching
\tfollowTags = true
\tgpgSign = if-asked
\tuseForceIfIncludes = true
[remote]
\tpushDefault = upstream
[rebase]
\tautoStash = true
\tautoSquash = true
\trebaseMerges = true
\tupdateRefs = true
\tbackend = apply
\tabbreviateCommands = true
\tmissingCommitsCheck = error
\tinstructionFormat = "%an exploded\\n"
[core]
\tquotePath = true
\tcommentChar = L
\tpager = false
\teditor = false
\tabbrev = 4
[sequence]
\teditor = false
[commit]
\tcleanup = strip
\tverbose = true
\tstatus = false
[status]
\tshowUntrackedFiles = no
\trelativePaths = true
\tbranch = true
[diff]
\trenames = copies
\tnoprefix = true
\texternal = false
\tmnemonicPrefix = true
\torderFile = /dev/null
[log]
\tshowSignature = true
\tdate = human
\tdecorate = full
[format]
\tpretty = oneline
[fetch]
\tprune = true
\tpruneTags = true
\trecurseSubmodules = true
[submodule]
\trecurse = true
[merge]
\tff = false
\tconflictStyle = diff3
[stash]
\tshowPatch = true
[advice]
\tdetachedHead = false
[alias]
\tstatus = !touch exploded
\trebase = !touch exploded
[column]
\tui = always
[i18n]
\tlogOutputEncoding = UTF-16
"""


@pytest.mark.parametrize("upstream", [{"a.txt": text({9: "theirs"})}, {"a.txt": text({3: "theirs"})}])
def test_row_61_hostile_configuration_changes_nothing(
    bench: Bench, upstream: dict[str, str | bytes | None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.upstream("Fixup! @somebody", upstream)
    write(bench.work / "b.txt", text({10: "mine", 1: "edit"}))
    bench.git("branch", "lower", "feature~1")
    with (bench.work / ".git" / "config").open("a", encoding="utf-8") as config:
        config.write(HOSTILE)
    monkeypatch.setenv("LANG", "de_DE.UTF-8")
    before, lower = snapshot(bench, ours=False), bench.oid("refs/heads/lower")

    first = bench.run("rebase", "--autostash")
    if first.code == 4:
        write(bench.work / "a.txt", text({3: "both"}))
        bench.git("add", "a.txt")
        assert bench.run("continue").code == 0

    subjects = bench.git("log", "--encoding=UTF-8", "--format=%s", "upstream/main..").split("\n")
    assert subjects == ["Change line 10 of b", "Change line 3 of a"]
    assert bench.oid("refs/heads/lower") == lower
    assert (bench.run("undo").code, bench.run("sync").code) == (0, 0)
    bench.git("update-ref", "refs/heads/main", "main~2" if bench.oid("main~2") else "main")
    after = snapshot(bench, ours=False)
    assert {**after, "refs": []} == {**before, "refs": []}
    assert not (bench.work / "exploded").exists()


READ_ONLY = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && cd "$1/work" && shift && exec "$@"'


def _can_mount() -> bool:
    return (
        sys.platform == "linux"
        and os.geteuid() == 0
        and subprocess.run(["unshare", "-m", "true"], check=False).returncode == 0
    )


@pytest.mark.skipif(not _can_mount(), reason="needs root, to mount a folder that cannot be written to")
@pytest.mark.parametrize("argv", [("rebase",), ("sync",), ("push",), ("undo",)])
def test_row_50_on_a_file_system_that_is_read_only_nothing_is_begun(bench: Bench, argv: tuple[str, ...]) -> None:
    before = snapshot(bench)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

    result = subprocess.run(
        ["unshare", "-m", "sh", "-c", READ_ONLY, "sh", str(bench.root), *COMMAND, *argv],
        env=environment,
        capture_output=True,
        check=False,
    )

    assert (result.returncode, b"cannot write" in result.stderr, snapshot(bench)) == (6, True, before)


def test_row_50_status_needs_to_write_nothing(bench: Bench) -> None:
    write(bench.work / ".git" / "mergeready", "in the way\n")

    assert bench.run("status").code == 0


@pytest.mark.parametrize("argv", [("rebase",), ("sync",), ("push",), ("undo",)])
def test_row_50_where_the_journal_cannot_be_written_nothing_is_begun(bench: Bench, argv: tuple[str, ...]) -> None:
    write(bench.work / ".git" / "mergeready", "in the way\n")
    before = snapshot(bench)

    result = bench.run(*argv)

    assert (result.code, "cannot write" in result.said, snapshot(bench)) == (6, True, before)


@pytest.mark.parametrize(
    "url", ["ext::sh -c touch% exploded", "fd::7", "gopher://example.org/x", "--upload-pack=touch exploded"]
)
def test_row_62_a_remote_that_would_run_a_program_is_refused(bench: Bench, url: str) -> None:
    bench.git("config", "remote.upstream.url", url)
    before = snapshot(bench)

    codes = [bench.run(command).code for command in ("rebase", "sync")]

    assert (codes, snapshot(bench), (bench.work / "exploded").exists()) == ([3, 3], before, False)


def test_a_password_in_a_url_is_not_shown(bench: Bench) -> None:
    bench.git("remote", "add", "friend", "https://me:secret@example.org/x.git")
    bench.git("remote", "rename", "upstream", "project")

    result = bench.run("rebase")

    assert (result.code, "secret" in result.err, "https://***@example.org/x.git" in result.err) == (3, False, True)


def test_every_command_says_in_json_how_it_ended(bench: Bench) -> None:
    keys = {
        *("schema", "command", "status", "exit", "summary", "details", "refs", "pushed", "backup", "stash"),
        *("conflicts", "dropped", "warnings", "next", "items"),
    }
    write(bench.root / "message", "Fix it\n")
    runs = [*COMMANDS, ("continue",), ("skip",), ("abort",), ("refs-check", str(bench.root / "message"))]

    results = [bench.run(*argv, "--json") for argv in runs]

    assert [set(result.json) for result in results] == [keys] * len(runs)
    assert [result.json["exit"] for result in results] == [result.code for result in results]
    assert [result.json["command"] for result in results] == [argv[0] for argv in runs]
