"""Faults in the order of `_import_structure`: keys and names that have changed places."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from random import Random

from faults.inits import Init, Listed, but, inits
from faults.model import Fault, Files, Kind, text_of


def kinds() -> Iterator[Kind]:
    """Every kind of fault in the order of inits."""
    yield Kind("two keys of a dict swapped", "init-order/keys", partial(_keys, "dict"))
    yield Kind("two assignments swapped", "init-order/keys", partial(_keys, "set"))
    yield Kind("two names on one line swapped", "init-order/names", partial(_names, True))
    yield Kind("two names on two lines swapped", "init-order/names", partial(_names, False))


def _keys(form: str, files: Files, random: Random) -> Iterator[Fault]:
    for init in inits(files, random):
        pairs = [
            (one, other)
            for one, other in pairwise(init.lazy)
            if one.form == other.form == form and one.backends == other.backends
            if text_of(one.key) < text_of(other.key) and _follow(one, other)
        ]
        if pairs:
            one, other = random.choice(pairs)
            (start, end), (low, high) = _span(init, one), _span(init, other)
            text = init.module.text
            changes = [(start, end, text[low:high]), (low, high, text[start:end])]
            yield Fault(f"{init.path}:{one.key.lineno}", {init.path: but(init.module, changes)}, frozenset({init.path}))


def _follow(one: Listed, other: Listed) -> bool:
    """Whether a list stands right below another one."""
    return one.node is other.node or other.node.lineno == (one.node.end_lineno or 0) + 1


def _span(init: Init, listed: Listed) -> tuple[int, int]:
    if listed.form != "dict":
        return init.module.start(listed.node), init.module.end(listed.node)
    values = listed.node.value if isinstance(listed.node, ast.Assign) else None
    assert isinstance(values, ast.Dict)
    number = next(number for number, key in enumerate(values.keys) if key is listed.key)
    return init.module.start(listed.key), init.module.end(values.values[number])


def _names(one_line: bool, files: Files, random: Random) -> Iterator[Fault]:
    for init in inits(files, random):
        pairs = [
            (one, other)
            for listed in init.lazy
            if sorted(listed.names, key=_rank) == list(listed.names)
            for one, other in pairwise(listed.names)
            if (one.lineno == other.lineno) is one_line and _rank(one) < _rank(other)
        ]
        if pairs:
            one, other = random.choice(pairs)
            changes = [
                (init.module.start(here), init.module.end(here), f'"{text_of(there)}"')
                for here, there in ((one, other), (other, one))
            ]
            yield Fault(f"{init.path}:{one.lineno}", {init.path: but(init.module, changes)}, frozenset({init.path}))


def _rank(name: ast.Constant) -> tuple[int, str]:
    """Constants, then classes, then functions."""
    text = text_of(name)
    return (0 if text.isupper() else 1 if text[0].isupper() else 2), text.lower().replace("_", "")
