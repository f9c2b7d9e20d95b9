"""What every item promises of itself."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import pytest

from tooling.commands import pr
from tooling.pr.checklist import ITEMS
from tooling.pr.items import load_item
from tooling.pr.reports import pages

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "tooling" / "pr" / "checklist"


def test_every_module_is_in_the_table_and_every_name_has_a_module() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} - {"__init__"} == {name.replace("-", "_") for name in ITEMS}


@pytest.mark.parametrize("name", ITEMS)
def test_an_item_documents_every_code_that_it_writes(name: str) -> None:
    item = load_item(name)
    source = (FOLDER / f"{name.replace('-', '_')}.py").read_text(encoding="utf-8")
    written = set(re.findall(rf'"{name}/([\w-]+)"', source))

    assert (written - set(item.CODES), bool(item.__doc__), item.READS in ("change", "request", "runs")) == (
        set(),
        True,
        True,
    )
    assert all(text.endswith(".") and text[0].isupper() for text in item.CODES.values())


def test_the_page_of_items_is_what_the_items_say_now() -> None:
    assert (ROOT / "docs" / "pr-items.md").read_text(encoding="utf-8") == pages.all_items(), "run `nox -s docs`"


def test_the_page_about_the_checklist_names_every_option() -> None:
    parser = argparse.ArgumentParser()
    pr.configure(parser)
    page = (ROOT / "docs" / "pr.md").read_text(encoding="utf-8")
    told = {"-h", "--help", "--root", "--format", "--output"}

    options = {option for action in parser._actions for option in action.option_strings}
    assert {option for option in options - told if option not in page} == set()
