"""Verdicts: from the cache only where all that was read is what it was, absence included."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.cache import Cache
from checks.engine import Verdict, chosen, code_stamp, collect, load_rule, remembered
from checks.index import Index
from checks.model import Edit, Finding, Findings
from checks.profiles import build
from checks.settings import RULE_NAMES, Settings
from checks.store import Store
from checks.tree import MemoryTree

SETTINGS = Settings(build("generic", {}))


@contextmanager
def index_of(files: Mapping[str, str], cache: Path | None = None, settings: Settings = SETTINGS) -> Iterator[Index]:
    with closing(Cache(str(cache) if cache else None, 1)) as kept:
        tree = MemoryTree({path: text.encode() for path, text in files.items()}, others=frozenset({"link"}))
        store = Store(tree, kept, 1)
        yield Index(store, settings)
        store.save()


def follow(index: Index) -> Findings:
    """Do what each file says, `read NAME`, `exists NAME` or `list`: so what is read depends on what was read."""
    name, seen = "a", []
    while name not in seen:
        seen.append(name)
        verb, _, other = index.text(name).partition(" ")
        if verb == "list":
            yield Finding(name, 1, "x/list", ",".join(index.paths))
        elif verb == "exists":
            yield Finding(name, 1, "x/exists", f"{other} {index.exists(other)}")
        elif verb == "read":
            name = other
    return len(seen)


NAMES = st.sampled_from(["a", "b", "c", "link"])
TEXTS = st.just("list") | st.builds("{} {}".format, st.sampled_from(["read", "exists"]), NAMES)
TREES = st.lists(st.dictionaries(NAMES.filter(lambda name: name != "link"), TEXTS), min_size=2, max_size=6)


@given(TREES)
def test_a_remembered_verdict_is_the_one_that_a_fresh_look_would_give(trees: list[dict[str, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for files in trees:
            with index_of(files) as fresh, index_of(files, Path(folder, "cache")) as kept:
                subjects, findings = collect(follow(fresh.reading()))
                verdict = remembered(kept.reading(), "x", follow)
                assert (verdict.subjects, verdict.findings) == (subjects, findings)


@given(TREES)
def test_a_tree_that_was_seen_before_is_not_looked_at_again(trees: list[dict[str, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        cached = []
        for files in (trees[0], trees[1], trees[0]):
            with index_of(files, Path(folder, "cache")) as index:
                cached.append(remembered(index.reading(), "x", follow).cached)
        assert cached[2]


def test_only_what_a_rule_read_decides_whether_it_looks_again(tmp_path: Path) -> None:
    cached = []
    for files in (
        {"a": "exists b", "c": "1"},
        {"a": "exists b", "c": "2", "d": ""},
        {"a": "exists b", "b": "", "c": "2"},
        {"a": "list", "c": "2"},
        {"a": "list", "c": "3"},
        {"a": "list", "c": "3", "d": ""},
    ):
        with index_of(files, tmp_path / "cache") as index:
            cached.append(remembered(index.reading(), "x", follow).cached)

    assert cached == [False, True, False, False, True, False]


def test_settings_decide_a_verdict_too_and_so_does_the_name(tmp_path: Path) -> None:
    other = SETTINGS._replace(options={"x": {"key": 1}})
    cached = []
    for settings, name in ((SETTINGS, "x"), (other, "x"), (SETTINGS, "y"), (SETTINGS, "x"), (other, "x")):
        with index_of({"a": "list"}, tmp_path / "cache", settings) as index:
            cached.append(remembered(index.reading(), name, follow).cached)

    assert cached == [False, False, False, True, True]


FULL = Finding(
    path="a\udcff.py",
    line=3,
    code="x/y",
    message="é\ud800\n\0",
    reason="why",
    column=4,
    edits=(Edit("a.py", 1, 2, "x\n"), Edit("b.py", 1, 0, "")),
    anchors=(1, 2),
    accepted="-a\n+b",
    follows=("b.py", 9, "x/z"),
    source=("c.py", 7),
    detail="much",
)


def test_a_finding_comes_out_of_the_cache_as_it_went_in(tmp_path: Path) -> None:
    def find(index: Index) -> Findings:
        yield FULL
        yield Finding("a", 1, "x/y", "plain")
        return len(index.paths)

    for cached in (False, True):
        with index_of({"a": ""}, tmp_path / "cache") as index:
            verdict = remembered(index.reading(), "x", find)
            expected = Verdict("x", 1, (Finding("a", 1, "x/y", "plain"), FULL), verdict.seconds, cached)
            assert verdict == expected
            assert [type(field) for field in verdict.findings[1]] == [type(field) for field in FULL]


def test_a_rule_that_reads_nothing_is_remembered_too(tmp_path: Path) -> None:
    def nothing(index: Index) -> Findings:
        yield from ()
        return 0

    cached = []
    for files in ({}, {"a": ""}):
        with index_of(files, tmp_path / "cache") as index:
            cached.append(remembered(index.reading(), "x", nothing).cached)
    assert cached == [False, True]


def test_findings_are_put_in_order() -> None:
    def find() -> Findings:
        for path, line, code in (("b", 1, "x/a"), ("a", 2, "x/a"), ("a", 1, "x/b"), ("a", 1, "x/a")):
            yield Finding(path, line, code, "")
        return 7

    subjects, findings = collect(find())

    assert (subjects, [(f.path, f.line, f.code) for f in findings]) == (
        7,
        [("a", 1, "x/a"), ("a", 1, "x/b"), ("a", 2, "x/a"), ("b", 1, "x/a")],
    )


@pytest.mark.parametrize(
    ("select", "skip", "names", "only", "left_out", "expected"),
    [
        ((), (), (), (), (), ("a", "b", "c")),
        (("b",), (), (), (), (), ("b",)),
        (("b", "c"), ("c",), (), (), (), ("b",)),
        ((), ("c",), (), (), ("a",), ("b",)),
        (("b",), ("c",), ("c",), (), (), ("c",)),
        ((), (), ("c",), ("a",), (), ("a", "c")),
        ((), (), ("c", "a"), (), ("a",), ("c",)),
    ],
)
def test_rules_that_are_named_run_even_if_the_settings_leave_them_out(
    *,
    select: tuple[str, ...],
    skip: tuple[str, ...],
    names: tuple[str, ...],
    only: tuple[str, ...],
    left_out: tuple[str, ...],
    expected: tuple[str, ...],
) -> None:
    settings = SETTINGS._replace(select=select, skip=skip)

    assert chosen(settings, names, only, left_out, ("a", "b", "c")) == expected


@pytest.mark.parametrize("name", RULE_NAMES)
def test_every_rule_of_the_table_can_be_loaded(name: str) -> None:
    assert load_rule(name).__name__ == f"checks.rules.{name.replace('-', '_')}"


@pytest.mark.parametrize("package", ["black", "ruff"])
def test_another_formatter_is_other_code(package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = code_stamp.__wrapped__()
    assert code_stamp.__wrapped__() == before
    (tmp_path / package).mkdir()
    (tmp_path / package / "__init__.py").write_text("", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)

    after = code_stamp.__wrapped__()

    assert after != before
    assert {type(after), 0 < after < 2**31} == {int, True}
