"""Statements of a body without their layout: what a formatter may change of them is left out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checks.facts.strings import LITERAL


def statements(text: str) -> Iterator[tuple[int, int, str]]:
    r"""Each statement and each comment line: its first and last line, from 0, and its text without layout.

    >>> list(statements("f(\n    a,\n    b,\n)\n# c\n"))
    [(0, 3, 'f(a,b)'), (4, 4, '# c')]
    """
    first = start = line = depth = 0
    for token in _TOKEN.finditer(text):
        what = token[0]
        if what == "\n":
            if depth == 0 and text[token.start() - 1 : token.start()] != "\\":
                if text[start : token.start()].strip():
                    yield first, line, _bare(text[start : token.start()])
                first, start = line + 1, token.end()
            line += 1
        elif what in "([{":
            depth += 1
        elif what in ")]}":
            depth = max(depth - 1, 0)
        else:
            line += what.count("\n")
    if text[start:].strip():
        yield first, line, _bare(text[start:])


_TOKEN = re.compile(rf"{LITERAL.pattern}|[()\[\]{{}}\n]", re.DOTALL)
_STRING = r"[rRbBuUfFtT]{0,3}(?=[\"'])(?:" + LITERAL.pattern + ")"
_PART = re.compile(
    rf"(?P<comment>#[^\n]*)|(?P<string>{_STRING})|(?P<comma>,(?=\s*(?:#[^\n]*)?\n\s*[)\]}}]))|(?P<space>(?:\s|\\\n)+)|\w+|.",
    re.DOTALL,
)
_DOCSTRING = re.compile(rf"\s*({_STRING})\s*", re.DOTALL)
_PROMPT = re.compile(r"^[ \t]*\.\.\.[ \t]?", re.MULTILINE)
_IMPORT = re.compile(r"(?<=import )\(([^()]*?),?\s*\)")
_LAYOUT = re.compile(r",(?=\s*[)\]}])|\s+")


def _bare(statement: str) -> str:
    """A statement without white space, commas before closing brackets, and the joints of strings in a row."""
    indent = statement[: len(statement) - len(statement.lstrip(" \t"))]
    if docstring := _DOCSTRING.fullmatch(statement):
        return indent + _LAYOUT.sub("", _IMPORT.sub(r"\1", _PROMPT.sub("", docstring[1])))
    parts: list[str] = []
    string = False
    for part in _PART.finditer(statement, len(indent)):
        what, kind = part[0], part.lastgroup
        if kind == "space":
            if parts and (parts[-1][-1:].isalnum() or parts[-1][-1:] == "_"):
                parts.append(" ")
        elif kind == "string" and string:
            _join(parts, what)
        elif kind != "comma":
            if parts and parts[-1] == " " and not (what[0].isalnum() or what[0] == "_"):
                parts.pop()
            parts.append(f"{what.rstrip()}\n" if kind == "comment" else what)
            string = kind == "string"
    return indent + "".join(parts).rstrip()


def _join(parts: list[str], string: str) -> None:
    """Add a string to the one before it, as the two say one thing."""
    body = string.lstrip("rRbBuUfFtT")
    if parts[-1][-1] == body[0] and not parts[-1].endswith(body[0] * 3) and not body.startswith(body[0] * 3):
        parts[-1] = parts[-1][:-1] + body[1:]
    else:
        parts.append(string)
