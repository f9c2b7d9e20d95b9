"""Constants whose name contains `MAPPING` and that map strings: their entries, and on which lines each stands."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import accumulate
from typing import Any, NamedTuple

from checks.extractor import Extractor
from checks.facts.syntax import Unparsable, parse


class Entry(NamedTuple):
    """One entry. `last` is the line of the comma after it, 0 where its lines are not its own to be moved."""

    key: str
    line: int
    last: int


class Mapping(NamedTuple):
    """One constant. A run is entries in a row; whatever is no `"key": value` pair (`**other`) ends it."""

    name: str
    line: int
    runs: tuple[tuple[Entry, ...], ...]


class Mappings(NamedTuple):
    """Those of one file, or why there are none to be had."""

    mappings: tuple[Mapping, ...]
    problem: Unparsable | None


def _extract(text: str) -> dict[str, Any]:
    if "MAPPING" not in text:
        return {"mappings": [], "problem": None}
    module = parse(text)
    if isinstance(module, Unparsable):
        return {"mappings": [], "problem": module}
    starts = list(accumulate((len(line) + 1 for line in text.split("\n")), initial=0))
    mappings = []
    for name, line, value in _constants(module.body):
        pairs = _pairs(value)
        if pairs is not None:
            mappings.append(Mapping(name, line, tuple(_runs(pairs, text, starts))))
    return {"mappings": mappings, "problem": None}


def _load(stored: dict[str, Any]) -> Mappings:
    mappings = tuple(
        Mapping(name, line, tuple(tuple(Entry(*entry) for entry in run) for run in runs))
        for name, line, runs in stored["mappings"]
    )
    return Mappings(mappings, Unparsable(*stored["problem"]) if stored["problem"] else None)


MAPPINGS: Extractor[Mappings] = Extractor("mappings", _extract, _load)

Pair = tuple[str, ast.expr, ast.expr]
"""A key, and the first and the last node of its entry."""
_DICTS = ("OrderedDict", "dict")
_LONGEST = 4_000  # characters of a line
# From the end of a value: brackets around it, its comma, and nothing but a comment behind that.
_COMMA = re.compile(r"((?:[\s)]|#[^\n]*\n)*,)[ \t]*(?:#[^\n]*)?(?=\n|\Z)")


def _constants(body: list[ast.stmt]) -> Iterator[tuple[str, int, ast.expr]]:
    waiting = body[::-1]
    while waiting:
        statement = waiting.pop()
        if isinstance(statement, ast.If):
            waiting += [*statement.body, *statement.orelse][::-1]
        elif isinstance(statement, ast.Try):
            waiting += [*statement.body, *(inner for handler in statement.handlers for inner in handler.body)][::-1]
        elif isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            for target in targets:
                if isinstance(target, ast.Name) and "MAPPING" in target.id:
                    yield target.id, statement.lineno, statement.value


def _pairs(value: ast.expr) -> list[Pair | None] | None:
    """The entries of a mapping, None for one without a literal key; None for what is no mapping of literals."""
    if isinstance(value, ast.Dict):
        return [
            (key.value, key, item) if isinstance(key, ast.Constant) and isinstance(key.value, str) else None
            for key, item in zip(value.keys, value.values, strict=True)
        ]
    if isinstance(value, ast.Call) and _called(value.func) in _DICTS and len(value.args) == 1:
        if isinstance(value.args[0], ast.Dict):
            return _pairs(value.args[0])
        if isinstance(value.args[0], ast.List | ast.Tuple):
            return [_pair(item) for item in value.args[0].elts]
    return None


def _called(function: ast.expr) -> str:
    if isinstance(function, ast.Subscript):  # OrderedDict[str, str](...)
        function = function.value
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _pair(item: ast.expr) -> Pair | None:
    if isinstance(item, ast.Tuple | ast.List) and len(item.elts) == 2:
        key = item.elts[0]
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            return key.value, item, item
    return None


def _runs(pairs: list[Pair | None], text: str, starts: list[int]) -> Iterator[tuple[Entry, ...]]:
    run: list[Entry] = []
    for pair in [*pairs, None]:
        if pair is not None:
            run.append(_entry(pair, text, starts))
        elif run:
            yield tuple(run)
            run = []


def _entry(pair: Pair, text: str, starts: list[int]) -> Entry:
    key, first, last = pair
    assert last.end_lineno is not None
    assert last.end_col_offset is not None
    # Columns cost as much as their line is long, and a line of thousands of entries is moved by nobody.
    if max(starts[line] - starts[line - 1] for line in (first.lineno, last.end_lineno)) > _LONGEST:
        return Entry(key, first.lineno, 0)
    before = text[starts[first.lineno - 1] : _offset(text, starts, first.lineno, first.col_offset)]
    comma = _COMMA.match(text, _offset(text, starts, last.end_lineno, last.end_col_offset))
    if before.strip() or comma is None:
        return Entry(key, first.lineno, 0)
    return Entry(key, first.lineno, last.end_lineno + comma[1].count("\n"))


def _offset(text: str, starts: list[int], line: int, column: int) -> int:
    """The place in the text of a column that counts UTF-8 bytes."""
    start, end = starts[line - 1], starts[line] - 1
    return start + len(text[start:end].encode("utf-8")[:column].decode("utf-8"))
