"""Faults in the table of dependencies and in the list in `setup.py` that it is generated from."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from random import Random

from faults.model import Fault, Files, Kind, Module, text_of

_Change = Callable[[Module, ast.Constant, Random], str | None]
"""Makes a text with one requirement of a list or a table changed, None where it cannot be."""


def kinds() -> Iterator[Kind]:
    """Every kind of fault in the table and in the list."""
    yield Kind("a version raised in setup.py alone", "dependency-table/different", partial(_in_list, _raised, True))
    yield Kind("a version changed in the table alone", "dependency-table/different", partial(_in_table, _changed))
    yield Kind("a requirement added to setup.py alone", "dependency-table/missing", partial(_in_list, _added, True))
    yield Kind("a row deleted", "dependency-table/missing", partial(_in_table, _row_deleted))
    yield Kind("a requirement deleted in setup.py alone", "dependency-table/extra", partial(_in_list, _deleted, True))
    yield Kind("a row added", "dependency-table/extra", partial(_in_table, _row_added))
    yield Kind("two rows swapped", "dependency-table/layout", _rows_swapped)
    yield Kind("the header changed", "dependency-table/layout", _header_changed)
    yield Kind("one name with two requirements", "dependency-table/conflict", partial(_in_list, _twice, False))
    yield Kind("a comparison spelt =>", "dependency-table/requirement", partial(_in_list, _spelt_wrong, False))
    yield Kind("a bracket lost in setup.py", "dependency-table/unparsable", partial(_bracket_lost, "setup.py"))
    yield Kind("a bracket lost in the table", "dependency-table/unparsable", partial(_bracket_lost, ""))


def _in_list(change: _Change, reported_in_table: bool, files: Files, random: Random) -> Iterator[Fault]:
    module = files.module("setup.py")
    path = _table(files) if reported_in_table else "setup.py"
    requirements = _requirements(module)
    for node in random.sample(requirements, len(requirements)):
        if text := change(module, node, random):
            yield Fault(f"setup.py:{node.lineno} {text_of(node)}", {"setup.py": text}, frozenset({path}))


def _in_table(change: _Change, files: Files, random: Random) -> Iterator[Fault]:
    path = _table(files)
    module = files.module(path)
    rows = _rows(module)
    for node in random.sample(rows, len(rows)):
        if text := change(module, node, random):
            yield Fault(f"{path}:{node.lineno} {text_of(node)}", {path: text}, frozenset({path}))


def _table(files: Files) -> str:
    return f"{files.library}/dependency_versions_table.py"


def _requirements(module: Module) -> list[ast.Constant]:
    """The strings of the list, without `python` itself, which setup.py cannot do without."""
    (values,) = (node.value for node in module.tree.body if isinstance(node, ast.Assign) and _name(node) == "_deps")
    assert isinstance(values, ast.List)
    found = [node for node in values.elts if isinstance(node, ast.Constant)]
    return [node for node in found if not text_of(node).startswith("python>")]


def _name(node: ast.Assign) -> str:
    return ast.unparse(node.targets[0])


def _rows(module: Module) -> list[ast.Constant]:
    (values,) = (node.value for node in module.tree.body if isinstance(node, ast.Assign))
    assert isinstance(values, ast.Dict)
    return [node for node in values.values if isinstance(node, ast.Constant)]


def _raised(module: Module, node: ast.Constant, _: Random) -> str | None:
    return _instead(module, node, re.sub(r">=(\d+)", lambda found: f">={int(found[1]) + 1}", text_of(node), count=1))


def _changed(module: Module, node: ast.Constant, _: Random) -> str | None:
    return _instead(module, node, f"{text_of(node)},!=0.0.1" if ">" in text_of(node) else f"{text_of(node)}>=0.1")


def _added(module: Module, node: ast.Constant, random: Random) -> str | None:
    new = random.choice(("torchdiffeq>=0.2", "einops", "pandas<3"))
    start = module.line(node.lineno)
    return None if new[:6] in module.text else module.but(start, start, f'    "{new}",\n')


def _deleted(module: Module, node: ast.Constant, _: Random) -> str | None:
    # What the extras of setup.py name has to be there, or setup.py itself fails.
    name = re.split(r"[\[<>=!~]", text_of(node))[0]
    if f'"{name}"' in module.text.replace(f'"{text_of(node)}"', ""):
        return None
    return module.but(module.line(node.lineno), module.line(node.lineno + 1), "")


def _row_deleted(module: Module, node: ast.Constant, _: Random) -> str:
    return module.but(module.line(node.lineno), module.line(node.lineno + 1), "")


def _row_added(module: Module, node: ast.Constant, _: Random) -> str:
    start = module.line(node.lineno)
    return module.but(start, start, '    "einops": "einops>=0.8",\n')


def _twice(module: Module, node: ast.Constant, _: Random) -> str | None:
    if ">=" not in text_of(node):
        return None
    end = module.line(node.lineno + 1)
    return module.but(end, end, f'    "{text_of(node).partition(">=")[0]}>=99",\n')


def _spelt_wrong(module: Module, node: ast.Constant, _: Random) -> str | None:
    return _instead(module, node, text_of(node).replace(">=", "=>", 1))


def _instead(module: Module, node: ast.Constant, text: str) -> str | None:
    return None if text == node.value else module.but(module.start(node) + 1, module.end(node) - 1, text)


def _rows_swapped(files: Files, random: Random) -> Iterator[Fault]:
    path = _table(files)
    module = files.module(path)
    pairs = list(pairwise(_rows(module)))
    for one, other in random.sample(pairs, len(pairs)):
        start, middle, end = module.line(one.lineno), module.line(other.lineno), module.line(other.lineno + 1)
        text = module.but(start, end, module.text[middle:end] + module.text[start:middle])
        yield Fault(f"{path}:{one.lineno} {text_of(one)}", {path: text}, frozenset({path}))


def _header_changed(files: Files, random: Random) -> Iterator[Fault]:
    path = _table(files)
    text = files.text(path)
    for number in random.sample(range(text.count("#")), text.count("#")):
        place = [found.start() for found in re.finditer("#", text)][number]
        yield Fault(path, {path: f"{text[:place]}# Again:{text[place + 1 :]}"}, frozenset({path}))


def _bracket_lost(path: str, files: Files, _: Random) -> Iterator[Fault]:
    path = path or _table(files)
    text = files.text(path)
    place = text.index("[" if path == "setup.py" else "{", text.index("deps = "))
    yield Fault(path, {path: text[:place] + text[place + 1 :]}, frozenset({path}))
