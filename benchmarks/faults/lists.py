"""Faults in sorted lists: the auto mappings of models, and lists of files with examples."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from random import Random

from faults.model import Fault, Files, Kind

_PAIR = re.compile(r'^ {8}\("(?P<key>[\w-]+)", "\w+"\),\n', re.MULTILINE)


def kinds() -> Iterator[Kind]:
    """Every kind of fault in both."""
    yield Kind("two entries swapped", "auto-mapping-order/order", _entries_swapped)
    yield Kind("an entry at the end", "auto-mapping-order/order", _entry_late)
    yield Kind("an entry twice", "auto-mapping-order/duplicate", _entry_twice)
    yield Kind("a key with two values", "auto-mapping-order/duplicate", _key_twice)
    yield Kind("a bracket lost", "auto-mapping-order/unparsable", _bracket_lost)
    yield Kind("a path misspelt", "doctest-list/missing", _path_misspelt)
    yield Kind("the file deleted", "doctest-list/missing", _file_deleted)
    yield Kind("two lines swapped", "doctest-list/order", _lines_swapped)
    yield Kind("a line twice", "doctest-list/duplicate", _line_twice)


def _mappings(files: Files, random: Random) -> Iterator[tuple[str, str, re.Match[str], re.Match[str]]]:
    """Two entries below each other, with the path and the text of their file."""
    paths = files.below(f"{files.library}/models/auto", "_auto.py")
    pairs = [
        (path, text, one, other)
        for path in paths
        for text in (files.text(path),)
        for one, other in pairwise(_PAIR.finditer(text))
        if one.end() == other.start() and one["key"] < other["key"]
    ]
    yield from random.sample(pairs, len(pairs))


def _entries_swapped(files: Files, random: Random) -> Iterator[Fault]:
    for path, text, one, other in _mappings(files, random):
        changed = text[: one.start()] + other[0] + one[0] + text[other.end() :]
        yield Fault(_place(path, text, one), {path: changed}, frozenset({path}))


def _entry_late(files: Files, random: Random) -> Iterator[Fault]:
    for path, text, one, _ in _mappings(files, random):
        end = text.index("\n    ]", one.end()) + 1
        changed = text[: one.start()] + text[one.end() : end] + one[0] + text[end:]
        yield Fault(_place(path, text, one), {path: changed}, frozenset({path}))


def _entry_twice(files: Files, random: Random) -> Iterator[Fault]:
    for path, text, one, _ in _mappings(files, random):
        changed = text[: one.end()] + one[0] + text[one.end() :]
        yield Fault(_place(path, text, one), {path: changed}, frozenset({path}))


def _key_twice(files: Files, random: Random) -> Iterator[Fault]:
    for path, text, one, other in _mappings(files, random):
        changed = text[: one.end()] + other[0].replace(other["key"], one["key"], 1) + text[one.end() :]
        yield Fault(_place(path, text, one), {path: changed}, frozenset({path}))


def _bracket_lost(files: Files, random: Random) -> Iterator[Fault]:
    for path, text, one, _ in _mappings(files, random):
        changed = text[: one.start()] + one[0].replace(")", "", 1) + text[one.end() :]
        yield Fault(_place(path, text, one), {path: changed}, frozenset({path}))


def _lines(files: Files, random: Random) -> Iterator[tuple[str, list[str], int]]:
    """Every line that names a file that is there, with the list that it stands in."""
    found = [
        (path, lines, number)
        for path in files.paths
        if re.fullmatch(r"utils/\w*(doctest|documentation_tests)\w*\.txt", path)
        for lines in (files.text(path).splitlines(keepends=True),)
        for number, line in enumerate(lines)
        if line.strip() in files and line.endswith("\n")
    ]
    yield from random.sample(found, len(found))


def _path_misspelt(files: Files, random: Random) -> Iterator[Fault]:
    for path, lines, number in _lines(files, random):
        changed = [*lines[:number], lines[number].replace(".", "s.", 1), *lines[number + 1 :]]
        yield Fault(f"{path}:{number + 1}", {path: "".join(changed)}, frozenset({path}))


def _file_deleted(files: Files, random: Random) -> Iterator[Fault]:
    for path, lines, number in _lines(files, random):
        yield Fault(lines[number].strip(), {lines[number].strip(): None}, frozenset({path}))


def _lines_swapped(files: Files, random: Random) -> Iterator[Fault]:
    for path, lines, number in _lines(files, random):
        if number and lines[number - 1] < lines[number] and lines[number - 1].strip():
            changed = [*lines[: number - 1], lines[number], lines[number - 1], *lines[number + 1 :]]
            yield Fault(f"{path}:{number}", {path: "".join(changed)}, frozenset({path}))


def _line_twice(files: Files, random: Random) -> Iterator[Fault]:
    for path, lines, number in _lines(files, random):
        changed = [*lines[:number], lines[number], *lines[number:]]
        yield Fault(f"{path}:{number + 1}", {path: "".join(changed)}, frozenset({path}))


def _place(path: str, text: str, entry: re.Match[str]) -> str:
    return f"{path}:{text.count(chr(10), 0, entry.start()) + 1} {entry['key']}"
