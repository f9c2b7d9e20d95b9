"""A rebase of very many commits (row 43): a question at a terminal, a refusal with the way out anywhere else."""

from __future__ import annotations

import re
import sys

import pytest

from tests.tooling.git.repositories import Bench, snapshot
from tests.tooling.git.terminal import typed
from tests.tooling.git.test_matrix_rebase import refused


def many(bench: Bench) -> None:
    """Three commits, by two authors, where two are replayed without asking."""
    bench.git("config", "mergeready.askAbove", "2")
    bench.commit("Third", {"c.txt": "x\n"})
    bench.git("commit", "--quiet", "--amend", "--no-edit", "--author=Somebody Else <else@example.org>")


def test_row_43_very_many_commits_are_not_replayed_unasked(bench: Bench) -> None:
    many(bench)

    assert refused(bench, "rebase") == (3, "many-commits")
    assert bench.run("rebase", "--yes").code == 0


def test_row_43_the_refusal_shows_where_they_begin_and_end_and_how_to_go_ahead(bench: Bench) -> None:
    many(bench)
    base, tip = bench.oid("main"), bench.oid()

    result = bench.run("rebase", "--json")

    assert result.json["summary"] == (
        "This replays 3 commits of feature, by 2 authors; above 2 somebody has to say that it is meant"
    )
    assert [line.partition(" ")[2] for line in result.json["details"]] == [
        "Change line 3 of a (Ada Author <ada@example.org>)",
        "Third (Somebody Else <else@example.org>)",
    ]
    assert [step["argv"] for step in result.json["next"]] == [
        ["git", "log", "--oneline", f"{base}..{tip}"],
        ["mergeready", "rebase", "--yes"],
        ["git", "config", "mergeready.askAbove", "NUMBER"],
    ]


def test_row_43_a_dry_run_asks_nothing_and_neither_does_what_is_up_to_date(bench: Bench) -> None:
    many(bench)

    assert bench.run("rebase", "--dry-run", "--fetch").code == 0
    assert (bench.run("rebase", "--yes").code, bench.run("rebase").code) == (0, 0)


@pytest.mark.parametrize("words", ["two", "-1", ""])
def test_row_43_a_limit_that_is_no_number_does_not_count(bench: Bench, words: str) -> None:
    many(bench)
    bench.git("config", "mergeready.askAbove", words)

    assert bench.run("rebase").code == 0


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such terminal on Windows")
def test_row_43_at_a_terminal_it_says_how_far_it_is(bench: Bench) -> None:
    for number in range(3):
        bench.commit(f"More {number}", {f"{number}.txt": "x\n"})
    bench.hook("post-commit", "sleep 1.5")

    code, shown = typed(bench, ("rebase",), "")

    told = re.findall(r"commit (\d+) of 5", shown)
    assert (code, told == sorted(set(told)), bool(told)) == (0, True, True)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such terminal on Windows")
def test_row_43_at_a_terminal_it_asks_and_takes_no_other_word_for_a_yes(bench: Bench) -> None:
    many(bench)
    before = snapshot(bench)

    code, shown = typed(bench, ("rebase",), "sure")
    unchanged = snapshot(bench) == before

    assert (code, "This replays 3 commits of feature, by 2 authors. Type yes to go on: " in shown) == (3, True)
    assert (unchanged, typed(bench, ("rebase",), "yes")[0]) == (True, 0)
