"""Tables of contents: what the examples do not show, and what the fix never does."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from tests.checks.mending import mended
from tests.checks.trees import judge, says, subjects, tree_of

RULE = "doc-toc"
TOC = "docs/source/en/_toctree.yml"
DIFFUSERS = {"src/diffusers/__init__.py": ""}
TITLES = st.sampled_from(["Overview", "AutoPipeline", "ALBERT", "bert", "Bert 2", "Zed", "Ärger", "x: y # z", "- odd"])
QUOTES = ("'{}'", '"{}"')
ABOVE = ((), ("# about it",), ("", "# about it", "# and more"), ("",))


@st.composite
def entries(draw: st.DrawFn, depth: int) -> list[str]:
    """The lines of some entries in block style, with comments, blank lines and quotes of all sorts."""
    lines: list[str] = []
    for number in range(draw(st.integers(1, 4))):
        lines += draw(st.sampled_from(ABOVE)) if number else ()
        title = draw(st.sampled_from(QUOTES)).format(draw(TITLES))
        if depth and draw(st.booleans()):
            sections = ["sections:", *(f"  {line}".rstrip() for line in draw(entries(depth - 1)))]
            keys = draw(st.permutations([[f"title: {title}"], sections]))
        else:
            keys = draw(st.permutations([[f"title: {title}  # why"], [f"local: p{draw(st.integers(0, 99))}"]]))
        first, *rest = [line for key in keys for line in key]
        lines += [f"- {first}", *(f"  {line}".rstrip() for line in rest)]
    return lines


def table(lines: list[str]) -> str:
    """A table whose section of schedulers, which has to be sorted, holds these entries."""
    inner = "".join(f"    {line}".rstrip() + "\n" for line in lines)
    return f"- title: API\n  sections:\n  - title: Schedulers\n    sections:\n{inner}  # the end\n"


def values(text: str) -> list[Any]:
    """The entries of the section of schedulers."""
    found: list[Any] = YAML(typ="safe").load(text)[0]["sections"][0]["sections"]
    return found


@given(entries(2).map(table))
def test_the_fix_sorts_entries_and_changes_no_line(before: str) -> None:
    # The same entry twice is dropped by the fix, so only tables without that are of use here.
    if f"{RULE}/duplicate" in {found.code for found in judge(RULE, tree_of({**DIFFUSERS, TOC: before}))}:
        return
    after = mended(RULE, {**DIFFUSERS, TOC: before})[TOC]

    titles = [entry["title"].lower() for entry in values(after)]
    first = [title for title in titles if title in ("overview", "autopipeline")]
    assert titles == first + sorted(title for title in titles if title not in first)
    assert sorted(map(repr, values(after))) == sorted(map(repr, values(before)))
    assert Counter(after.split("\n")) == Counter(before.split("\n"))


SECTION = """\
- title: {}
  sections:
  - title: {}
    sections:
    - local: b
      title: B
    - local: a
      title: A
"""
PAGES = {"docs/source/en/a.md": "", "docs/source/en/b.md": ""}


@pytest.mark.parametrize(
    ("library", "titles", "found"),
    [
        ("diffusers", ("API", "Models"), (f"{TOC}:7 {RULE}/order",)),
        ("diffusers", ("API", "Loaders"), ()),
        ("diffusers", ("Guides", "Models"), ()),
        ("transformers", ("API", "Models"), ()),
        ("lib", ("API", "Models"), ()),
    ],
)
def test_only_the_sections_that_a_librarys_layout_names_are_sorted(
    library: str, titles: tuple[str, str], found: tuple[str, ...]
) -> None:
    texts = {f"src/{library}/__init__.py": "", **PAGES, TOC: SECTION.format(*titles)}

    assert says(judge(RULE, tree_of(texts))) == found


def test_the_settings_may_name_other_sections() -> None:
    settings = {"layout": {"tocs_sorted": ["*/*"]}}
    texts = {"src/lib/__init__.py": "", **PAGES, TOC: SECTION.format("Guides", "Any")}

    assert says(judge(RULE, tree_of(texts), settings)) == (f"{TOC}:7 {RULE}/order",)


def test_a_translation_is_not_sorted_but_its_pages_are_checked() -> None:
    translated = SECTION.format("API", "Models")
    ko = "docs/source/ko"
    texts = {**DIFFUSERS, TOC: "", f"{ko}/_toctree.yml": translated, f"{ko}/a.md": "", f"{ko}/c.mdx": ""}

    assert says(judge(RULE, tree_of(texts))) == (f"{ko}/_toctree.yml:5 {RULE}/missing", f"{ko}/c.mdx:1 {RULE}/unlisted")


def test_pages_below_a_table_of_their_own_belong_to_that_one() -> None:
    texts = {
        "docs/_toctree.yml": "- local: a\n  title: A\n",
        "docs/a.md": "",
        "docs/sub/_toctree.yml": "- local: b\n  title: B\n",
        "docs/sub/b.md": "",
        "docs/sub/more/c.md": "",
    }

    assert says(judge(RULE, tree_of(texts))) == (f"docs/sub/more/c.md:1 {RULE}/unlisted",)


def test_the_builders_own_switch_turns_the_search_for_unlisted_pages_off() -> None:
    texts = {"docs/_toctree.yml": "", "docs/a.md": "", "docs/_config.py": "disable_toc_check = True\n"}

    assert judge(RULE, tree_of(texts)) == ()


def test_a_library_without_a_layout_of_its_own_may_list_a_page_in_two_sections() -> None:
    table = "- title: A\n  sections:\n  - local: a\n    title: A\n- title: B\n  sections:\n  - local: a\n    title: A\n"
    texts = {"docs/source/en/a.md": "", TOC: table}

    assert judge(RULE, tree_of({"src/lib/__init__.py": "", **texts})) == ()
    assert says(judge(RULE, tree_of({**DIFFUSERS, **texts}))) == (f"{TOC}:7 {RULE}/repeated",)


def test_the_subjects_are_tables_and_entries() -> None:
    assert subjects(RULE, tree_of({**DIFFUSERS, **PAGES, TOC: SECTION.format("API", "Models")})) == 5


def test_a_table_with_an_anchor_is_reported_and_left_alone() -> None:
    text = SECTION.format("API", "Models").replace("local: b", "local: &b b")

    (found,) = judge(RULE, tree_of({**DIFFUSERS, **PAGES, TOC: text}))

    assert (found.code, found.edits) == (f"{RULE}/order", ())
