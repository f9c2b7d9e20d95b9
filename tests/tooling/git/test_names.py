"""Names that a file system cannot hold or cannot tell apart (row 60): refused with the list before anything starts."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tooling.git.repositories import Bench, copy_of, snapshot, text, write
from tests.tooling.git.test_matrix_rebase import refused, warned
from tooling.git.names import FileSystem, unfit

WINDOWS = FileSystem(windows=True, ignores_case=True, spare=40)
MAC = FileSystem(ignores_case=True, composes=True)
LINUX = FileSystem()
NAMES: list[tuple[str, FileSystem, str]] = [
    ("aux", WINDOWS, "Windows keeps that name for a device"),
    ("x/COM1.txt/y", WINDOWS, "Windows keeps that name for a device"),
    ("lpt².log", WINDOWS, "Windows keeps that name for a device"),
    ("nul .txt", WINDOWS, "Windows keeps that name for a device"),
    ("a.", WINDOWS, "Windows allows no dot or space at the end of a name"),
    ("a /b", WINDOWS, "Windows allows no dot or space at the end of a name"),
    ("what?.txt", WINDOWS, "Windows does not allow one of its characters"),
    ("a\\b", WINDOWS, "Windows does not allow one of its characters"),
    ("a\nb", WINDOWS, "Windows does not allow one of its characters"),
    (f"{'d' * 20}/{'e' * 20}", WINDOWS, "the path is too long"),
    ("é" * 128, LINUX, "a name in it is too long"),
    ("x/" * 2047 + "yy", LINUX, "the path is too long"),
]
FINE = ["auxiliary.py", "com10", "console.log", ".gitignore", "a.b", "conn", "x/nulls"]


@pytest.mark.parametrize(("path", "system", "reason"), NAMES)
def test_row_60_a_name_that_cannot_be_written_has_a_reason(path: str, system: FileSystem, reason: str) -> None:
    assert list(unfit([path], [], system)) == [f"{path}: {reason}"]


@pytest.mark.parametrize("path", FINE)
def test_row_60_a_name_that_only_looks_like_one_is_fine(path: str) -> None:
    assert list(unfit([path], [], WINDOWS)) == []


def test_row_60_on_linux_nearly_every_name_is_fine() -> None:
    assert list(unfit([*(path for path, system, _ in NAMES if system is WINDOWS), "A", "a"], [], LINUX)) == []


CLASHES = [
    ({"README.md"}, {"Readme.md"}, MAC, ["Readme.md: the same as README.md here"]),
    ({"docs/a", "x"}, {"Docs/b"}, MAC, []),
    ({"docs"}, {"Docs/b"}, MAC, ["Docs/b: docs is a file here"]),
    ({"caf\u00e9"}, {"cafe\u0301"}, MAC, ["caf\u00e9: the same as cafe\u0301 here"]),
    ({"caf\u00e9"}, {"cafe\u0301"}, WINDOWS, []),
    ({"new"}, {"a", "A"}, MAC, []),
    ({"STRASSE"}, {"straße"}, MAC, ["straße: the same as STRASSE here"]),
]


@pytest.mark.parametrize(("added", "tree", "system", "found"), CLASHES)
def test_row_60_names_that_are_one_file_are_named_in_pairs_where_one_is_new(
    added: set[str], tree: set[str], system: FileSystem, found: list[str]
) -> None:
    assert list(unfit(added, tree, system)) == found


def upstream_adds(bench: Bench, *paths: str) -> None:
    """Somebody commits paths to upstream that may not be possible here."""
    bench.git("fetch", "--quiet", "origin", at=bench.other)
    bench.git("switch", "--quiet", "--detach", "origin/main", at=bench.other)
    blob = bench.git("hash-object", "-w", "--stdin", at=bench.other, stdin=b"theirs\n")
    for path in paths:
        bench.git("update-index", "--add", "--cacheinfo", f"100644,{blob},{path}", at=bench.other)
    bench.git("commit", "--quiet", "--message", "Add them", at=bench.other)
    bench.git("push", "--quiet", "origin", "HEAD:refs/heads/main", at=bench.other)
    bench.git("reset", "--quiet", "HEAD~1", at=bench.other)


def test_row_60_a_name_that_is_too_long_here_is_refused_before_git_stops_at_it(bench: Bench) -> None:
    upstream_adds(bench, "x" * 256)

    assert refused(bench, "rebase") == (3, "unfit-names")
    result = bench.run("rebase", "--json")
    assert result.json["details"] == [f"{'x' * 256}: a name in it is too long"]
    assert result.json["next"][-1]["argv"] == ["git", "sparse-checkout", "set", "--no-cone", "/*", f"!/{'x' * 256}"]


def test_row_60_a_path_that_is_too_long_for_windows_may_be_allowed(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    upstream_adds(bench, f"{'d' * 20}/{'e' * 20}")
    monkeypatch.setattr("tooling.git.obstacles.file_system", lambda repo: WINDOWS)

    assert [step["argv"][1] for step in bench.run("rebase", "--json").json["next"]] == ["config", "sparse-checkout"]


def test_row_60_the_way_out_that_is_offered_works(bench: Bench) -> None:
    upstream_adds(bench, "x" * 256)
    bench.git(*bench.run("rebase", "--json").json["next"][-1]["argv"][1:])

    assert (bench.run("rebase").code, bench.git("log", "-1", "--format=%s", "feature~2")) == (0, "Add them")


@pytest.mark.parametrize("option", ["core.ignoreCase", "core.precomposeUnicode"])
def test_row_60_what_git_found_out_about_the_file_system_counts(bench: Bench, option: str) -> None:
    upstream_adds(bench, *(("A.txt",) if option == "core.ignoreCase" else ("caf\u00e9", "cafe\u0301")))
    bench.git("config", option, "true")

    assert refused(bench, "rebase") == (3, "unfit-names")


@pytest.mark.parametrize("name", ["aux.txt", "what?.txt"])
def test_row_60_a_main_branch_that_cannot_be_checked_out_here_stays(
    bench: Bench, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    upstream_adds(bench, name)
    monkeypatch.setattr("tooling.git.obstacles.file_system", lambda repo: WINDOWS)
    bench.git("switch", "--quiet", "main")
    before = snapshot(bench, ours=False)

    result = bench.run("sync", "--json")

    assert (result.code, warned(result), snapshot(bench, ours=False)) == (0, ["local-main"], before)
    assert f"cannot be held here: {name}: Windows" in result.json["warnings"][0]["message"]
    assert bench.at_fork("refs/heads/main") == bench.oid("refs/heads/main", at=bench.root / "up.git")


def test_row_60_links_that_come_as_files_are_told(bench: Bench) -> None:
    bench.git("fetch", "--quiet", "origin", at=bench.other)
    (bench.other / "link").symlink_to("a.txt")
    bench.git("add", "link", at=bench.other)
    bench.upstream("Add a link", {"x.txt": "x\n"})
    bench.git("config", "core.symlinks", "false")

    result = bench.run("rebase", "--json")

    assert (result.code, warned(result), (bench.work / "link").read_text(encoding="utf-8")) == (
        0,
        ["links-as-files"],
        "a.txt",
    )
    assert (bench.run("undo").code, (bench.work / "link").exists()) == (0, False)


def test_row_60_a_submodule_whose_address_changes_has_to_be_synced_first(bench: Bench) -> None:
    library = bench.root / "library"
    bench.git("init", "--quiet", "--initial-branch=main", str(library), at=bench.root)
    bench.commit("One", {"x": "1\n"}, at=library)
    bench.git("fetch", "--quiet", "origin", at=bench.other)
    bench.git("switch", "--quiet", "--detach", "origin/main", at=bench.other)
    bench.git("submodule", "--quiet", "add", str(library), "sub", at=bench.other)
    bench.git("commit", "--quiet", "--message", "Add a submodule", at=bench.other)
    bench.git("push", "--quiet", "origin", "HEAD:main", at=bench.other)

    result = bench.run("rebase", "--json")

    messages = [warning["message"] for warning in result.json["warnings"]]
    assert [message.partition("; ")[2] for message in messages] == [
        "afterwards run: git submodule sync && git submodule update --init",
        "run: git submodule sync && git submodule update --init",
    ]


def _can_mount() -> bool:
    needed = all(shutil.which(name) for name in ("mkntfs", "lowntfs-3g", "umount"))
    return sys.platform == "linux" and needed and os.geteuid() == 0 and Path("/dev/fuse").exists()


NATIVE = sys.platform in ("win32", "darwin")
needs_ntfs = pytest.mark.skipif(not (NATIVE or _can_mount()), reason="needs root, ntfs-3g and FUSE, to mount NTFS")


@pytest.fixture(scope="module")
def ntfs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder where case makes no difference: what this system has, or NTFS with the names of Windows."""
    if NATIVE:
        yield tmp_path_factory.mktemp("native")
        return
    image, place = tmp_path_factory.mktemp("image") / "ntfs", tmp_path_factory.mktemp("ntfs")
    with image.open("wb") as file:
        file.truncate(64 << 20)
    subprocess.run(["mkntfs", "--force", "--fast", "--quiet", str(image)], check=True, capture_output=True)
    subprocess.run(["lowntfs-3g", "-o", "ignore_case,windows_names", str(image), str(place)], check=True)
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.fixture
def windows(template: Path, ntfs: Path, tmp_path: Path) -> Bench:
    """A bench on such a file system, as git sets a clone up there."""
    bench = copy_of(template, ntfs / tmp_path.name)
    for key, value in (("core.ignoreCase", "true"), ("core.fileMode", "false")):
        bench.git("config", key, value)
        bench.git("config", key, value, at=bench.other)
    bench.git("update-index", "-q", "--refresh")
    return bench


@needs_ntfs
def test_row_60_a_file_that_upstream_only_spells_otherwise_is_in_nobodys_way(windows: Bench) -> None:
    windows.git("fetch", "--quiet", "origin", at=windows.other)
    windows.git("switch", "--quiet", "--detach", "origin/main", at=windows.other)
    windows.git("mv", "b.txt", "B.txt", at=windows.other)
    windows.git("commit", "--quiet", "--message", "Spell it otherwise", at=windows.other)
    windows.git("push", "--quiet", "origin", "HEAD:main", at=windows.other)
    windows.git("reset", "--quiet", "--hard", "HEAD~1")
    windows.git("update-ref", "-d", "refs/remotes/origin/feature")
    before = snapshot(windows, ours=False)

    result = windows.run("rebase")

    assert (result.code, windows.git("ls-files", "B.txt", "b.txt")) == (0, "B.txt")
    assert windows.run("undo").code == 0
    assert {**snapshot(windows, ours=False), "files": {}} == {**before, "files": {}}


@needs_ntfs
def test_row_60_a_file_in_the_way_is_seen_and_put_aside_under_the_name_it_has(windows: Bench) -> None:
    windows.upstream("Add notes", {"notes.txt": "theirs\n"})
    write(windows.work / "Notes.TXT", "mine\n")
    names = sorted(path.name for path in windows.work.iterdir())

    assert refused(windows, "rebase") == (3, "in-the-way")
    assert windows.run("rebase", "--backup-ignored").code == 0
    assert (windows.work / "notes.txt").read_text(encoding="utf-8") == "theirs\n"
    assert windows.run("undo").code == 0
    assert (windows.work / "Notes.TXT").read_text(encoding="utf-8") == "mine\n"
    assert sorted(path.name for path in windows.work.iterdir()) == names


@needs_ntfs
def test_row_60_everything_works_on_ntfs(windows: Bench) -> None:
    windows.upstream("Change line 3", {"a.txt": text({3: "theirs"})})
    write(windows.work / "b.txt", text({10: "mine", 1: "edit"}))
    before = snapshot(windows, ours=False)

    codes = [windows.run(*argv).code for argv in (("rebase", "--autostash"), ("status",), ("abort",))]
    same = snapshot(windows, ours=False) == before
    rest = (("sync",), ("undo",), ("sync", "--via-pr"), ("undo",), ("push",), ("rebase", "--autostash", "--dry-run"))

    assert (codes, same, [windows.run(*argv).code for argv in rest]) == ([4, 0, 0], True, [0] * 6)
    assert snapshot(windows, ours=False) == before
