"""The generated table of dependencies says what `setup.py` or `pyproject.toml` says.

A library keeps its requirements in one list, `_deps` in `setup.py`, and generates `dependency_versions_table.py` from
it, which it reads at run time to tell users what they lack. Whoever changes a version and forgets the table ships the
old one. A library without that list is compared with the dependencies and the extras of its `pyproject.toml`.

Nothing is run: the list is read from the source. Two requirements for one name and a requirement that PEP 508 does not
allow are reported too. The fix writes the lines of the table that `setup.py` would write. Where the table stands is
the setting `layout.dependency_table`; a library without one is not asked for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from checks.facts.dependencies import PROJECT, SETUP, TABLE, Declared, Requirement, Table
from checks.model import Edit, Example, Finding

if TYPE_CHECKING:
    from checks.index import Index
    from checks.model import Findings

CODES = {
    "missing": "A requirement is declared and not in the table.",
    "extra": "The table holds a requirement that is not declared.",
    "different": "The table holds another version of a requirement than is declared.",
    "layout": "The table's entries are right, but their order or what stands above them is not what would be written.",
    "conflict": "One name is declared with two different requirements.",
    "requirement": "A declared requirement is not valid.",
    "unparsable": "The declared requirements or the table could not be read.",
}
FIXABLE = ("missing", "extra", "different", "layout")
OPTIONS: dict[str, object] = {}


_LINE = re.compile(r"[^\n]*\n|[^\n]+")


class Source(NamedTuple):
    """Where requirements are declared, and what is declared there."""

    path: str
    declared: Declared


def check(index: Index) -> Findings:
    """Report where the table and the declared requirements differ; subjects are the requirements on both sides."""
    path = index.settings.profile.pattern(index.settings.profile.dependency_table)
    source = _source(index) if index.exists(path) else None
    if source is None:
        return 0
    table = index.facts(TABLE, path)
    for where, problem in ((source.path, source.declared.problem), (path, table.problem)):
        if problem:
            yield Finding(where, problem.line, "dependency-table/unparsable", "requirements not read", problem.why)
    yield from _faulty(source)
    if not source.declared.problem and not table.problem:
        yield from _compare(index, source, path, table)
    return len(source.declared.requirements) + len(table.requirements)


def _source(index: Index) -> Source | None:
    for path, extractor in (("setup.py", SETUP), ("pyproject.toml", PROJECT)):
        declared = index.facts(extractor, path)
        if declared.requirements or declared.problem:
            return Source(path, declared)
    return None


def _faulty(source: Source) -> Iterator[Finding]:
    known: dict[str, Requirement] = {}
    for wanted in source.declared.requirements:
        if wanted.fault:
            message = f"{wanted.text!r} is not a valid requirement"
            yield Finding(source.path, wanted.line, "dependency-table/requirement", message, wanted.fault)
        first = known.setdefault(wanted.name, wanted)
        if first.text != wanted.text:
            yield Finding(
                source.path,
                wanted.line,
                "dependency-table/conflict",
                f"{wanted.name!r} is declared as {first.text!r} and as {wanted.text!r}",
                "the table has room for one of them",
                source=(source.path, first.line),
            )


def _compare(index: Index, source: Source, path: str, table: Table) -> Iterator[Finding]:
    declared = {wanted.name: wanted for wanted in source.declared.requirements}
    present = {entry.name: entry for entry in table.requirements}
    before = index.text(path)
    after = _render(source, table, before)
    edits = _line_edits(path, before, after)
    agree = True
    for name in declared.keys() | present.keys():
        wanted, entry = declared.get(name), present.get(name)
        if wanted and entry and wanted.text == entry.text:
            continue
        agree = False
        code, message = _difference(wanted, entry)
        yield Finding(
            path,
            entry.line if entry else table.line,
            f"dependency-table/{code}",
            message,
            f"compared with the requirements in {source.path}",
            edits=edits,
            source=(source.path, wanted.line) if wanted else None,
        )
    if agree and source.path == "setup.py" and before != after:
        first = edits[0].first
        yield Finding(path, first, "dependency-table/layout", "this is not the text that setup.py writes", edits=edits)


def _difference(wanted: Requirement | None, entry: Requirement | None) -> tuple[str, str]:
    if wanted is None or entry is None:
        one = wanted or entry
        assert one is not None
        return (
            ("missing", f"{one.text!r} is not in the table") if wanted else ("extra", f"{one.text!r} is not declared")
        )
    return "different", f"{wanted.text!r} is declared, the table holds {entry.text!r}"


def _render(source: Source, table: Table, before: str) -> str:
    import json

    header = source.declared.header or tuple(before.split("\n")[: table.line - 1])
    # Like a dict made of the list: a name keeps the place where it came first and the text that came last.
    entries = {wanted.name: wanted.text for wanted in source.declared.requirements}
    pairs = (
        (json.dumps(name, ensure_ascii=False), json.dumps(text, ensure_ascii=False)) for name, text in entries.items()
    )
    return "\n".join([*header, "deps = {", *(f"    {name}: {text}," for name, text in pairs), "}", ""])


def _line_edits(path: str, before: str, after: str) -> tuple[Edit, ...]:
    from difflib import SequenceMatcher

    old, new = _LINE.findall(before), _LINE.findall(after)
    steps = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return tuple(
        Edit(path, start + 1, end, "".join(new[first:last]))
        for what, start, end, first, last in steps
        if what != "equal"
    )


_TABLE = "src/lib/dependency_versions_table.py"
_SETUP = """\
_deps = [
    "Pillow>=10.0",
    "numpy",  # any will do
    "torch>=2.6,!=2.7.0",
]


class Update(Command):
    def run(self):
        content = ["# Generated from setup.py, do not edit.", "deps = {", entries, "}", ""]
"""
_WRITTEN = """\
# Generated from setup.py, do not edit.
deps = {
    "Pillow": "Pillow>=10.0",
    "numpy": "numpy",
    "torch": "torch>=2.6,!=2.7.0",
}
"""
_LIBRARY = {"src/lib/__init__.py": "", "setup.py": _SETUP}

EXAMPLES = (
    Example("in step", tree={**_LIBRARY, _TABLE: _WRITTEN}),
    Example(
        "a version raised, a requirement added and one dropped, all without the table",
        tree={
            **_LIBRARY,
            _TABLE: """\
# Generated from setup.py, do not edit.
deps = {
    "Pillow": "Pillow>=9.0",
    "numpy": "numpy",
    "scipy": "scipy",
}
""",
        },
        says=(
            f"{_TABLE}:2 dependency-table/missing",
            f"{_TABLE}:3 dependency-table/different",
            f"{_TABLE}:5 dependency-table/extra",
        ),
        mended={_TABLE: _WRITTEN},
    ),
    Example(
        "the right entries in another order, under an old header",
        tree={
            **_LIBRARY,
            _TABLE: """\
# Generated.
deps = {
    "numpy": "numpy",
    "Pillow": "Pillow>=10.0",
    "torch": "torch>=2.6,!=2.7.0",
}
""",
        },
        says=(f"{_TABLE}:1 dependency-table/layout",),
        mended={_TABLE: _WRITTEN},
    ),
    Example(
        "two requirements for one name, and one that means nothing",
        tree={
            "src/lib/__init__.py": "",
            "setup.py": '_deps = ["numpy>=1.20", "numpy", "torch=2.6"]\n',
            _TABLE: 'deps = {\n    "numpy": "numpy",\n    "torch": "torch=2.6",\n}\n',
        },
        says=("setup.py:1 dependency-table/conflict", "setup.py:1 dependency-table/requirement"),
    ),
    Example(
        "a list that is computed cannot be read without running it",
        tree={**_LIBRARY, "setup.py": "_deps = open('deps.txt').read().split()\n", _TABLE: _WRITTEN},
        says=("setup.py:1 dependency-table/unparsable",),
    ),
    Example(
        "a project without setup.py",
        tree={
            "src/lib/__init__.py": "",
            "pyproject.toml": """\
[project]
name = "lib"
dependencies = ["numpy>=2"]
optional-dependencies.models = ["torch>=2.6", "lib[io]"]
""",
            _TABLE: '# By hand.\ndeps = {\n    "numpy": "numpy>=1.20",\n    "torch": "torch>=2.6",\n}\n',
        },
        says=(f"{_TABLE}:3 dependency-table/different",),
        mended={_TABLE: '# By hand.\ndeps = {\n    "numpy": "numpy>=2",\n    "torch": "torch>=2.6",\n}\n'},
    ),
)
