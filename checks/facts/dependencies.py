"""What a project says it depends on, in `setup.py` or `pyproject.toml`, and the table generated from that."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from checks.extractor import Extractor
from checks.facts.syntax import Unparsable, parse
from checks.facts.toml import load_toml


class Requirement(NamedTuple):
    """One requirement as it is written; `name` is what stands before the versions, extras included.

    `fault` says what PEP 508 has against it, empty where it is fine.
    """

    name: str
    text: str
    line: int
    fault: str = ""


class Declared(NamedTuple):
    """What a file declares. `header` are the lines that setup.py writes above the table, empty where it does not say.

    `problem` is set where there is a list of requirements that could not be read.
    """

    requirements: tuple[Requirement, ...] = ()
    header: tuple[str, ...] = ()
    problem: Unparsable | None = None


class Table(NamedTuple):
    """The dict `deps` of a generated table: requirements by their keys, and the line where it begins.

    A requirement's `name` is its key here. `line` is 0 where there is no such dict; `problem` says why.
    """

    requirements: tuple[Requirement, ...] = ()
    line: int = 0
    problem: Unparsable | None = None


def _extract_setup(text: str) -> Declared:
    if "_deps" not in text:
        return Declared()
    module = parse(text)
    if isinstance(module, Unparsable):
        return Declared(problem=module)
    for statement in module.body:
        if isinstance(statement, ast.Assign) and any(_is_name(target, "_deps") for target in statement.targets):
            return _list(statement.value, tuple(_header(module)))
    return Declared()


def _extract_project(text: str) -> Declared:
    if "[project" not in text:
        return Declared()
    try:
        project = load_toml(text).get("project")
    except ValueError as error:
        return Declared(problem=Unparsable(1, str(error)))
    if not isinstance(project, dict):
        return Declared()
    found = (_requirement(requirement, _line(text, requirement)) for requirement in _strings(project))
    # An extra may ask for other extras of the project itself.
    return Declared(tuple(one for one in found if one.name.partition("[")[0] != project.get("name")))


def _extract_table(text: str) -> Table:
    module = parse(text)
    if isinstance(module, Unparsable):
        return Table(problem=module)
    for statement in module.body:
        if isinstance(statement, ast.Assign) and any(_is_name(target, "deps") for target in statement.targets):
            return _dict(statement.value)
    return Table(problem=Unparsable(1, "there is no dict `deps`"))


def _load_declared(stored: list[Any]) -> Declared:
    requirements, header, problem = stored
    return Declared(_requirements(requirements), tuple(header), Unparsable(*problem) if problem else None)


def _load_table(stored: list[Any]) -> Table:
    requirements, line, problem = stored
    return Table(_requirements(requirements), line, Unparsable(*problem) if problem else None)


SETUP: Extractor[Declared] = Extractor("dependencies-setup", _extract_setup, _load_declared)
PROJECT: Extractor[Declared] = Extractor("dependencies-project", _extract_project, _load_declared)
TABLE: Extractor[Table] = Extractor("dependencies-table", _extract_table, _load_table)

_NAME = re.compile(r"[^!=<>~;@\s]+")


def _requirements(stored: list[list[Any]]) -> tuple[Requirement, ...]:
    return tuple(Requirement(*fields) for fields in stored)


def _list(value: ast.expr, header: tuple[str, ...]) -> Declared:
    if not isinstance(value, ast.List | ast.Tuple):
        return Declared(problem=Unparsable(value.lineno, "`_deps` is no list of strings"))
    found = []
    for item in value.elts:
        if not (isinstance(item, ast.Constant) and isinstance(item.value, str)):
            return Declared(problem=Unparsable(item.lineno, "an item of `_deps` is no string"))
        found.append(_requirement(item.value, item.lineno))
    return Declared(tuple(found), header)


def _dict(value: ast.expr) -> Table:
    if not isinstance(value, ast.Dict):
        return Table(problem=Unparsable(value.lineno, "`deps` is no dict of strings"))
    found = []
    for key, item in zip(value.keys, value.values, strict=True):
        pair = (_string(key), _string(item))
        if pair[0] is None or pair[1] is None:
            return Table(problem=Unparsable(item.lineno, "an entry of `deps` is no pair of strings"))
        found.append(Requirement(pair[0], pair[1], item.lineno))
    return Table(tuple(found), value.lineno)


def _string(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _header(module: ast.Module) -> Iterator[str]:
    """The strings before `"deps = {"` in the list of lines that setup.py writes."""
    for node in ast.walk(module):
        if isinstance(node, ast.List):
            items = [_string(item) for item in node.elts]
            if "deps = {" in items:
                yield from (item for item in items[: items.index("deps = {")] if item is not None)
                return


def _strings(project: Mapping[str, Any]) -> Iterator[str]:
    extras = project.get("optional-dependencies")
    lists: Iterable[Any] = [project.get("dependencies"), *(extras.values() if isinstance(extras, dict) else ())]
    for found in lists:
        yield from (item for item in (found if isinstance(found, list) else ()) if isinstance(item, str))


def _requirement(text: str, line: int) -> Requirement:
    from packaging.requirements import InvalidRequirement
    from packaging.requirements import Requirement as Parsed

    try:
        Parsed(text)
    except InvalidRequirement as error:
        return Requirement(_name(text), text, line, str(error).partition("\n")[0])
    return Requirement(_name(text), text, line)


def _name(text: str) -> str:
    found = _NAME.match(text.strip())
    return found[0] if found else text


def _line(text: str, requirement: str) -> int:
    place = text.find(requirement)
    return text.count("\n", 0, max(place, 0)) + 1


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
