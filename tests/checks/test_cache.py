"""The cache may be lost, never believed when it is wrong, and never in the way."""

from __future__ import annotations

import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from checks.cache import Cache
from tests.checks.processes import run, start

FACTS = {"lines": {f"key{number}": f"value {number}" * 40 for number in range(60)}, "names": {"key1": "é\0"}}
NOTHING: dict[str, dict[str, str]] = {name: {} for name in FACTS}
VERDICTS = {"rule": "verdict", "other": "another"}


@contextmanager
def opened(path: Path | None, stamp: int = 1) -> Iterator[Cache]:
    with closing(Cache(str(path) if path else None, stamp)) as cache:
        yield cache


def fill(path: Path, stamp: int = 1) -> None:
    with opened(path, stamp) as cache:
        cache.store(FACTS, VERDICTS, ())


def everything(path: Path, stamp: int = 1) -> tuple[dict[str, dict[str, str]], dict[str, list[str]]]:
    with opened(path, stamp) as cache:
        return {name: cache.facts(name) for name in FACTS}, {name: cache.verdicts(name) for name in VERDICTS}


def test_what_is_stored_is_read_by_the_next_run(tmp_path: Path) -> None:
    fill(tmp_path / "new" / "folder" / "cache")

    assert everything(tmp_path / "new" / "folder" / "cache") == (FACTS, {"rule": ["verdict"], "other": ["another"]})


def test_a_cache_without_a_path_keeps_nothing() -> None:
    with opened(None) as cache:
        cache.store(FACTS, VERDICTS, ())

        assert (cache.facts("lines"), cache.verdicts("rule")) == ({}, [])


def test_text_that_no_file_can_hold_costs_its_own_run_and_not_what_is_there(tmp_path: Path) -> None:
    fill(tmp_path / "cache")
    with opened(tmp_path / "cache") as cache:
        cache.store({"lines": {"half": "\ud800"}}, {}, ())

    assert everything(tmp_path / "cache")[0] == FACTS


def test_the_newest_verdict_comes_first_and_only_the_last_few_are_kept(tmp_path: Path) -> None:
    with opened(tmp_path / "cache") as cache:
        for number in range(9):
            cache.store({}, {"rule": str(number)}, ())

        assert cache.verdicts("rule") == ["8", "7", "6", "5", "4", "3"]


def test_what_other_code_has_stored_is_dropped(tmp_path: Path) -> None:
    fill(tmp_path / "cache", stamp=1)

    assert everything(tmp_path / "cache", stamp=2) == (NOTHING, {"rule": [], "other": []})


def test_what_another_version_stores_while_we_run_is_not_taken_for_ours(tmp_path: Path) -> None:
    with opened(tmp_path / "cache", stamp=1) as ours:
        fill(tmp_path / "cache", stamp=2)
        assert (ours.facts("lines"), ours.verdicts("rule")) == ({}, [])
        ours.store({"lines": {"key1": "ours"}}, {"rule": "ours"}, ())

    facts, verdicts = everything(tmp_path / "cache", stamp=2)
    assert (facts["lines"].get("key1"), verdicts["rule"]) == (None, ["verdict"])


# The header and the first pages are where a byte has most to say.
PLACES = st.integers(0, 200) | st.integers(0, 12_000) | st.integers(0, 200_000)
DAMAGE = st.tuples(
    PLACES, st.binary(min_size=1, max_size=1) | st.binary(max_size=3000), st.sampled_from(["over", "cut"])
)


@given(DAMAGE)
@example((0, b"something else", "cut"))
@example((0, b"", "cut"))
def test_whatever_happens_to_the_file_nothing_wrong_is_read_and_it_heals(damage: tuple[int, bytes, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "cache")
        fill(path)
        whole, (place, new, how) = path.read_bytes(), damage
        path.write_bytes(whole[:place] + new + (whole[place + len(new) :] if how == "over" else b""))

        facts, verdicts = everything(path)
        for name, values in facts.items():
            assert values.items() <= FACTS[name].items()
        assert set(verdicts["rule"]) <= {"verdict"}
        assert set(verdicts["other"]) <= {"another"}
        for _ in range(3):  # each run finds at most one thing wrong with it, and makes room for a new file
            fill(path)
        assert everything(path)[0] == FACTS


def test_the_journal_of_a_broken_file_is_not_played_back_into_the_next_one(tmp_path: Path) -> None:
    fill(tmp_path / "cache")
    (tmp_path / "cache-journal").write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + b"\xff" * 1000)
    (tmp_path / "cache").write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)

    fill(tmp_path / "cache")

    assert everything(tmp_path / "cache")[0] == FACTS


def test_a_cache_that_another_process_has_locked_is_done_without_and_left_alone(tmp_path: Path) -> None:
    fill(tmp_path / "cache")
    with closing(sqlite3.connect(tmp_path / "cache")) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert everything(tmp_path / "cache") == (NOTHING, {"rule": [], "other": []})
        other.rollback()

    assert everything(tmp_path / "cache")[0] == FACTS


def test_a_cache_that_is_locked_when_we_want_to_store_is_left_alone(tmp_path: Path) -> None:
    fill(tmp_path / "cache")
    with opened(tmp_path / "cache") as cache, closing(sqlite3.connect(tmp_path / "cache")) as other:
        other.execute("BEGIN EXCLUSIVE")
        cache.store({"lines": {"more": "more"}}, {}, ())
        other.rollback()

    assert everything(tmp_path / "cache")[0] == FACTS


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be deleted there")
def test_a_cache_that_is_deleted_while_we_run_is_made_anew_by_the_next_run(tmp_path: Path) -> None:
    fill(tmp_path / "cache")
    with opened(tmp_path / "cache") as cache:
        (tmp_path / "cache").unlink()
        assert cache.facts("lines") == FACTS["lines"]
        cache.store(FACTS, VERDICTS, ())
    fill(tmp_path / "cache")

    assert everything(tmp_path / "cache")[0] == FACTS


@pytest.mark.parametrize("blocked", ["cache", ""])
def test_a_place_where_no_file_can_be_is_done_without(tmp_path: Path, blocked: str) -> None:
    place = tmp_path / "folder"
    if blocked:
        (place / blocked).mkdir(parents=True)
    else:
        place.write_text("a file where the folder should be", encoding="utf-8")

    fill(place / "cache")

    assert everything(place / "cache")[0] == NOTHING


def test_a_folder_that_may_not_be_written_is_read_and_nothing_is_stored(tmp_path: Path) -> None:
    fill(tmp_path / "cache")
    (tmp_path / "cache").chmod(0o444)
    tmp_path.chmod(0o555)
    code = """
import sys
from checks.cache import Cache
cache = Cache(sys.argv[1], 1)
print(len(cache.facts("lines")))
cache.store({"lines": {"more": "more"}}, {}, ())
cache.close()
print(Cache(sys.argv[1] + "-new", 1).facts("lines"))
"""

    done = run(code, str(tmp_path / "cache"), bound=True)
    tmp_path.chmod(0o755)

    assert (done.stdout, done.stderr) == ("60\n{}\n", "")
    assert everything(tmp_path / "cache")[0] == FACTS


def test_two_runs_at_once_both_end_and_what_is_kept_is_right(tmp_path: Path) -> None:
    code = """
import sys
from checks.cache import Cache
for number in range(30):
    cache = Cache(sys.argv[1], 1)
    cache.facts("lines")
    cache.store({"lines": {f"{sys.argv[2]}{number}": f"value of {sys.argv[2]}{number}"}}, {"rule": sys.argv[2]}, ())
    cache.close()
"""
    both = [start(code, str(tmp_path / "cache"), name) for name in ("a", "b")]

    assert [process.communicate(timeout=60) for process in both] == [("", "")] * 2
    kept = everything(tmp_path / "cache")[0]["lines"]
    assert kept
    assert kept == {key: f"value of {key}" for key in kept}


def test_facts_that_no_file_has_any_more_are_pruned_and_those_of_the_tree_stay(tmp_path: Path) -> None:
    alive = [f"alive{number}" for number in range(50)]
    with opened(tmp_path / "cache") as cache:
        cache.store({"lines": dict.fromkeys(alive, "x")}, {}, alive)
        sizes = set()
        for run_number in range(40):
            cache.store({"lines": {f"dead{run_number}-{key}": "x" * 200 for key in range(100)}}, {}, alive)
            sizes.add(len(cache.facts("lines")))
        assert max(sizes) <= 3 * (50 + 100)
        assert cache.facts("lines").keys() >= set(alive)
        after = (tmp_path / "cache").stat().st_size
        for run_number in range(40, 200):
            cache.store({"lines": {f"dead{run_number}-{key}": "x" * 200 for key in range(100)}}, {}, alive)
        assert (tmp_path / "cache").stat().st_size <= 2 * after


def test_verdicts_under_names_that_nobody_asks_for_any_more_are_pruned(tmp_path: Path) -> None:
    with opened(tmp_path / "cache") as cache:
        for number in range(700):
            cache.store({}, {f"rule {number}": "x"}, ())

        assert [cache.verdicts(f"rule {number}") for number in (0, 99, 100, 699)] == [[], [], ["x"], ["x"]]
