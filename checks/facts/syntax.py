"""Parse Python source of any quality: a tree, or the line where it stops being Python."""

from __future__ import annotations

import ast
import warnings
from typing import NamedTuple

LARGEST = 1_000_000  # characters: three times the longest module that we know; the tree of more fills the memory


class Unparsable(NamedTuple):
    """Where and why a text is not Python; `why` is the interpreter's wording."""

    line: int
    why: str


def parse(text: str) -> ast.Module | Unparsable:
    r"""The syntax tree of a text, or where it fails; never an exception, however odd the text.

    >>> parse("a = (\n")
    Unparsable(line=1, why="'(' was never closed")
    """
    if len(text) > LARGEST:
        return Unparsable(1, f"longer than {LARGEST} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", category=Warning)
            return ast.parse(text)
    except SyntaxError as error:
        return Unparsable(error.lineno or 1, error.msg)
    except (ValueError, RecursionError, MemoryError) as error:
        return Unparsable(1, str(error) or "nested too deeply")
