"""Line ends that only attributes ask for (row 40): told from edits, and rebased over when asked."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tooling.git.kills import lost_to_kills
from tests.tooling.git.repositories import Bench, git_version, snapshot, text, write
from tests.tooling.git.test_matrix_rebase import refused
from tooling.git.lineends import pattern

NAMES = ["crlf.txt", "folder/my é [x].txt" if sys.platform == "win32" else 'folder/my "é [x]*.txt']


def phantom(bench: Bench) -> None:
    """Two files with line ends of Windows, and attributes that ask for others."""
    bench.git("config", "core.autocrlf", "false")
    bench.commit("Windows line ends", dict.fromkeys(NAMES, b"one\r\ntwo\r\n"))
    bench.commit("Ask for normalisation", {".gitattributes": "*.txt text eol=lf\n"})
    for name in NAMES:
        os.utime(bench.work / name, (1, 1))


def attributes(bench: Bench) -> bytes | None:
    place = bench.work / ".git/info/attributes"
    return place.read_bytes() if place.exists() else None


def look(bench: Bench) -> dict[str, object]:
    """All but git's opinion on the files, which depends on when it last looked at them."""
    seen = snapshot(bench, ours=False)
    return {**seen, "status": "", "attributes": attributes(bench)}


def test_row_40_the_files_are_named_with_the_ways_out(bench: Bench) -> None:
    phantom(bench)

    result = bench.run("rebase", "--json")

    assert (result.code, result.json["details"]) == (3, NAMES)
    assert [step["argv"] for step in result.json["next"]] == [
        ["mergeready", "rebase", "--ignore-line-ends"],
        ["git", "add", "--renormalize", ":/"],
        ["git", "commit", "-m", "Normalise line ends"],
    ]


@pytest.mark.parametrize("theirs", [None, b"", b"*.x text", b"# mine\n*.x text\n"])
def test_row_40_a_rebase_goes_over_them_and_leaves_files_and_attributes_as_they_were(
    bench: Bench, theirs: bytes | None
) -> None:
    phantom(bench)
    bench.upstream("Change a", {"a.txt": text({15: "upstream"})})
    place = bench.work / ".git/info/attributes"
    if theirs is not None:
        write(place, theirs)
    before = look(bench)

    result = bench.run("rebase", "--ignore-line-ends")

    assert (result.code, attributes(bench)) == (0, theirs)
    assert bench.git("merge-base", "--is-ancestor", "upstream/main", "HEAD") == ""
    assert [(bench.work / name).read_bytes() for name in NAMES] == [b"one\r\ntwo\r\n"] * 2
    assert bench.run("undo").code == 0
    assert look(bench) == before


@pytest.mark.parametrize("way", ["abort", "continue", "git", "git gives up", "skip"])
def test_row_40_the_attributes_stay_while_it_stands_and_go_when_it_has_ended(bench: Bench, way: str) -> None:
    phantom(bench)
    bench.upstream("Change line 3", {"a.txt": text({3: "theirs"})})
    write(bench.work / ".git/info/attributes", "*.x text\n")
    before = look(bench)
    assert bench.run("rebase", "--ignore-line-ends").code == 4
    assert b"/crlf.txt -text\n" in (attributes(bench) or b"")
    write(bench.work / "a.txt", text({3: "both"}))
    bench.git("add", "a.txt")

    if way == "git":
        bench.git("-c", "core.editor=true", "rebase", "--continue")
        assert bench.run("status").code == 0
    elif way == "git gives up":
        bench.git("rebase", "--abort")
        assert bench.run("status").code == 0
    else:
        assert bench.run(way).code == 0

    assert attributes(bench) == b"*.x text\n"
    assert bench.run("undo").code == 0
    assert look(bench) == before


def test_row_40_what_somebody_else_writes_there_meanwhile_stays(bench: Bench) -> None:
    phantom(bench)
    bench.upstream("Change line 3", {"a.txt": text({3: "theirs"})})
    assert bench.run("rebase", "--ignore-line-ends").code == 4
    with (bench.work / ".git/info/attributes").open("ab") as file:
        file.write(b"*.y binary\n")

    assert (bench.run("abort").code, attributes(bench)) == (0, b"*.y binary\n")


def test_row_40_edits_beside_them_have_to_be_committed_first(bench: Bench) -> None:
    phantom(bench)
    write(bench.work / "b.txt", text({10: "mine", 1: "edit"}))

    assert refused(bench, "rebase", "--autostash") == (3, "line-ends")
    assert refused(bench, "rebase", "--ignore-line-ends", "--autostash") == (3, "dirty")
    result = bench.run("rebase", "--ignore-line-ends", "--json")
    assert (result.json["details"], [step["argv"] for step in result.json["next"]]) == (
        [" M b.txt"],
        [["git", "commit", "--", "b.txt"]],
    )


def test_row_40_line_ends_that_the_user_has_changed_are_an_edit(bench: Bench) -> None:
    write(bench.work / "b.txt", text({10: "mine"}).replace("\n", "\r\n"))

    assert refused(bench, "rebase", "--ignore-line-ends") == (3, "dirty")
    before = snapshot(bench, ours=False)
    assert (bench.run("rebase", "--autostash").code, bench.run("undo").code) == (0, 0)
    assert snapshot(bench, ours=False) == before


def test_a_kill_loses_neither_files_nor_attributes(bench: Bench, tmp_path: Path) -> None:
    phantom(bench)
    write(bench.work / ".git/info/attributes", "*.x text\n")
    argv = ("rebase", "--ignore-line-ends")

    assert lost_to_kills(bench, tmp_path, argv, lambda: look(bench), step=53) == []


@pytest.mark.parametrize("path", [*NAMES, "a b", "tab\there", "line\nend", "back\\slash", "!x", "#x", "caf\udce9", "?"])
def test_a_line_of_attributes_means_one_path_and_no_other(tmp_path: Path, path: str) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    write(tmp_path / ".git/info/attributes", pattern(path) + b" -text\n")
    asked = [path, f"x/{path}", f"{path}x", path.replace("*", "y").replace("?", "y").replace("[x]", "x") + "z"]

    words = b"\0".join(map(os.fsencode, asked)) + b"\0"
    done = subprocess.run(
        ["git", "check-attr", "-z", "--stdin", "text"], cwd=tmp_path, input=words, capture_output=True, check=True
    )

    assert done.stdout.split(b"\0")[2::3] == [b"unset", *[b"unspecified"] * 3]


@pytest.mark.skipif(git_version() < (2, 37), reason="to the merge of git stash before 2.37, line ends can conflict")
@pytest.mark.parametrize("edited", [True, False])
def test_line_ends_that_upstreams_attributes_brought_go_with_them(bench: Bench, edited: bool) -> None:
    bench.upstream("Line ends of Windows", {".gitattributes": "* text=auto eol=crlf\n"})
    if edited:
        write(bench.work / "b.txt", text({10: "mine", 1: "edit"}))
    before = snapshot(bench, ours=False)

    assert [bench.run("rebase", "--autostash").code, bench.run("undo").code] == [0, 0]
    assert snapshot(bench, ours=False) == before


def test_line_ends_that_attributes_brought_go_with_them_in_another_worktree(bench: Bench) -> None:
    bench.upstream("Line ends of Windows", {".gitattributes": "* text=auto eol=crlf\n", "a.txt": text({1: "theirs"})})
    linked = bench.root / "linked"
    bench.git("worktree", "add", "--quiet", str(linked), "main")
    before = snapshot(bench, linked, ours=False)

    assert [bench.run("sync").code, bench.run("undo").code] == [0, 0]
    assert snapshot(bench, linked, ours=False) == before
