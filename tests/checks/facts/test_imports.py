"""What a file imports, and when."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from checks.facts.imports import IMPORTS, Import, Imports
from checks.facts.syntax import Unparsable


def read(text: str) -> Imports:
    """The facts of a text, as they come back from the cache."""
    return IMPORTS.load(json.loads(json.dumps(IMPORTS.extract(text))))


def test_every_form_of_import_is_found_with_its_line_and_its_time() -> None:
    text = """\
import a.b as c, d
from ..e import (
    f,
    g as h,
)
try:
    from . import i
except ImportError:
    i = None
if typing.TYPE_CHECKING:
    import j
else:
    import k


class L:
    import m

    async def n(self):
        match self:
            case 1:
                from o import *
        return importlib.import_module(".p", __package__)


q = lambda: __import__("r")
"""
    assert read(text).found == (
        Import(1, 0, "a.b", "", late=False, typing=False),
        Import(1, 0, "d", "", late=False, typing=False),
        Import(3, 2, "e", "f", late=False, typing=False),
        Import(4, 2, "e", "g", late=False, typing=False),
        Import(7, 1, "", "i", late=False, typing=False),
        Import(11, 0, "j", "", late=True, typing=True),
        Import(13, 0, "k", "", late=False, typing=False),
        Import(17, 0, "m", "", late=False, typing=False),
        Import(22, 0, "o", "*", late=True, typing=False),
        Import(23, 1, "p", "", late=True, typing=False),
        Import(26, 0, "r", "", late=True, typing=False),
    )


def test_a_module_that_is_computed_is_no_import() -> None:
    assert read("import_module(name)\nimport_module()\n__import__(f'a.{b}')\n") == Imports((), None)


def test_a_file_that_does_not_parse_is_a_problem_where_it_may_import() -> None:
    assert read("import a\nx = (\n").problem == Unparsable(2, "'(' was never closed")
    assert read("x = (\n") == Imports((), None)


@given(st.text(alphabet="import from.as()*,\n abIF:TYPE_CHECKING", max_size=60))
def test_no_text_makes_reading_raise(text: str) -> None:
    assert isinstance(read(text), Imports)
