"""Whatever is killed, and whenever: `status` tells the truth, and everything comes back."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tooling.git.faults import Injector, faults, finish, picture, recover
from tests.tooling.git.repositories import Bench, text, write

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


def rebased_clean(bench: Bench) -> None:
    """A rebase has been done, and work went on in another file."""
    assert bench.run("rebase").code == 0
    write(bench.work / "folder/c.txt", text({1: "later"}))
    bench.git("add", "folder/c.txt")
    write(bench.work / "folder/c.txt", text({1: "later", 2: "still"}))


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
    "rebase": (harmless, None, ("rebase", "--autostash")),
    "rebase that conflicts": (conflicting, None, ("rebase", "--autostash")),
    "rebase and push": (lambda bench: None, None, ("rebase", "--push")),
    "abort": (conflicting, stopped, ("abort",)),
    "undo": (harmless, rebased, ("undo",)),
    "push": (edited, None, ("push",)),
    "sync": (edited, None, ("sync",)),
    "sync of main": (on_main, None, ("sync",)),
    "sync via pr": (diverged, None, ("sync", "--via-pr")),
}


def _tried(bench: Bench, folder: Path, case: str, step: int) -> int:
    """Run a case with every `step`th fault; how many were tried. The first world is what must come back in the end."""
    setup, state, argv = CASES[case]
    bare = Injector(bench, folder / "bare")
    setup(bench)
    before = picture(bench)
    if state:
        bare.restore()
        state(bench)
    injector = Injector(bench, folder / "ready")
    injector.run(argv, None)
    commands = injector.count
    tried, wrong = 0, []
    for fault in faults(commands, step):
        injector.restore()
        result = injector.run(argv, fault)
        taken = recover(bench)
        tried += 1
        if (after := picture(bench)) != before:
            wrong.append((fault, result, taken, {name: after[name] for name in after if after[name] != before[name]}))
    assert wrong == []
    sys.stderr.write(f"{case}: {tried} faults tried, at {commands} git commands\n")
    return tried


GONE_ON_WITH = ("rebase", "rebase and push", "push", "sync", "sync of main", "sync via pr")


def _gone_on(bench: Bench, folder: Path, case: str, step: int) -> int:
    """The same, going on instead of taking back: it is done in the end as if nothing had happened, or was not begun."""
    setup, _, argv = CASES[case]
    setup(bench)
    before = picture(bench)
    injector = Injector(bench, folder / "ready")
    injector.run(argv, None)
    commands, done = injector.count, picture(bench)
    tried, wrong = 0, []
    for fault in faults(commands, step):
        injector.restore()
        result = injector.run(argv, fault)
        taken = finish(bench)
        tried += 1
        if picture(bench)["files"] not in (before["files"], done["files"]):
            wrong.append((fault, result, taken))
    assert wrong == []
    sys.stderr.write(f"{case}: {tried} faults tried, at {commands} git commands, and gone on\n")
    return tried


@pytest.mark.parametrize("case", GONE_ON_WITH)
def test_after_a_kill_it_can_be_gone_on_with(bench: Bench, tmp_path: Path, case: str) -> None:
    assert _gone_on(bench, tmp_path / "faults", case, step=97) > 0


@pytest.mark.parametrize("case", CASES)
def test_a_kill_at_some_moment_loses_nothing(bench: Bench, tmp_path: Path, case: str) -> None:
    assert _tried(bench, tmp_path / "faults", case, step=151) > 0


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_a_kill_at_any_moment_loses_nothing(bench: Bench, tmp_path: Path, case: str) -> None:
    assert _tried(bench, tmp_path / "faults", case, step=1) > 100
