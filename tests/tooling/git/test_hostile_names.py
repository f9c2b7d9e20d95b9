"""Names made to break out: of branches, remotes and files. Nothing runs, nothing is printed raw, and all works."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.tooling.git.repositories import Bench, Result, copy_of, snapshot, text, write

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no file can have such a name there")
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
ALPHABET = [
    "-",
    "--",
    "exec=",
    "$(touch exploded)",
    "`touch exploded`",
    ";",
    "|",
    "&",
    "'",
    '"',
    "\x1b[31m",
    "\u202e",
    " ",
    "é",
]
# On macOS every name is UTF-8.
FILES = [*ALPHABET, "\n", "\t", *([] if sys.platform == "darwin" else ["\udcff"]), "*", "\\", ":", "#12", "@name", "%s"]
tricky = settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def fresh(template: Path, tmp_path: Path) -> Bench:
    """A bench for one example."""
    root = tmp_path / "bench"
    shutil.rmtree(root, ignore_errors=True)
    return copy_of(template, root)


def harmless(bench: Bench, *results: Result) -> bool:
    """Whether nothing raw was printed and nothing ran."""
    printed = "".join(result.out + result.err for result in results)
    return not RAW.search(printed) and not list(bench.root.rglob("exploded"))


def _round_trip(bench: Bench) -> list[Result]:
    commands = (
        ("status",),
        ("rebase", "--dry-run", "--fetch", "--autostash"),
        ("rebase", "--autostash"),
        ("status", "--json"),
        ("undo",),
        ("undo", "--list"),
    )
    return [bench.run(*argv) for argv in commands]


@tricky
@given(st.lists(st.sampled_from(FILES), min_size=1, max_size=4).map("".join))
def test_files_of_any_name(template: Path, tmp_path: Path, name: str) -> None:
    bench = fresh(template, tmp_path)
    bench.commit("Mine", {f"x{name}": "mine\n"})
    bench.upstream("Theirs", {f"y{name}": "theirs\n"})
    write(bench.work / f"x{name}", "edit\n")
    write(bench.work / f"z{name}", "untracked\n")
    before = snapshot(bench, ours=False)

    results = _round_trip(bench)

    assert [result.code for result in results] == [0] * 6
    assert harmless(bench, *results)
    assert snapshot(bench, ours=False) == before


@tricky
@given(st.lists(st.sampled_from(ALPHABET), min_size=1, max_size=4).map("".join))
def test_branches_of_any_name(template: Path, tmp_path: Path, name: str) -> None:
    bench = fresh(template, tmp_path)
    name = f"x/{name}/y".replace(" ", "_").replace("\x1b[", "")
    if bench.git("check-ref-format", f"refs/heads/{name}", fails=True) or not bench.oid("HEAD"):
        return
    bench.git("update-ref", f"refs/heads/{name}", "HEAD", fails=True)
    if not bench.oid(f"refs/heads/{name}"):
        return
    bench.git("symbolic-ref", "HEAD", f"refs/heads/{name}")
    before = snapshot(bench, ours=False)

    results = _round_trip(bench)
    pushed = bench.run("push")

    assert [result.code for result in [*results, pushed]] == [0] * 7
    assert harmless(bench, *results, pushed)
    assert snapshot(bench, ours=False) == {**before, "refs": snapshot(bench, ours=False)["refs"]}


@tricky
@given(st.lists(st.sampled_from(ALPHABET), min_size=1, max_size=4).map("".join))
def test_remotes_of_any_name(template: Path, tmp_path: Path, name: str) -> None:
    bench = fresh(template, tmp_path)
    url = bench.git("config", "remote.upstream.url")
    bench.git("config", "--remove-section", "remote.upstream")
    bench.git("config", f"remote.{name}.url", url)
    before = snapshot(bench, ours=False)

    results = _round_trip(bench)

    assert {result.code for result in results} <= {0, 3, 6}
    assert harmless(bench, *results)
    assert snapshot(bench, ours=False) == before


@pytest.mark.parametrize("subject", ["\x1b]0;title\x07", "\u202eevil", "a\rb", "#12 @name"])
def test_subjects_of_any_kind_are_shown_harmless(bench: Bench, subject: str) -> None:
    bench.git("commit", "--quiet", "--amend", "--cleanup=verbatim", "--message", subject)
    bench.upstream("Change line 3", {"a.txt": text({3: "theirs"})})

    results = [bench.run("rebase", "--dry-run", "--fetch"), bench.run("rebase"), bench.run("abort")]

    assert [result.code for result in results] == [0, 4, 0]
    assert harmless(bench, *results)


@pytest.mark.skipif(sys.platform == "darwin", reason="on macOS every name is UTF-8")
def test_a_folder_with_a_name_that_is_no_text_works(template: Path, tmp_path: Path) -> None:
    bench = copy_of(template, Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9 $(touch exploded)")))

    results = _round_trip(bench)

    assert [result.code for result in results] == [0] * 6
    assert harmless(bench, *results)
