"""A folder in the place of a tracked file, or a file in a folder's: untracked, and part of an edit that is put away."""

from __future__ import annotations

import shutil

import pytest

from tests.tooling.git.repositories import LINES, Bench, git_version, snapshot, text, write


def folder_for_a_file(bench: Bench) -> None:
    (bench.work / "b.txt").unlink()
    write(bench.work / "b.txt/deep/x", "mine\n")
    (bench.work / "b.txt/link").symlink_to("nowhere")


def file_for_a_folder(bench: Bench) -> None:
    shutil.rmtree(bench.work / "folder")
    write(bench.work / "folder", "mine\n")


def folder_for_a_file_that_is_staged(bench: Bench) -> None:
    bench.git("rm", "--quiet", "b.txt")
    write(bench.work / "b.txt/staged", "staged\n")
    bench.git("add", "b.txt")
    write(bench.work / "b.txt/x.ignored", "mine\n")


PUT_IN_PLACE = (folder_for_a_file, file_for_a_folder, folder_for_a_file_that_is_staged)


@pytest.mark.parametrize("put", PUT_IN_PLACE)
def test_what_stands_in_the_place_of_an_edit_is_there_after_a_rebase_and_after_its_undo(
    bench: Bench, put: object
) -> None:
    assert callable(put)
    put(bench)
    if not bench.git("stash", "create", fails=True):
        pytest.skip("this git cannot stash a folder that is staged in the place of a file: it came before 2.33.1")
    before = snapshot(bench, ours=False)

    rebased = bench.run("rebase", "--autostash")
    files = {name: found for name, found in snapshot(bench)["files"].items() if name != "d.txt"}
    undone = bench.run("undo")

    assert (rebased.code, files, undone.code) == (0, before["files"], 0)
    assert snapshot(bench, ours=False) == before


@pytest.mark.parametrize("put", PUT_IN_PLACE)
@pytest.mark.parametrize("theirs", [{"a.txt": text({3: "theirs"})}, {"b.txt": text({1: "theirs"})}])
def test_what_stands_in_the_place_of_an_edit_comes_back_when_a_rebase_that_stopped_is_given_up(
    bench: Bench, put: object, theirs: dict[str, str | bytes | None]
) -> None:
    bench.upstream("Theirs", theirs)
    assert callable(put)
    put(bench)
    before = snapshot(bench, ours=False)

    bench.run("rebase", "--autostash")

    assert bench.run("undo").code == 0
    assert snapshot(bench, ours=False) == before


def kept(bench: Bench) -> dict[str, str]:
    """What is kept of what was changed since, by path: a file's text, or where a link leads."""
    places = (bench.work / ".git/mergeready/journal").glob("*/kept/*")
    files = {path.relative_to(place).as_posix(): path for place in places for path in place.rglob("*")}
    return {
        name: str(path.readlink()) if path.is_symlink() else path.read_text(encoding="utf-8")
        for name, path in files.items()
        if path.is_symlink() or path.is_file()
    }


@pytest.mark.parametrize("way", ["abort", "undo"])
def test_folders_files_and_links_that_were_put_in_the_place_of_files_since_are_kept(bench: Bench, way: str) -> None:
    theirs = "theirs" if way == "abort" else LINES[2]
    bench.upstream("Theirs", {"a.txt": text({3: theirs, 18: "theirs"}), "new/one.txt": "theirs\n"})
    write(bench.work / ".gitignore", "*.ignored\n*.log\n")
    before = snapshot(bench, ours=False)
    bench.run("rebase", "--autostash")
    (bench.work / "b.txt").unlink()
    write(bench.work / "b.txt/deep/x.log", "made since\n")
    (bench.work / "d.txt").unlink()
    (bench.work / "d.txt").symlink_to("nowhere")
    shutil.rmtree(bench.work / "folder")
    write(bench.work / "folder", "a file now\n")

    taken_back = bench.run(way)

    assert (taken_back.code, "is kept in" in taken_back.out, snapshot(bench, ours=False)) == (0, True, before)
    made = {"b.txt/deep/x.log": "made since\n", "d.txt": "nowhere", "folder": "a file now\n"}
    assert {name: found for name, found in kept(bench).items() if name != "a.txt"} == made


@pytest.mark.skipif(git_version() < (2, 32), reason="git itself removed what is behind a link before 2.32")
def test_nothing_is_removed_behind_a_link_that_was_put_in_the_place_of_a_folder_since(bench: Bench) -> None:
    bench.upstream("Theirs", {"folder/new.txt": "theirs\n"})
    write(bench.work / "b.txt", "edit\n")
    bench.run("rebase", "--autostash")
    outside = bench.root / "outside"
    shutil.move(bench.work / "folder", outside)
    (bench.work / "folder").symlink_to(outside)

    undone = bench.run("undo")

    assert (undone.code, sorted(path.name for path in outside.iterdir())) == (0, ["c.txt", "new.txt"])
    assert kept(bench) == {"folder": str(outside)}


def test_an_edit_whose_place_is_taken_when_it_comes_back_says_so_and_is_not_lost(bench: Bench) -> None:
    bench.upstream("Theirs", {"a.txt": text({3: "theirs"})})
    write(bench.work / "mine.txt", "mine\n")
    bench.git("add", "mine.txt")
    before = snapshot(bench, ours=False)
    bench.run("rebase", "--autostash")
    write(bench.work / "mine.txt/x", "made since\n")

    skipped = bench.run("skip")

    assert (skipped.code, skipped.said) == (4, "mine.txt/x is where your edit of mine.txt belongs")
    assert (bench.run("abort").code, snapshot(bench, ours=False)) == (0, before)
    assert kept(bench)["mine.txt/x"] == "made since\n"


def test_edits_that_git_cannot_stash_can_be_committed_instead(bench: Bench) -> None:
    shutil.move(bench.work / "folder", bench.root / "outside")
    (bench.work / "folder").symlink_to(bench.root / "outside")

    refusal = bench.run("rebase", "--autostash", "--json")

    assert (refusal.code, refusal.json["next"][0]["argv"]) == (3, ["git", "commit", "-a"])
