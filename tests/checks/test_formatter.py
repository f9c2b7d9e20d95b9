"""The repository's own formatter, found from its configuration and asked for many snippets at once."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from checks import formatter
from checks.formatter import Formatter, format_all, formatter_of
from tests.checks.trees import index_of, tree_of

LONG = "x = [111111111, 222222222, 333333333]\n"
BLACK = Formatter("black", (("line-length", 30),))
RUFF = Formatter("ruff", (("line-length", 30), ("format.quote-style", "single")))


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        ({}, Formatter("none")),
        ({"pyproject.toml": "[tool.black]\nline-length = 30\n"}, BLACK),
        (
            {"pyproject.toml": "[tool.black]\nline_length = 30\ntarget-version = ['py38']\n[tool.ruff]\nfix = true\n"},
            BLACK,
        ),
        ({"pyproject.toml": "[tool.ruff]\nline-length = 30\n[tool.ruff.format]\nquote-style = 'single'\n"}, RUFF),
        (
            {"pyproject.toml": "[tool.black]\n[tool.ruff.format]\npreview = true\n"},
            Formatter("ruff", (("format.preview", True),)),
        ),
        ({"ruff.toml": "line-length = 30\n[format]\nquote-style = 'single'\n"}, RUFF),
        (
            {"pyproject.toml": "[tool.ruff]\n", ".ruff.toml": "line-length = 30\n"},
            Formatter("ruff", (("line-length", 30),)),
        ),
        ({"pyproject.toml": "[tool.black\n"}, Formatter("none")),
        ({"pyproject.toml": "tool = 1\n"}, Formatter("none")),
        ({"pyproject.toml": "[tool]\nblack = 1\n"}, Formatter("black")),
    ],
)
def test_the_formatter_is_the_one_that_is_configured(texts: Mapping[str, str], found: Formatter) -> None:
    assert formatter_of(index_of(tree_of(texts))) == found


def test_the_settings_have_the_last_word() -> None:
    index = index_of(tree_of({"pyproject.toml": "[tool.black]\n"}), {"layout": {"formatter": "none"}})

    assert formatter_of(index) == Formatter("none")


@pytest.mark.parametrize("chosen", [BLACK, RUFF])
def test_snippets_are_formatted_and_one_that_does_not_parse_spoils_no_other(chosen: Formatter) -> None:
    snippets = [LONG, "x = (", "def f( ):\n    return  1\n"]

    assert format_all(index_of(tree_of({})), chosen, snippets) == [
        "x = [\n    111111111,\n    222222222,\n    333333333,\n]\n",
        "",
        "def f():\n    return 1\n",
    ]


def test_without_a_formatter_snippets_stay_as_they_are() -> None:
    assert format_all(index_of(tree_of({})), Formatter("none"), ["x  = 1\n"]) == ["x  = 1\n"]


def test_a_formatter_that_is_not_installed_leaves_snippets_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formatter, "_program", lambda _: "")

    assert format_all(index_of(tree_of({})), RUFF, ["x  = 1\n"]) == ["x  = 1\n"]


def test_options_that_the_formatter_refuses_leave_snippets_as_they_are() -> None:
    odd = Formatter("ruff", (("format.quote-style", "curly"),))

    assert format_all(index_of(tree_of({})), odd, ["x  = 1\n", "y = ("]) == ["x  = 1\n", ""]
