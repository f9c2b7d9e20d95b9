"""Parameters, bases and decorators, of a copy and of its original."""

from __future__ import annotations

import pytest

from checks.copies.interface import Interface, interfaces, same
from checks.copies.piece import Piece, cut, decorators, signature
from checks.facts.python import definitions


def piece(text: str) -> Piece:
    """The last definition of a text."""
    return cut("a.py", text, definitions(text)[-1])


@pytest.mark.parametrize(
    ("header", "parameters", "returns"),
    [
        (
            "def f(self, a: int=1, *, b=(1, 2), **c) -> dict[str, int]:\n",
            ("self", "a: int=1", "*", "b=(1, 2)", "**c"),
            "dict[str, int]",
        ),
        ("async def f(\n    a,  # why, (\n    b=',',\n):\n", ("a", "b=','"), ""),
        ("def f[T](a: T) -> T:\n", ("[T]", "a: T"), "T"),
        ("class A:\n", (), ""),
        ("class A():\n", (), ""),
        ("class A[T: (int, str)](B, metaclass=C):\n", ("[T: (int, str)]", "B", "metaclass=C"), ""),
        ("def f(): ", (), ""),
    ],
)
def test_a_header_has_parameters_or_bases_and_perhaps_a_result(
    header: str, parameters: tuple[str, ...], returns: str
) -> None:
    found = signature(header)

    assert (found.parameters, found.returns) == (parameters, returns)


def test_decorators_are_whole_and_without_comments() -> None:
    assert decorators("    @a  # why\n    # what\n    @b(\n        1,\n    )\n") == ("a", "b( 1, )")


def test_white_space_does_not_count() -> None:
    assert (same(("a: int = 1",), ("a:int=1",)), same(("a",), ("b",))) == (True, False)


def test_a_definition_is_cut_into_pieces_with_their_lines() -> None:
    found = piece("x = 1\n@a\n\ndef f(\n    b\n):\n    return b\n")

    assert (found.first, found.line, found.body_line, found.body, found.inline) == (2, 4, 7, ("    return b",), False)


def test_a_body_behind_the_colon_is_on_the_line_of_the_header() -> None:
    found = piece("class A:\n    def f(self): return 1\n")

    assert (found.line, found.body_line, found.body, found.inline) == (2, 2, ("        return 1",), True)


@pytest.mark.parametrize(
    ("copy", "original", "header", "expected"),
    [
        ("def f(a): pass", "def f(a, b): pass", "def f(a, self.b): pass", Interface(("a",), ())),
        (
            "class A:\n @staticmethod\n def f(x, a): pass",
            "class A:\n def f(self, a): pass",
            "",
            Interface(("x", "a"), ("staticmethod",)),
        ),
        (
            "class A:\n @staticmethod\n def f(a): pass",
            "class A:\n def f(self, a): pass",
            "",
            Interface(("a",), ("staticmethod",)),
        ),
        (
            "class A:\n @staticmethod\n def f(self, a): pass",
            "class A:\n def f(self, a): pass",
            "",
            Interface(("self", "a"), ()),
        ),
        (
            "class A:\n @staticmethod\n def f(a): pass",
            "def f(a): pass",
            "",
            Interface(("a",), ("staticmethod",)),
        ),
        (
            "class A:\n @staticmethod\n def f(a): pass",
            "class B:\n def f(a): pass",
            "",
            Interface(("a",), ()),
        ),
        ("def f(model, a): pass", "class A:\n def f(self, a): pass", "", Interface(("model", "a"), ())),
        ("@docstring('b')\ndef f(): pass", "@x\n@docstring('a')\ndef f(): pass", "", Interface((), ("x",))),
        ("class A: pass", "class B(x.y, z): pass", "", Interface(("x.y", "z"), ())),
    ],
)
def test_what_is_expected_allows_for_what_a_copy_may_change(
    copy: str, original: str, header: str, expected: Interface
) -> None:
    ours, theirs = piece(copy), piece(original)

    assert interfaces(ours, theirs, header or theirs.header, theirs.decorators, ("*docstring*",))[1] == expected
