"""Lists of paths: what the examples do not show, and what the fix never does."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from tests.checks.mending import mended
from tests.checks.trees import judge, says, subjects, tree_of

RULE = "doctest-list"
LIST = "utils/not_doctested.txt"
FILES = {"docs/a.md": "A\n", "docs/b/c.md": "C\n", "src/lib/__init__.py": ""}
LINES = (
    "docs/a.md",
    "docs/a.md  (slow)",
    "docs/b",
    "docs/b/",
    "docs/b/c.md",
    "docs/gone.md",
    "# why",
    "",
    "  docs/a.md",
)


def test_a_folder_exists_with_and_without_a_slash_and_nothing_outside_the_root_does() -> None:
    texts = {**FILES, LIST: "../docs/a.md\n./docs\n/docs/a.md\ndocs/b\ndocs/b/\n"}

    assert says(judge(RULE, tree_of(texts))) == (f"{LIST}:1 {RULE}/missing", f"{LIST}:3 {RULE}/missing")


def test_the_subjects_are_the_lines_with_a_path() -> None:
    assert subjects(RULE, tree_of({**FILES, LIST: "# why\n\ndocs/a.md\ndocs/b\n"})) == 2


def test_a_list_without_a_last_line_end_gets_one_when_its_last_line_moves() -> None:
    assert mended(RULE, {**FILES, LIST: "docs/b\ndocs/a.md"})[LIST] == "docs/a.md\ndocs/b\n"


def test_line_ends_stay_as_they_are() -> None:
    texts = {**FILES, LIST: "docs/b\r\ndocs/a.md\r\nsrc\r\n"}

    assert mended(RULE, texts)[LIST] == "docs/a.md\r\ndocs/b\r\nsrc\r\n"


@given(st.lists(st.sampled_from(LINES)))
def test_the_fix_keeps_every_path_and_every_reason(lines: list[str]) -> None:
    before = "".join(f"{line}\n" for line in lines)

    after = mended(RULE, {**FILES, LIST: before})[LIST]

    assert {tuple(line.split()) for line in after.split("\n")} >= {tuple(line.split()) for line in lines}
    assert Counter(after.split("\n")) <= Counter([*lines, ""])
    assert [found for found in judge(RULE, tree_of({**FILES, LIST: after})) if found.edits] == []
