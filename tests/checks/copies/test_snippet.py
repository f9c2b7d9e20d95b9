"""Bodies and headers, wrapped for a formatter and unwrapped again."""

from __future__ import annotations

import ast

import pytest

from checks.copies.snippet import unwrap_body, unwrap_header, wrap_body, wrap_header


@pytest.mark.parametrize("indent", ["", "    ", "        "])
@pytest.mark.parametrize("header", ["def f(self):", "async def f(self):", "class A:"])
def test_a_wrapped_body_parses_at_its_own_depth_and_comes_back(indent: str, header: str) -> None:
    body = (f"{indent}    x = 1", "", f"{indent}    # last")
    snippet = wrap_body(indent, indent + header, body)

    ast.parse(snippet)
    assert unwrap_body(snippet) == body


def test_a_wrapped_header_parses_and_comes_back() -> None:
    snippet = wrap_header("    ", "    def f(\n        a,\n    ):\n")

    ast.parse(snippet)
    assert unwrap_header(snippet) == ("    def f(", "        a,", "    ):")


def test_what_a_formatter_could_not_parse_does_not_come_back() -> None:
    assert (unwrap_body(""), unwrap_header("")) == (None, None)
