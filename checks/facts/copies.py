"""Copied code in one file: comments that say where code comes from, and the classes and functions they may speak of."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Any, NamedTuple

from checks.extractor import Extractor
from checks.facts.python import Definition, definitions_in
from checks.facts.strings import LITERAL, mask


class Marker(NamedTuple):
    """One comment that speaks of copying, whether or not it is spelt as a marker has to be.

    `offset` is where its `#` stands, `text` the comment. `above` is the number of the definition that it stands by,
    -1 for none, and `place` says how: `direct` on the line above `class` or `def`, `decorators` on the line above
    the first decorator, `apart` with blank lines or comments between, `behind` on a line of the header itself.
    """

    offset: int
    text: str
    above: int
    place: str


class Copies(NamedTuple):
    """The markers and the definitions of a file, and a digest of each definition without the markers inside."""

    markers: tuple[Marker, ...]
    definitions: tuple[Definition, ...]
    digests: tuple[str, ...]


def without_markers(text: str) -> str:
    """The text without the lines of markers, which also are the comments that suspend or end a copy.

    They say how code came to stand where it stands, so a copy of that code need not, and must not, repeat them.
    """
    return _MARKER_LINE.sub("", f"\n{text}")[1:] if _may_be_marked(text) else text


def is_marker(line: str) -> bool:
    """Whether a line is one that `without_markers` leaves out."""
    return _may_be_marked(line) and _MARKER_LINE.fullmatch(f"\n{line}") is not None


def _may_be_marked(text: str) -> bool:
    return "Copied from" in text or "Ignore copy" in text or "End copy" in text


def _marked(text: str) -> list[Any]:
    """Facts of a file with markers, nothing for any other file: few files have one."""
    return _all(text) if "opied" in text or "OPIED" in text else []


def _all(text: str) -> list[Any]:
    masked = mask(text)
    found = definitions_in(masked)
    lines = [line.start() for line in _MARKER_LINE.finditer(text)] if _may_be_marked(text) else []
    digests = [_digest(text, each.first, each.end, lines) for each in found]
    return [_markers(masked, found), found, digests]


def _load(stored: list[Any]) -> Copies:
    if not stored:
        return Copies((), (), ())
    markers, found, digests = stored
    return Copies(
        tuple(Marker(*marker) for marker in markers), tuple(Definition(*each) for each in found), tuple(digests)
    )


MARKED: Extractor[Copies] = Extractor("copies", _marked, _load)
ORIGINALS: Extractor[Copies] = Extractor("originals", _all, _load)

# A path of names, so that a comment which credits a web page stays part of the code.
_MARKER_LINE = re.compile(
    r"\n[ \t]*+#[ \t]*(?:Copied from[ \t]+[A-Za-z_]\w*[./][\w./]++(?!:)|(?:Ignore|End) copy\b)[^\n]*"
)
_MENTIONS = (re.compile(r"opied[ \t]+[Ff]rom\b"), re.compile(r"OPIED[ \t]+FROM\b"))
_BETWEEN = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n)+")


def _digest(text: str, start: int, end: int, lines: list[int]) -> str:
    """A hash of a definition without markers; `lines` are the places of those in the whole text."""
    marked = bisect_left(lines, start) < bisect_left(lines, end)
    content = without_markers(text[start:end]) if marked else text[start:end]
    return hashlib.sha1(content.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()[:20]


def _markers(masked: str, found: list[Definition]) -> list[Marker]:
    by_start = {each.start: number for number, each in enumerate(found)}
    by_first = {each.first: number for number, each in enumerate(found)}
    markers: list[Marker] = []
    between = 0  # where the blank lines and comments that follow a marker end, for all markers among them
    for start, end in sorted(set(_lines_that_mention(masked))):
        offset = _comment(masked, start, end)
        text = masked[offset:end].rstrip()
        if offset < 0 or not any(mention.search(text) for mention in _MENTIONS):
            continue
        if masked[start:offset].strip():
            numbers = (number for number, each in enumerate(found) if each.first <= start < each.body)
            above = next(numbers, -1)
            place = "behind" if above >= 0 else ""
        else:
            if end >= between:
                following = _BETWEEN.match(masked, end + 1)
                between = following.end() if following else end + 1
            above, place = _stands(end + 1, between, by_start, by_first)
            if place == "apart" and _indent(masked, found[above].start) != offset - start:
                above, place = -1, ""  # it is about the end of the code before it
        markers.append(Marker(offset, text, above, place))
    return markers


def _lines_that_mention(masked: str) -> Iterator[tuple[int, int]]:
    """Where the lines with one of the phrases begin and end."""
    for mention in _MENTIONS:
        found = mention.search(masked)
        while found:
            end = masked.find("\n", found.end())
            end = len(masked) if end < 0 else end
            yield masked.rfind("\n", 0, found.start()) + 1, end
            found = mention.search(masked, end)


def _comment(masked: str, start: int, end: int) -> int:
    """Where the comment of a line begins, -1 for a line without one."""
    for literal in LITERAL.finditer(masked, start, end):
        if literal[0][0] == "#":
            return literal.start()
    return -1


def _indent(masked: str, line: int) -> int:
    return len(masked[line : line + 200]) - len(masked[line : line + 200].lstrip(" \t"))


def _stands(line: int, between: int, by_start: dict[int, int], by_first: dict[int, int]) -> tuple[int, str]:
    """The definition that the marker before a line stands by, and how; `between` ends the comments that follow."""
    if line in by_start:
        return by_start[line], "direct"
    if line in by_first:
        return by_first[line], "decorators"
    above = by_start.get(between, by_first.get(between, -1))
    return above, "apart" if above >= 0 else ""
