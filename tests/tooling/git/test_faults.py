"""Whatever is killed, and whenever: `status` tells the truth, and everything comes back."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.tooling.git import faults
from tests.tooling.git.faults import Fault, Injector, every_fault, go_on, is_open, keep, put_back, take_back
from tests.tooling.git.repositories import Bench, snapshot, text, write

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a shell, pipes and signals of POSIX")
Setup = Callable[[Bench], None]


def edited(bench: Bench) -> None:
    """Staged, unstaged, untracked and ignored work, and a stash."""
    write(bench.work / "b.txt", text({2: "stash"}))
    bench.git("stash", "push", "--quiet")
    write(bench.work / "b.txt", text({10: "mine", 20: "staged"}))
    bench.git("add", "b.txt")
    write(bench.work / "b.txt", text({10: "mine", 20: "staged", 1: "unstaged"}))
    write(bench.work / "added.txt", "added\n")
    bench.git("add", "added.txt")
    (bench.work / "folder/c.txt").unlink()
    write(bench.work / "untracked.txt", "untracked\n")
    write(bench.work / "x.ignored", "ignored\n")


def harmless(bench: Bench) -> None:
    """Upstream changes files of its own, and one that is edited here."""
    edited(bench)
    bench.upstream(
        "Change line 12 of b", {"b.txt": text({12: "upstream"}), "deep/er/e.txt": "e\n", "a.txt": text({9: "up"})}
    )


def conflicting(bench: Bench) -> None:
    """Upstream changes what the first commit changes."""
    edited(bench)
    bench.upstream("Change line 3", {"a.txt": text({3: "theirs"}), "deep/er/e.txt": "e\n"})


def rebased(bench: Bench) -> None:
    """A rebase has been done."""
    harmless(bench)
    assert bench.run("rebase", "--autostash").code == 0


def later(bench: Bench) -> None:
    """Work that goes on in another file, some of it staged."""
    write(bench.work / "folder/c.txt", text({1: "later"}))
    bench.git("add", "folder/c.txt")
    write(bench.work / "folder/c.txt", text({1: "later", 2: "still"}))


def rebased_before(bench: Bench) -> None:
    """A rebase has been done, and work went on after it."""
    assert bench.run("rebase").code == 0
    later(bench)


def stopped(bench: Bench) -> None:
    """A rebase stands at a conflict."""
    conflicting(bench)
    assert bench.run("rebase", "--autostash").code == 4


def on_main(bench: Bench) -> None:
    """The main branch is checked out."""
    bench.git("switch", "--quiet", "main")


def diverged(bench: Bench) -> None:
    """The fork has a commit of its own, so that a sync has to merge."""
    edited(bench)
    bench.reviewer("Fork's own", {"own.txt": "x\n"}, branch="main")


CASES: dict[str, tuple[Setup, Setup | None, tuple[str, ...]]] = {
    # The longest goes first, so that no process is left with it in the end.
    "sync via pr": (diverged, None, ("sync", "--via-pr")),
    "rebase": (harmless, None, ("rebase", "--autostash")),
    "rebase that conflicts": (conflicting, None, ("rebase", "--autostash")),
    "rebase and push": (lambda bench: None, None, ("rebase", "--push")),
    "abort": (conflicting, stopped, ("abort",)),
    "undo": (harmless, rebased, ("undo",)),
    "undo under later work": (later, rebased_before, ("undo",)),
    "push": (edited, None, ("push",)),
    "sync": (edited, None, ("sync",)),
    "sync of main": (on_main, None, ("sync",)),
}


GONE_ON_WITH = frozenset(CASES) - {"rebase that conflicts", "abort", "undo", "undo under later work"}


def _try(bench: Bench, folder: Path, case: str, step: int) -> int:
    """Run a case with every `step`th fault; how many that were, and AssertionError with all that went wrong.

    After each, `status` says that nothing is open only where nothing or all was done. All can be taken back, and where
    the case lets us, gone on with from the same state: in the end it is done, or was not begun.
    """
    setup, state, argv = CASES[case]
    first, ready, broken = (folder / name for name in ("first", "ready", "broken"))
    for sample in bench.root.rglob("hooks/*.sample"):
        sample.unlink()  # a third of all files, which would be copied each time
    keep(bench, first)
    setup(bench)
    before = picture(bench)
    if state:
        put_back(bench, first)
        state(bench)
    keep(bench, ready)
    begun = picture(bench)
    injector = Injector(bench, folder)
    durations = injector.durations(argv)
    done = picture(bench)
    tried = 0
    wrong: list[object] = []
    for fault in itertools.islice(every_fault(durations), 0, None, step):
        put_back(bench, ready)
        result = injector.run(argv, fault)
        tried += 1
        opened = is_open(bench)
        if not opened and (now := picture(bench)) not in (begun, done):
            wrong.append((fault, result, "nothing is open", _differences(now, begun)))
        if opened and case in GONE_ON_WITH:
            keep(bench, broken)
            taken = go_on(bench)
            if (now := picture(bench)) not in (before, done):
                wrong.append((fault, result, taken, _differences(now, done)))
            put_back(bench, broken)
        taken = take_back(bench, opened=opened)
        if (now := picture(bench)) != before:
            wrong.append((fault, result, taken, _differences(now, before)))
    assert wrong == []
    return tried


def picture(bench: Bench) -> dict[str, Any]:
    """What has to be as before: everything but the refs that we keep and those that follow remotes."""
    return snapshot(bench, ours=False)


def _differences(now: dict[str, Any], then: dict[str, Any]) -> dict[str, Any]:
    return {name: (now[name], then[name]) for name in now if now[name] != then[name]}


@pytest.mark.parametrize("case", CASES)
def test_a_kill_at_some_moment_loses_nothing(bench: Bench, tmp_path: Path, case: str) -> None:
    assert _try(bench, tmp_path / "faults", case, step=97) > 0


def test_a_git_that_only_begins_when_we_are_killed_is_waited_for(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(faults, "WRAPPER", faults.WRAPPER.replace("free=9\n", "sleep 0.1\nfree=9\n"))
    rebased_before(bench)

    Injector(bench, tmp_path / "faults").run(["undo"], Fault(8, "later", "us", "SIGKILL", 0.02))

    assert is_open(bench)
    assert take_back(bench, opened=True)[0].startswith("0 abort")


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_a_kill_at_any_moment_loses_nothing(
    bench: Bench, tmp_path: Path, case: str, record_property: Callable[[str, object], None]
) -> None:
    tried = _try(bench, tmp_path / "faults", case, step=1)
    record_property("faults tried", tried)
    assert tried > 150
