"""`mergeready rules` as it is typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checks.engine import load_rule
from checks.reports import pages
from checks.settings import RULE_NAMES
from tests.tooling.command_line import mergeready


def test_the_list_has_a_line_a_rule_with_whether_it_fixes(tmp_path: Path) -> None:
    said = mergeready(tmp_path, "rules")

    assert (said.code, said.err) == (0, "")
    assert [line.split()[0] for line in said.out.splitlines()] == list(RULE_NAMES)
    assert [line.split()[1] == "fixes" for line in said.out.splitlines()] == [
        bool(load_rule(name).FIXABLE) for name in RULE_NAMES
    ]


def test_the_list_for_programs_says_all_that_a_rule_states(tmp_path: Path) -> None:
    document = json.loads(mergeready(tmp_path, "rules", "--format", "json").out)

    assert document["schema"] == 1
    assert [row["rule"] for row in document["rules"]] == list(RULE_NAMES)
    row = document["rules"][RULE_NAMES.index("doctest-list")]
    assert row == {
        "rule": "doctest-list",
        "summary": "Lists of paths name files that exist, in alphabetical order, each one once.",
        "fixable": True,
        "codes": {
            "doctest-list/missing": "A line names a path that does not exist.",
            "doctest-list/order": "A line stands after one that it should stand before.",
            "doctest-list/duplicate": "A path is listed twice.",
        },
        "options": {"sorted": True},
    }


def test_the_pages_can_be_written_to_a_file(tmp_path: Path) -> None:
    printed = mergeready(tmp_path, "rules", "--format", "markdown")
    written = mergeready(tmp_path, "rules", "--format", "markdown", "--output", "rules.md")

    assert printed.out == pages.all_rules(RULE_NAMES)
    assert written == (0, "", "")
    assert (tmp_path / "rules.md").read_text(encoding="utf-8") == printed.out


@pytest.mark.parametrize("name", RULE_NAMES)
def test_a_page_says_every_code_every_option_and_every_example(name: str) -> None:
    page, rule = pages.rule(name), load_rule(name)

    assert page.startswith(f"## {name}\n\n{(rule.__doc__ or '').strip()}\n")
    for what, text in rule.CODES.items():
        assert f"| `{name}/{what}` | {text} | {'yes' if what in rule.FIXABLE else ''} |" in page
    for key in rule.OPTIONS:
        assert f"| `{key}` |" in page
    for example in rule.EXAMPLES:
        assert f"**{example.title[:1].upper()}{example.title[1:]}**" in page
        assert all(f"`{line}`" in page for line in example.says)
