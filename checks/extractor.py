"""What a fact is: something that a pure function finds in the text of one file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Extractor(NamedTuple, Generic[T]):
    """A pure function from the text of a file to facts about it.

    `extract` returns what JSON can hold, and `load` makes the value that rules see out of that. Both are module-level
    functions, so that other processes can run them. Facts are cached by content and by the code of this package, so a
    change of an extractor needs no version number.
    """

    name: str
    extract: Callable[[str], Any]
    load: Callable[[Any], T]
