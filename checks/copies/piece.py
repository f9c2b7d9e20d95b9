"""One definition cut into what is compared apart: decorators, header and body."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from checks.facts.python import Definition
from checks.facts.strings import LITERAL, without_comments


class Piece(NamedTuple):
    """The text of one class or function.

    `header` runs from the indentation of `class` or `def` to the end of the header, line end included; `body` is its
    lines. `inline` says that the body stands behind the colon. `file` is the text that it was cut from and `place`
    where; line numbers are counted when they are asked for, since most copies are equal and have none to report.
    """

    path: str
    name: str
    decorators: str
    header: str
    body: tuple[str, ...]
    inline: bool
    file: str
    place: Definition

    @property
    def first(self) -> int:
        """The line number of the first decorator, or of the header where there is none."""
        return self._line_at(self.place.first)

    @property
    def line(self) -> int:
        """The line number of `class` or `def`."""
        return self._line_at(self.place.start)

    @property
    def body_line(self) -> int:
        """The line number of the first line of the body, which is the header's own where it is inline."""
        return self._line_at(self.place.body)

    @property
    def indent(self) -> str:
        """The white space before `class` or `def`."""
        return self.header[: len(self.header) - len(self.header.lstrip(" \t"))]

    @property
    def text(self) -> str:
        """All of it."""
        return self.decorators + self.header + "\n".join(self.body)

    @property
    def last(self) -> int:
        """The number of the last line."""
        return self.body_line + len(self.body) - 1

    def _line_at(self, offset: int) -> int:
        return self.file.count("\n", 0, offset) + 1


class Signature(NamedTuple):
    """The parameters of a function with annotations and defaults, or the bases of a class.

    `span` is where they stand in the header, brackets included; `start == end` where a class has none. `returns` is
    the annotation of the result, which is not compared: many libraries annotate the original alone.
    """

    parameters: tuple[str, ...]
    span: tuple[int, int]
    returns: str


def cut(path: str, text: str, each: Definition) -> Piece:
    """The pieces of one definition of a file."""
    header, body = text[each.start : each.body], text[each.body : each.end]
    inline = not header.endswith("\n")
    if inline:
        body = f"{header[: len(header) - len(header.lstrip())]}    {body.strip()}"
    return Piece(
        path=path,
        name=each.name,
        decorators=text[each.first : each.start],
        header=header,
        body=tuple(body.split("\n")),
        inline=inline,
        file=text,
        place=each,
    )


def decorators(text: str) -> tuple[str, ...]:
    """The decorators in the lines above a header, without comments, each on one line."""
    found = re.split(r"^[ \t]*@", without_comments(text), flags=re.MULTILINE)[1:]
    return tuple(" ".join(each.split()) for each in found)


def signature(header: str) -> Signature:
    r"""What a header asks of a caller; type parameters count as the first parameter.

    >>> signature("class A[T](B, metaclass=C):\n").parameters
    ('[T]', 'B', 'metaclass=C')
    """
    named = _NAMED.match(header)
    position = named.end() if named else 0
    depth, start, parts = 0, -1, [0]
    for token in _TOKEN.finditer(header, position):
        what = token[0]
        if what in "([{":
            depth += 1
            if start < 0 and depth == 1 and what == "(":
                start, parts = token.start(), [token.end()]
        elif what in ")]}":
            depth -= 1
            if start >= 0 and depth == 0:
                return _signature(header, position, start, [*parts, token.end()])
        elif what == "," and depth == 1 and start >= 0:
            parts.append(token.end())
        elif what == ":" and depth == 0:
            return _signature(header, position, token.start(), [token.start()])
    return Signature((), (len(header), len(header)), "")


_NAMED = re.compile(r"\s*(?:async\s+)?(?:def|class)\s+\w+")
_TOKEN = re.compile(rf"{LITERAL.pattern}|[()\[\]{{}},:]", re.DOTALL)


def _signature(header: str, name_end: int, start: int, parts: list[int]) -> Signature:
    """`parts` are the places where a parameter begins, and the place after the closing bracket."""
    texts = [header[name_end:start], *(header[a : b - 1] for a, b in pairwise(parts))]
    shown = (" ".join(without_comments(text).split()) for text in texts)
    returns = without_comments(header[parts[-1] :]).strip().removesuffix(":").removeprefix("->").strip()
    return Signature(tuple(text for text in shown if text), (start, parts[-1]), returns)
