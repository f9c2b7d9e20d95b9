"""What a file of dummy objects holds: stand-ins that ask for a backend as soon as somebody uses them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from checks.extractor import Extractor
from checks.facts.syntax import Unparsable, parse

_OBJECT = re.compile(r"class +(\w+)|(?:async +)?def +(\w+)|(\w+) *=")
_BACKENDS = re.compile(r"\[[^\[\]\n]*\]")


class Dummy(NamedTuple):
    """One stand-in: `kind` is `class`, `function` or `constant`, `shape` its text with `{name}` and `{backends}`.

    `backends` is the list as it is written, empty where the text has none or several that differ.
    """

    name: str
    kind: str
    line: int
    last: int
    shape: str
    backends: str

    @property
    def text(self) -> str:
        """The stand-in as it is written, without the last line end."""
        return rendered(self.shape, self.name, self.backends)


class Dummies(NamedTuple):
    """The stand-ins of one file in order. `header` is what stands above them, without blank lines at its end.

    `problem` is the line and the message of a syntax error; `pure` says that the file holds nothing else.
    """

    header: str
    objects: Sequence[Dummy]
    pure: bool
    problem: tuple[int, str] | None


def rendered(shape: str, name: str, backends: str) -> str:
    """A stand-in of a given shape."""
    return shape.replace("{backends}", backends).replace("{name}", name)


def _extract(text: str) -> Any:
    lines = text.split("\n")
    starts = [number for number, line in enumerate(lines) if line[:1].strip() and line[0] != ")"]
    found = [(start, _OBJECT.match(lines[start])) for start in starts]
    objects = [(start, match) for start, match in found if match is not None]
    first = objects[0][0] if objects else len(lines)
    ends = [*starts[1:], len(lines)] if starts else []
    shapes: dict[str, int] = {}
    rows = []
    for (start, match), end in zip(found, ends, strict=True):
        if match is not None:
            row = _object(lines[start:end], match)
            shape = shapes.setdefault(row.pop(), len(shapes))
            rows.append([*row[:2], start + 1, start + row[2], shape, row[3]])
    pure = all(match is not None for start, match in found if start >= first)
    header = "\n".join(lines[:first]).rstrip()
    # One stand-in of each shape tells whether a file of nothing else is Python, and takes a hundredth of the time.
    sample = [header, *(rendered(shape, "Name", '["name"]') for shape in shapes)] if pure else [text]
    problem = None if _parses("\n".join(sample)) else parse(text)
    return [header, list(shapes), rows, pure, list(problem) if isinstance(problem, Unparsable) else None]


def _object(lines: list[str], match: re.Match[str]) -> list[Any]:
    """Name, kind, number of lines, backends and shape of a stand-in."""
    chunk = "\n".join(lines).rstrip()
    name = match[1] or match[2] or match[3]
    kind = "class" if match[1] else "function" if match[2] else "constant"
    written = set(_BACKENDS.findall(chunk))
    backends = written.pop() if len(written) == 1 else ""
    shape = chunk.replace(backends, "{backends}") if backends else chunk
    head, body = shape[: match.end()], shape[match.end() :]
    # In front of the name stand only keywords, and inside a function it is handed on as an argument.
    shape = f"{'{name}'.join(head.rsplit(name, 1))}{body.replace(f'({name},', '({name},')}"
    return [name, kind, chunk.count("\n") + 1, backends, shape]


def _parses(text: str) -> bool:
    return not isinstance(parse(text), Unparsable)


def _load(found: Any) -> Dummies:
    header, shapes, rows, pure, problem = found
    objects = [
        Dummy(name, kind, line, last, shapes[shape], backends) for name, kind, line, last, shape, backends in rows
    ]
    return Dummies(header, objects, pure, tuple(problem) if problem else None)


DUMMIES: Extractor[Dummies] = Extractor("dummies", _extract, _load)
