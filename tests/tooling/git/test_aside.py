"""`rebase --backup-ignored` (row 5): files that git does not track go out of upstream's way, and come back."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tooling.git.kills import lost_to_kills
from tests.tooling.git.repositories import COMMAND, Bench, snapshot, text, write
from tests.tooling.git.test_matrix_rebase import refused, warned
from tooling.git import journal
from tooling.git.read import read_repo


def in_the_way(bench: Bench) -> None:
    """An ignored file, an untracked one, a link, a folder and a file for a folder, all where upstream has its own."""
    bench.upstream(
        "Track them",
        {
            ".gitignore": "\n",
            "build.ignored": "theirs\n",
            "report.json": "theirs\n",
            "link": "theirs\n",
            "results": "theirs\n",
            "notes/one.txt": "theirs\n",
        },
    )
    write(bench.work / "build.ignored", b"mine \xff\0\n")
    (bench.work / "build.ignored").chmod(0o755)
    write(bench.work / "report.json", "mine\n")
    (bench.work / "link").symlink_to("nowhere")
    write(bench.work / "results/deep/1.txt", "mine\n")
    (bench.work / "results/deep/there").symlink_to("..")
    write(bench.work / "notes", "mine\n")
    write(bench.work / "x.ignored", "not in the way\n")


PATHS = ["build.ignored", "link", "notes", "report.json", "results/deep/1.txt", "results/deep/there"]


def kept(bench: Bench) -> list[str]:
    """What lies under the journal as put aside."""
    places = (bench.work / ".git/mergeready/journal").glob("*/aside")
    found = [
        path.relative_to(place) for place in places for path in place.rglob("*") if path.is_symlink() or path.is_file()
    ]
    return sorted(path.as_posix() for path in found)


def test_row_05_what_is_in_the_way_is_named_with_the_way_out(bench: Bench) -> None:
    in_the_way(bench)

    result = bench.run("rebase", "--json")

    assert (result.code, result.json["details"]) == (3, PATHS)
    assert [step["argv"] for step in result.json["next"]] == [
        ["mv", "--", "build.ignored", "build.ignored.mine"],
        ["mergeready", "rebase", "--backup-ignored"],
    ]


def test_row_05_files_that_git_does_not_track_are_put_aside_and_undo_brings_them_back(bench: Bench) -> None:
    in_the_way(bench)
    before = snapshot(bench, ours=False)

    result = bench.run("rebase", "--backup-ignored", "--json")

    theirs = [(bench.work / path).read_text(encoding="utf-8") for path in ("build.ignored", "link", "notes/one.txt")]
    assert (result.code, theirs, kept(bench)) == (0, ["theirs\n"] * 3, PATHS)
    assert warned(result) == ["set-aside"]
    assert (bench.run("undo").code, kept(bench)) == (0, [])
    assert snapshot(bench, ours=False) == before


def test_row_05_nothing_is_put_aside_by_a_dry_run(bench: Bench) -> None:
    in_the_way(bench)
    before = snapshot(bench)

    result = bench.run("rebase", "--backup-ignored", "--dry-run", "--fetch", "--json")

    steps = [item["action"] for item in result.json["items"]]
    assert (result.code, steps, snapshot(bench)) == (0, ["back-up", "set-aside", "rebase"], before)


@pytest.mark.parametrize("way", ["abort", "git", "skip"])
def test_row_05_files_come_back_from_a_rebase_that_stopped(bench: Bench, way: str) -> None:
    in_the_way(bench)
    bench.upstream("Change line 3", {"a.txt": text({3: "theirs"})})
    write(bench.work / "b.txt", text({10: "mine", 1: "edit"}))
    before = snapshot(bench, ours=False)
    assert bench.run("rebase", "--backup-ignored", "--autostash").code == 4

    if way == "git":
        bench.git("rebase", "--abort")
        assert bench.run("continue").code == 0
    elif way == "skip":
        assert (bench.run("skip").code, bench.run("undo").code) == (0, 0)
    else:
        assert bench.run("abort").code == 0

    assert snapshot(bench, ours=False) == before


def test_row_05_a_program_goes_on_writing_to_the_file_that_was_put_aside(bench: Bench) -> None:
    bench.upstream("Track a log", {"log.txt": "theirs\n"})
    with (bench.work / "log.txt").open("a", encoding="utf-8") as log:
        log.write("one\n")
        log.flush()
        assert bench.run("rebase", "--backup-ignored").code == 0
        log.write("two\n")

    assert bench.run("undo").code == 0
    assert (bench.work / "log.txt").read_text(encoding="utf-8") == "one\ntwo\n"


def test_row_05_a_file_that_was_only_in_the_way_of_a_commit_that_is_taken_back_later_is_back_at_the_end(
    bench: Bench,
) -> None:
    bench.commit("Add a log by mistake", {"log.txt": "mistake\n"})
    bench.commit("Remove it", {"log.txt": None})
    write(bench.work / "log.txt", "mine\n")
    before = snapshot(bench, ours=False)
    assert refused(bench, "rebase") == (3, "in-the-way")

    result = bench.run("rebase", "--backup-ignored", "--json")

    assert (result.code, warned(result), kept(bench)) == (0, [], [])
    assert (bench.work / "log.txt").read_text(encoding="utf-8") == "mine\n"
    assert bench.run("undo").code == 0
    assert snapshot(bench, ours=False) == before


def test_row_05_a_file_whose_folder_is_a_file_of_upstream_now_stays_aside(bench: Bench) -> None:
    bench.upstream("A file called results", {"results": "theirs\n"})
    write(bench.work / "results/1.txt", "mine\n")
    before = snapshot(bench, ours=False)

    assert (bench.run("rebase", "--backup-ignored").code, kept(bench)) == (0, ["results/1.txt"])
    assert bench.run("undo").code == 0
    assert snapshot(bench, ours=False) == before


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such files on Windows")
def test_row_05_a_pipe_is_a_file_too(bench: Bench) -> None:
    bench.upstream("A file called pipe", {"pipe": "theirs\n"})
    os.mkfifo(bench.work / "pipe")

    assert bench.run("rebase", "--backup-ignored").code == 0
    assert (bench.run("undo").code, (bench.work / "pipe").is_fifo()) == (0, True)


def test_row_05_what_has_come_into_the_place_of_a_file_put_aside_is_left_and_both_are_kept(bench: Bench) -> None:
    bench.upstream("Track a log", {"log.txt": "theirs\n"})
    write(bench.work / "log.txt", "mine\n")
    assert bench.run("rebase", "--backup-ignored").code == 0
    bench.git("rm", "--quiet", "--cached", "log.txt")
    write(bench.work / "log.txt", "new\n")

    result = bench.run("undo", "--json")

    assert (result.code, kept(bench)) == (3, ["log.txt"])
    assert (bench.work / "log.txt").read_text(encoding="utf-8") == "new\n"


def test_row_05_undo_asks_for_the_branch_that_the_files_belong_to(bench: Bench) -> None:
    in_the_way(bench)
    assert bench.run("rebase", "--backup-ignored").code == 0
    bench.git("switch", "--quiet", "main")

    assert refused(bench, "undo") == (3, "elsewhere")


def test_an_entry_that_holds_the_only_copy_of_a_file_is_never_forgotten(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_the_way(bench)
    assert bench.run("rebase", "--backup-ignored").code == 0
    monkeypatch.setattr(journal, "KEPT", 0)

    journal.prune(read_repo(str(bench.work)))

    assert kept(bench) == PATHS


@pytest.mark.parametrize("options", [("--backup-ignored",), ("--backup-ignored", "--autostash")])
def test_a_kill_while_files_are_put_aside_loses_nothing(bench: Bench, tmp_path: Path, options: tuple[str, ...]) -> None:
    in_the_way(bench)
    if "--autostash" in options:
        write(bench.work / "b.txt", text({10: "mine", 1: "edit"}))

    def look() -> tuple[object, int]:
        return snapshot(bench, ours=False), os.stat(bench.work / "build.ignored").st_mode

    assert lost_to_kills(bench, tmp_path, ("rebase", *options), look, step=47) == []


FULL = """
mkdir -p "$1/.git/mergeready" && mount -t tmpfs -o size=256k none "$1/.git/mergeready" || exit 99
cd "$1" && shift
"$@" rebase --backup-ignored
echo "$?"
"$@" abort > /dev/null
echo "$?"
"""


def _can_mount() -> bool:
    if sys.platform != "linux" or os.geteuid() != 0:
        return False
    return subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not _can_mount(), reason="needs root, to mount a folder that is full")
def test_row_50_a_disk_that_is_full_while_a_file_is_put_aside_takes_nothing(bench: Bench) -> None:
    bench.upstream("Track a log", {"log.txt": "theirs\n"})
    write(bench.work / "log.txt", "mine\n" * 100_000)
    before = snapshot(bench, ours=False)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", FULL, "sh", str(bench.work), *COMMAND],
        env=environment,
        capture_output=True,
        check=False,
    )

    assert (done.stdout, b"No space left on device" in done.stderr, b"Traceback" in done.stderr) == (
        b"6\n0\n",
        True,
        False,
    )
    assert snapshot(bench, ours=False) == before
