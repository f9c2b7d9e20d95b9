"""Where the classes and functions of a Python file stand, found by their lines, without parsing the file.

A parser needs ten times as long, and gives nothing for a file with one syntax error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from checks.facts.strings import LITERAL, mask, without_literals


class Definition(NamedTuple):
    """One class or function; offsets count characters from the start of the text.

    `name` is qualified: `Outer.method.inner`. `first` is the start of the line of its first decorator, `start` that
    of its `class` or `def`; they are equal where it has no decorator. `body` is the start of the line after the
    header, or the place after the colon where the body stands on the header's line. `end` is the end of the last line
    of the body, without its line end; a comment after the last statement belongs to the body if it is indented.
    """

    name: str
    first: int
    start: int
    body: int
    end: int


def definitions(text: str) -> list[Definition]:
    r"""All classes and functions of a text, in order, however broken the rest of it is.

    >>> definitions("@x\ndef f(\n    a\n):\n    return a\n\nb = 2\n")
    [Definition(name='f', first=0, start=3, body=19, end=31)]
    """
    return definitions_in(mask(text))


def definitions_in(masked: str) -> list[Definition]:
    """The same for a text whose long strings are masked already."""
    # With a line end in front, the offset of a line end in `code` is the offset in `text` of the line that follows.
    code = "\n" + masked
    odd = ("\t" in code or "\f" in code) and _ODD_INDENT.search(code) is not None
    found: list[Definition] = []
    around: list[Definition] = []
    decorators: list[re.Match[str]] = []
    items = list(_ITEM.finditer(code))
    headers = [item.start() for item in items if item[2] is not None]
    limits = [len(code), *headers[:0:-1]]
    for item in items:
        if item[2] is None:
            decorators.append(item)
            continue
        # A header never goes on below the next `def`, even if its bracket is not closed.
        body = _body(code, item.end(), limits.pop())
        if body is not None:
            start = item.start()
            while around and around[-1].end <= start:
                around.pop()
            name = f"{around[-1].name}.{item[2]}" if around else item[2]
            end = _end(code, body, _width(item[1]), odd=odd)
            around.append(Definition(name, _first_decorator(code, decorators, item), start, body, end))
            found.append(around[-1])
        decorators.clear()
    return found


_ITEM = re.compile(r"\n([ \t\f]*+)(?:@|(?:async[ \t]+)?+(?:def|class)[ \t]+(\w+))")
_HEADER = re.compile(r"\n[ \t\f]*+(?:async[ \t]+)?+(?:def|class)[ \t]+\w")
_ODD_INDENT = re.compile(r"\n *+[\t\f]")
_ANY_LINE = re.compile(r"\n([ \t\f]*+)(?=[^\s#)\]}])")
_HEADER_TOKEN = re.compile(rf"{LITERAL.pattern}|[()\[\]{{}}:\n]", re.DOTALL)
_NO_BRACKETS = bytes(set(range(256)) - set(b"()[]{}"))


def _body(code: str, position: int, limit: int) -> int | None:
    """Where the body of the definition begins whose name ends at `position`; None where the header has no colon."""
    depth = 0
    for token in _HEADER_TOKEN.finditer(code, position, limit):
        what = token[0]
        if what in "([{":
            depth += 1
        elif what in ")]}":
            depth -= 1
        elif what == ":" and depth == 0:
            line_end = code.find("\n", token.end())
            line_end = len(code) - 1 if line_end < 0 else line_end
            rest = code[token.end() : line_end].strip()
            return token.end() - 1 if rest and rest[0] != "#" else line_end
        elif what == "\n" and depth == 0 and code[token.start() - 1] != "\\":
            return None
    return None


def _end(code: str, body: int, indent: int, *, odd: bool) -> int:
    """Where the body ends: before the next line that begins a statement and is not indented more than `indent`."""
    end = len(code)
    begun = counted = body
    depth = exact = 0
    for line_end in _odd_dedents(code, body, indent) if odd else _dedents(code, body, indent):
        if code[line_end - 1] == "\\" and _continues(code, line_end):
            continue
        # Any bracket counts at first. Only where that does not come out even are those in literals left out.
        depth += _depth(code[begun:line_end])
        begun = line_end
        if depth:
            exact += _depth(without_literals(code[counted:line_end]))
            counted = line_end
        if depth == 0 or exact <= 0 or _HEADER.match(code, line_end):
            end = line_end
            break
    while end > body:
        line_end = code.rfind("\n", 0, end)
        line = code[line_end + 1 : end]
        if line.strip() and not (line.lstrip()[0] == "#" and _width(line) <= indent):
            break
        end = line_end
    return max(end - 1, body)


def _dedents(code: str, position: int, indent: int) -> Iterator[int]:
    return (found.start() for found in _dedent(indent).finditer(code, position))


@cache
def _dedent(indent: int) -> re.Pattern[str]:
    return re.compile(rf"\n {{0,{indent}}}+(?=[^\s#)\]}}])")


def _odd_dedents(code: str, position: int, indent: int) -> Iterator[int]:
    """The same for a file that indents with tabs."""
    return (found.start() for found in _ANY_LINE.finditer(code, position) if _width(found[1]) <= indent)


def _width(line: str) -> int:
    """The column of the first character that is not white space, as Python counts it."""
    white = line[: len(line) - len(line.lstrip(" \t\f"))]
    return len(white.rpartition("\f")[2].expandtabs(8))


def _continues(code: str, line_end: int) -> bool:
    """Whether the backslash at the end of a line is one that joins lines, not the end of a comment."""
    return without_literals(code[code.rfind("\n", 0, line_end) + 1 : line_end]).endswith("\\")


def _depth(code: str) -> int:
    brackets = code.encode("utf-8", "surrogatepass").translate(None, _NO_BRACKETS)
    return 2 * sum(map(brackets.count, (b"(", b"[", b"{"))) - len(brackets)


def _first_decorator(code: str, decorators: list[re.Match[str]], header: re.Match[str]) -> int:
    """The line of the first of the decorators that lead, with nothing but comments between, to a header."""
    first = header.start()
    for decorator in reversed(decorators):
        if _width(decorator[1]) != _width(header[1]) or not _is_one_statement(code[decorator.end() : first]):
            break
        first = decorator.start()
    return first


def _is_one_statement(code: str) -> bool:
    """Whether no other statement follows the first line and what its brackets enclose."""
    if "\n" not in code:
        return _depth(code) == 0 or _depth(without_literals(code)) == 0
    depth = 0
    for number, line in enumerate(without_literals(code).split("\n")):
        if number and depth == 0 and line.strip():
            return False
        depth += _depth(line)
    return depth == 0
