"""Facts by content: extracted once, kept for later runs, and never under the wrong key."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from checks.cache import Cache
from checks.extractor import Extractor
from checks.facts.comments import PYTHON
from checks.store import Store
from checks.tree import MemoryTree, Tree, WorkTree
from tests.checks.repositories import make_repository, write

calls: list[str] = []


def extract(text: str) -> list[str]:
    calls.append(text)
    return text.split()


def load(stored: list[str]) -> tuple[str, ...]:
    return tuple(stored)


WORDS = Extractor("words", extract, load)


@pytest.fixture(autouse=True)
def no_calls() -> None:
    calls.clear()


@contextmanager
def store_of(tree: Tree, cache: Path | None = None, jobs: int = 1) -> Iterator[Store]:
    with closing(Cache(str(cache) if cache else None, 1)) as kept, closing(Store(tree, kept, jobs)) as store:
        yield store
        store.save()


class Broken(MemoryTree):
    """A tree in which one file cannot be read."""

    def read(self, path: str) -> bytes:
        if path == "broken":
            raise PermissionError(13, "Permission denied", path)
        return super().read(path)


def test_facts_of_equal_texts_are_extracted_once_and_by_the_next_run_not_at_all(tmp_path: Path) -> None:
    tree = MemoryTree({"a": b"x y", "b": b"x y", "c": b"z"})
    for expected in (["x y", "z"], []):
        calls.clear()
        with store_of(tree, tmp_path / "cache") as store:
            assert [store.facts(WORDS, path) for path in "abc"] == [("x", "y"), ("x", "y"), ("z",)]
        assert calls == expected


def test_a_path_that_is_not_there_has_the_facts_of_the_empty_text() -> None:
    with store_of(MemoryTree({})) as store:
        assert (store.text("a"), store.facts(WORDS, "a"), store.problems) == ("", (), {})


def test_a_file_that_cannot_be_read_is_a_problem_and_leaves_no_facts_behind(tmp_path: Path) -> None:
    contents = {"broken": b"x y", "same": b"x y", "other": b"z"}
    with store_of(Broken(contents), tmp_path / "cache") as store:
        store.prefetch(["broken", "other"], (WORDS,))
        assert (store.facts(WORDS, "broken"), store.facts(WORDS, "same")) == ((), ("x", "y"))
        assert store.problems == {"broken": "Permission denied"}
        store.keep_verdict("rule", "verdict")

    with closing(Cache(str(tmp_path / "cache"), 1)) as cache:
        assert sorted(map(json.loads, cache.facts("words").values())) == [["x", "y"], ["z"]]
        assert cache.verdicts("rule") == []


def test_a_file_that_cannot_be_read_now_is_read_when_it_can_be(tmp_path: Path) -> None:
    contents = {"broken": b"x y"}
    with store_of(Broken(contents), tmp_path / "cache") as store:
        store.prefetch(["broken"], (WORDS,))
        store.facts(WORDS, "broken")

    with store_of(MemoryTree(contents), tmp_path / "cache") as store:
        assert store.facts(WORDS, "broken") == ("x", "y")


def test_what_was_read_after_the_listing_is_not_kept_under_the_key_of_the_listing(tmp_path: Path) -> None:
    make_repository(tmp_path / "repo", {"a": "old", "b": "b"})
    tree = WorkTree(str(tmp_path / "repo"))
    write(tmp_path / "repo", {"a": "new"})
    with store_of(tree, tmp_path / "cache") as store:
        assert [store.facts(WORDS, path) for path in "ab"] == [("new",), ("b",)]
        store.keep_verdict("rule", "verdict")
    write(tmp_path / "repo", {"a": "old"})

    with store_of(WorkTree(str(tmp_path / "repo")), tmp_path / "cache") as store:
        assert [store.facts(WORDS, path) for path in "ab"] == [("old",), ("b",)]
        assert store.cache.verdicts("rule") == []


def test_many_files_are_extracted_by_several_processes_with_the_same_result(tmp_path: Path) -> None:
    make_repository(
        tmp_path / "repo", {f"{number:03}": f"# mergeready: skip[rule] {number}\n" for number in range(200)}
    )
    tree = WorkTree(str(tmp_path / "repo"))
    write(tmp_path / "repo", {"100": "# mergeready: skip[rule] edited after the listing\n"})
    (tmp_path / "repo" / "101").unlink()
    found = {}
    for jobs in (1, 4):
        with store_of(tree, jobs=jobs) as store:
            store.prefetch(list(store.paths), (PYTHON,))
            found[jobs] = [store.facts(PYTHON, path) for path in store.paths], dict(store.problems)

    assert found[1] == found[4]
    assert found[1][0][99:102] == [((1, 1, ("rule",), why),) for why in ("99", "edited after the listing")] + [()]
    assert found[1][1] == {"101": "No such file or directory"}


def test_a_batch_is_computed_for_new_texts_only_and_survives_the_pruning_of_files(tmp_path: Path) -> None:
    asked: list[list[str]] = []

    def shout(texts: list[str]) -> list[str]:
        asked.append(texts)
        return [text.upper() for text in texts]

    many = [f"text {number} \udcff" for number in range(800)]
    for texts in (["a", "b", "a"], ["b", "c", *many], ["a", "c", *many]):
        with store_of(MemoryTree({"a": b"a"}), tmp_path / "cache") as store:
            assert store.remember("shout 1", texts, shout) == [text.upper() for text in texts]

    assert [len(texts) for texts in asked] == [2, 801]


def test_texts_kept_in_memory_are_bounded() -> None:
    size = 3 << 20
    tree = MemoryTree({str(number): (f"{number}é".encode() + b"x" * size) for number in range(40)})
    with store_of(tree) as store:
        for path in store.paths:
            assert store.text(path)[-1] == "x"
        assert sum(sys.getsizeof(text) for text in store._texts.values()) <= 64 << 20


def test_a_digest_tells_content_presence_and_kind_apart() -> None:
    trees = [
        MemoryTree({"a": b"1", "b": b"1"}),
        MemoryTree({"a": b"2", "b": b"1"}),
        MemoryTree({"b": b"1"}),
        MemoryTree({"b": b"1"}, others=frozenset({"a"})),
    ]
    digests = []
    for tree in trees:
        with store_of(tree) as store:
            digests.append(
                (store.digest(["a"], listed=False), store.digest([], listed=True), store.digest([], listed=False))
            )

    assert [len(set(column)) for column in zip(*digests, strict=True)] == [4, 3, 1]
