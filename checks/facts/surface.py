r"""What a module shows at first sight: names that unindented lines bind, and its `__all__`.

Read by pattern, because a library holds thousands of modules and parsing one takes a hundred times as long. Names
that are bound in any other way are found by `checks.facts.bindings`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from checks.extractor import Extractor
from checks.facts.syntax import Unparsable, parse

# The look-ahead turns indented lines away at once: it halves the time of the whole.
_LINE = re.compile(
    r"\n(?=[a-zA-Z_])(?:class +(\w+)|(?:async +)?def +(\w+)|"
    r"(\w+) *(?::[^\n=]+)?=(?!=) *(?:([^\W\d]\w*) *(?=[\n#]|\Z)|([\[{\"'\d]))?)"
)
_EXPORTS = re.compile(r"\n(__all__ *(?::[^\n=]+)?= *)([\[(][^\])]*[\])])[^\n]*")
_PLAIN = re.compile(r"""\[(?:(?:["']\w+["'](?:, |(?=\])))*|\n(?: *["']\w+["'],?\n)*)\]""")
_STRING = re.compile(r"""["'](\w+)["']""")
_LITERALS = frozenset({"None", "True", "False"})


class Export(NamedTuple):
    """One string of `__all__`: lines count from 1, columns are characters from 0."""

    name: str
    line: int
    start: int
    end: int


class Surface(NamedTuple):
    """Names by kind: `class`, `function`, `value`, `made`, or `=` and the name that it is another name of.

    A `value` is a literal, while nobody knows what a name that is `made` by an expression stands for.

    `exports` is `__all__` where it is one list of strings and never added to, None where it is absent or anything
    else. `plain` says that it is absent or written so simply that a reader of lines understands it too, `sound` that
    besides it holds each name once and only names from above.
    """

    names: dict[str, str]
    exports: Sequence[str] | None
    plain: bool
    sound: bool


def exports_of(text: str) -> list[Export] | None:
    """The strings of the `__all__` of a module and where they stand, None where it is not one list of strings."""
    return _exports(f"\n{text}")[0]


def _extract(text: str) -> Any:
    names: dict[str, str] = {}
    first = "\n" + text[: text.find("\n") + 1 or None]
    for klass, function, name, other, literal in _LINE.findall(first) + _LINE.findall(text):
        if klass or function:
            names[klass or function] = "class" if klass else "function"
        elif name not in names:  # a class that is wrapped after its definition stays one
            is_value = literal or other in _LITERALS
            names[name] = "value" if is_value else f"={other}" if other else "made"
    found, plain = _exports(f"\n{text}") if "__all__" in text else (None, True)
    exports = None if found is None else [export.name for export in found]
    sound = plain and len(set(exports or ())) == len(exports or ()) and names.keys() >= set(exports or ())
    return [names, exports, plain, sound]


def _exports(text: str) -> tuple[list[Export] | None, bool]:
    """The strings of `__all__` in a text that opens with a line end, and whether it is plain or absent."""
    count = text.count("\n__all__")
    found = _EXPORTS.search(text) if count == 1 else None
    if found is None:
        return None, count == 0
    statement = found[0][1:]
    line = text.count("\n", 0, found.start() + 1)
    if statement == f"{found[1]}{found[2]}" and _PLAIN.fullmatch(found[2]):
        return [_export(statement, string, line) for string in _STRING.finditer(statement)], True
    tree = parse(statement)
    first = None if isinstance(tree, Unparsable) else tree.body[0]
    value = first.value if isinstance(first, ast.Assign | ast.AnnAssign) else None
    if not isinstance(value, ast.List | ast.Tuple):
        return None, False
    exports = [
        Export(node.value, node.lineno - 1 + line, node.col_offset, node.end_col_offset or 0)
        for node in value.elts
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    return (exports if len(exports) == len(value.elts) else None), False


def _export(statement: str, string: re.Match[str], line: int) -> Export:
    start = statement.rfind("\n", 0, string.start()) + 1
    return Export(string[1], statement.count("\n", 0, start) + line, string.start() - start, string.end() - start)


def _load(found: Any) -> Surface:
    return Surface(*found)


SURFACE: Extractor[Surface] = Extractor("surface", _extract, _load)
