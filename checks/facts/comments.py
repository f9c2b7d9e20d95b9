"""Suppression comments in files of each kind: the lines that each covers, the names in it, and the reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from checks.extractor import Extractor

Comments = tuple[tuple[int, int, tuple[str, ...], str], ...]
"""The first and the last line, the names and the reason of each comment of a file."""

_HASH, _HTML = (re.compile(opening + r"[ \t]*mergeready:[ \t]*skip\[([^\]\n]*)\]([^\n]*)") for opening in ("#", "<!--"))
_FENCE = re.compile(r"[ \t]*(```|~~~)")
Place = tuple[int, int, re.Match[str]]
"""The line and the column where a comment begins, and what was found in it."""


def _in_python(text: str) -> list[Any]:
    return _comments(text, _python_places) if _HASH.search(text) else []


def _in_markdown(text: str) -> list[Any]:
    return _comments(text, _markdown_places) if _HTML.search(text) else []


def _elsewhere(text: str) -> list[Any]:
    return _comments(text, _hash_places) if _HASH.search(text) else []


def _comments(text: str, places: Callable[[str], Iterator[Place]]) -> list[Any]:
    lines = text.split("\n")
    found = []
    for line, column, comment in places(text):
        names = [name.strip() for name in comment[1].split(",") if name.strip()]
        alone = not lines[line - 1][:column].strip()
        opening = "#" if comment.re is _HASH else "<!--"
        reason = comment[2] if comment.re is _HASH else comment[2].partition("-->")[0]
        found.append((line, _reach(lines, line, opening) if alone else line, names, reason.strip()))
    return found


def _python_places(text: str) -> Iterator[Place]:
    """Comments as Python sees them: not what a string holds, such as a docstring that explains suppressions."""
    import io
    import tokenize  # only where a comment was found: importing it takes as long as a warm run may spend on a rule

    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError, UnicodeError):  # a file that is broken
        yield from _hash_places(text)
        return
    for token in tokens:
        if token.type == tokenize.COMMENT and (found := _HASH.search(token.string)):
            yield token.start[0], token.start[1], found


def _markdown_places(text: str) -> Iterator[Place]:
    """HTML comments: not those in code, which explain suppressions."""
    fence = ""
    for number, line in enumerate(text.split("\n"), 1):
        if mark := _FENCE.match(line):
            fence = "" if mark[1] == fence else fence or mark[1]
        found = _HTML.search(line) if not fence else None
        if found and line.count("`", 0, found.start()) % 2 == 0:
            yield number, found.start(), found


def _hash_places(text: str) -> Iterator[Place]:
    for number, line in enumerate(text.split("\n"), 1):
        if found := _HASH.search(line):
            yield number, found.start(), found


def _reach(lines: Sequence[str], line: int, opening: str) -> int:
    """The first line below a comment that is no comment and not blank."""
    for number in range(line, len(lines)):
        stripped = lines[number].strip()
        if stripped and not stripped.startswith(opening):
            return number + 1
    return line


def _load(found: list[Any]) -> Comments:
    return tuple((line, last, tuple(names), reason) for line, last, names, reason in found)


PYTHON: Extractor[Comments] = Extractor("suppressions-python", _in_python, _load)
MARKDOWN: Extractor[Comments] = Extractor("suppressions-markdown", _in_markdown, _load)
OTHERS: Extractor[Comments] = Extractor("suppressions", _elsewhere, _load)

KINDS = {
    (".py", ".pyi"): PYTHON,
    (".md", ".mdx"): MARKDOWN,
    (".yml", ".yaml", ".toml", ".txt", ".cfg", ".ini"): OTHERS,
}
"""The files in which a comment counts, by their suffixes, and what finds comments in them."""
