"""Whatever is edited between runs: a run with a cache says what one without says, and a fix keeps its promises."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from checks.baseline import acceptance, render
from checks.cache import Cache
from checks.edits import parses
from checks.errors import CheckError
from checks.fix import Fixed, Overlay, fix
from checks.model import Finding
from checks.run import Judge, Outcome
from checks.settings import RULE_NAMES, Settings
from checks.text import split_lines
from checks.tree import MemoryTree, Tree, WorkTree
from tests.checks.library import DRIFTED, LIBRARY, SCALE, copy_of
from tests.checks.repositories import commit_all, git, make_repository, write
from tests.checks.trees import judge, tree_of

LAZY = """
from typing import TYPE_CHECKING
from .utils import _LazyModule
_import_structure = {"a": ["scale"]}
if TYPE_CHECKING:
    from .a import scale
"""
PATHS = (
    *LIBRARY,
    *("src/lib/c.py", "src/lib/sub/__init__.py", "tests/test_a.py", "docs/source/_toctree.yml", "docs/source/a.md"),
    *("pyproject.toml", "mergeready.toml", ".mergeready-baseline.json"),
)
TEXTS = (
    *("", "\n", SCALE, SCALE.replace("*", "+"), "def scale(:\n", "\x00", "\ufeff" + SCALE, LAZY),
    *(copy_of(name) for name in ("a", "b", "gone")),
    *(copy_of("a", code) for code in (SCALE.replace("*", "+"), SCALE.replace("states", "other"), "def (:\n")),
    "# mergeready: skip[copied-code] ours\n" + copy_of("a", SCALE.replace("*", "-")),
    "src/lib/a.py\nsrc/lib/b.py\n",
    "src/lib/b.py\nsrc/lib/a.py\nsrc/lib/b.py\ngone.py\n",
    "- sections:\n  - local: a\n    title: A\n  title: T\n",
    '[tool.mergeready]\nskip = ["doctest-list"]\n',
    'exclude = ["src/lib/b.py"]\n[minimum]\ncopied-code = 2\n',
    '{"schema": 1, "accepted": []}\n',
    render(map(acceptance, judge("copied-code", tree_of(DRIFTED)))),
)
EDITS = st.lists(st.tuples(st.sampled_from(PATHS), st.sampled_from((None, *TEXTS))), max_size=3)


def every_rule(_: Settings) -> Sequence[str]:
    return RULE_NAMES


@contextmanager
def cached(folder: Path) -> Iterator[Cache]:
    with closing(Cache(str(folder / "cache"), 1)) as cache:
        yield cache


def outcome_of(tree: Tree, cache: Cache) -> Outcome | str:
    """What a run says, without how long it took and whether it remembered; the message where it says only that."""
    try:
        outcome = Judge(cache, every_rule)(tree)
    except CheckError as error:
        return str(error)
    verdicts = tuple(verdict._replace(seconds=0, cached=False) for verdict in outcome.verdicts)
    return outcome._replace(verdicts=verdicts, seconds=0)


def edit(files: dict[str, bytes], edits: list[tuple[str, str | None]]) -> dict[str, bytes]:
    changed = files | {path: text.encode() for path, text in edits if text is not None}
    return {path: content for path, content in changed.items() if (path, None) not in edits}


def encoded(files: dict[str, str]) -> dict[str, bytes]:
    return {path: text.encode() for path, text in files.items()}


@given(st.lists(EDITS, min_size=1, max_size=5))
def test_a_run_that_remembers_earlier_ones_says_what_a_fresh_one_says(
    steps: list[list[tuple[str, str | None]]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        files = encoded(LIBRARY)
        for edits in steps:
            files = edit(files, edits)
            tree = MemoryTree(files)
            with cached(Path(folder)) as cache:
                assert outcome_of(tree, cache) == outcome_of(tree, Cache(None))


MOVES = st.sampled_from(["edit", "edit", "commit", "stage", "rename", "switch", "damage"])


@settings(max_examples=15)
@given(st.lists(st.tuples(MOVES, EDITS), min_size=2, max_size=6))
def test_so_it_is_in_a_repository_that_is_worked_in(steps: list[tuple[str, list[tuple[str, str | None]]]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        repo = make_repository(folder / "repo", encoded(LIBRARY))
        git(repo, "branch", "--quiet", "other")
        for move, edits in steps:
            make_move(repo, move, edits)
            if move == "damage" and (folder / "cache").exists():
                (folder / "cache").write_bytes((folder / "cache").read_bytes()[:5000] + b"damage")
            with cached(folder) as cache:
                assert outcome_of(WorkTree(str(repo)), cache) == outcome_of(WorkTree(str(repo)), Cache(None))


def make_move(repo: Path, move: str, edits: list[tuple[str, str | None]]) -> None:
    """Do to a repository what people do between two runs."""
    for path, text in edits:
        if text is not None:
            write(repo, {path: text})
        elif (repo / path).is_file():
            (repo / path).unlink()
    if move == "stage":
        git(repo, "add", "--all")
    elif move == "commit":
        commit_all(repo)
    elif move == "rename" and (repo / "src/lib").is_dir() and not (repo / "src/library").exists():
        shutil.move(repo / "src/lib", repo / "src/library")
    elif move == "switch":
        commit_all(repo)
        git(repo, "checkout", "--quiet", "other")


ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])


@given(edits=EDITS, end=ENDS, ended=st.booleans())
def test_a_fix_leaves_what_parsed_parsing_and_other_lines_as_they_are_and_then_has_nothing_to_do(
    *, edits: list[tuple[str, str | None]], end: bytes, ended: bool
) -> None:
    files = edit(encoded(LIBRARY), edits)
    files = {path: content.replace(b"\n", end) for path, content in files.items()}
    files = files if ended else {path: content.removesuffix(end) for path, content in files.items()}
    tree = MemoryTree(files)

    fixed = fixed_by_every_rule(tree)

    assert fixed.settled
    for change in fixed.changes:
        before, after = change.before or b"", change.after or b""
        assert not (change.path.endswith(".py") and parses(before)) or parses(after)
        assert {line[len(line.rstrip(b"\r\n")) :] for line in split_lines(after)} <= {end, b""}
    assert fixed_by_every_rule(Overlay(tree, fixed.changes)).changes == ()


def fixed_by_every_rule(tree: Tree) -> Fixed:
    def findings(present: Tree) -> tuple[Finding, ...]:
        outcome = outcome_of(present, Cache(None))
        return () if isinstance(outcome, str) else outcome.findings

    return fix(tree, findings)
