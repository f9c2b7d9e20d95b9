"""Imports only run in the directions that the repository allows, and never in a circle.

Who may import whom is a table in the settings; without one this rule has nothing to say:

    [tool.mergeready.rules.import-direction.allowed]
    core = []                      # imports nothing of ours
    commands = ["core", "report"]  # imports itself and these

    [tool.mergeready.rules.import-direction.forbidden]
    "core.rules.*" = ["core.rules.*"]  # no rule imports another one
    report = ["rich"]

    [tool.mergeready.rules.import-direction.only_from]
    "core.engine" = ["commands"]   # nothing else imports it

A name means a module and everything below it, `*` in it anything. `allowed` speaks of the repository's own packages
only; where two of its names fit a module, the longer one counts. Whatever stands below a name may be imported below it,
unless `forbidden` says no. Names of other packages may stand in the lists as well.

Imports count wherever they stand: in functions, relative ones, and `import_module("...")` with its module written out.
Those for type checkers count unless `type_checking = false`. A circle is made of imports that happen while a file is
imported, so those two kinds do not count there; `circles = false` turns that part off. A name of ours in the table
that fits no module is reported, because a rule that looks at nothing would never be noticed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from checks.facts.imports import IMPORTS
from checks.model import Example, Finding
from checks.modules import covers, modules_of, target_of

if TYPE_CHECKING:
    from checks.facts.imports import Import
    from checks.index import Index
    from checks.model import Findings

CODES = {
    "direction": "A module imports one that the table does not let it import.",
    "circle": "Modules import each other in a circle.",
    "table": "The table names no module, or is no table of lists of names.",
    "unparsable": "The file is not Python, so its imports were not looked at.",
}
FIXABLE: tuple[str, ...] = ()
OPTIONS: dict[str, object] = {
    "allowed": {},
    "forbidden": {},
    "only_from": {},
    "type_checking": True,
    "circles": True,
}

Lists = Mapping[str, tuple[str, ...]]


class Table(NamedTuple):
    """Who may import whom. `packages` are the names of the repository's own packages."""

    packages: frozenset[str]
    allowed: Lists
    forbidden: Lists
    only_from: Lists


class Use(NamedTuple):
    """One module that imports another one, and where."""

    importer: str
    target: str
    path: str
    found: Import


def check(index: Index) -> Findings:
    """Report imports against the table, circles, and what is wrong with the table; subjects are the imports."""
    table = Table(frozenset(index.settings.profile.packages), *(_lists(index, key) for key in list(OPTIONS)[:3]))
    if not any(table[1:]):
        return 0
    modules = modules_of(index.paths, index.settings.profile.packages)
    yield from _faults(index, table, modules)
    index.prefetch(modules.values(), IMPORTS)
    for path in modules.values():
        if problem := index.facts(IMPORTS, path).problem:
            yield Finding(path, problem.line, "import-direction/unparsable", "imports not checked", problem.why)
    uses = tuple(_uses(index, modules))
    if not _switch(index, "type_checking"):
        uses = tuple(use for use in uses if not use.found.typing)
    yield from _wrong_ways(table, uses)
    if _switch(index, "circles"):
        yield from _circles(use for use in uses if use.target in modules and not use.found.late)
    return len(uses)


def _lists(index: Index, key: str) -> Lists:
    table = index.settings.option("import-direction", key, {})
    return {name: tuple(map(str, names)) if isinstance(names, list) else () for name, names in table.items()}


def _switch(index: Index, key: str) -> bool:
    return bool(index.settings.option("import-direction", key, OPTIONS[key]))


def _faults(index: Index, table: Table, modules: Mapping[str, str]) -> Iterator[Finding]:
    source = index.settings.source or "pyproject.toml"
    lines = index.text(source).split("\n")
    for key, lists in zip(list(OPTIONS)[:3], table[1:], strict=True):
        given = index.settings.option("import-direction", key, {})
        for name, others in lists.items():
            for one in (name, *(other for other in others if other.partition(".")[0] in table.packages)):
                if not any(covers(one, module) for module in modules):
                    line = next((number for number, text in enumerate(lines, 1) if one in text), 1)
                    message = f"{key}: {one!r} fits no module"
                    yield Finding(source, line, "import-direction/table", message, anchors=(1,))
            names = given[name]
            if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
                line = next((number for number, text in enumerate(lines, 1) if name in text), 1)
                yield Finding(source, line, "import-direction/table", f"{key}: {name!r} has no list of names")


def _uses(index: Index, modules: Mapping[str, str]) -> Iterator[Use]:
    for importer, path in modules.items():
        seen: set[tuple[int, str]] = set()
        for found in index.facts(IMPORTS, path).found:
            target = target_of(found, importer, path, modules.keys())
            if target and target != importer and (found.line, target) not in seen:
                seen.add((found.line, target))
                yield Use(importer, target, path, found)


def _wrong_ways(table: Table, uses: Iterable[Use]) -> Iterator[Finding]:
    for use in uses:
        if reason := _objection(table, use.importer, use.target):
            message = f"{use.importer} imports {use.target}"
            yield Finding(use.path, use.found.line, "import-direction/direction", message, reason)


def _objection(table: Table, importer: str, target: str) -> str:
    """Why the table is against an import, empty where it is not."""
    for name, targets in table.forbidden.items():
        if covers(name, importer) and (against := _first(targets, target)):
            return f"forbidden: {name} never imports {against}"
    for name, importers in table.only_from.items():
        if covers(name, target) and not _first((name, *importers), importer):
            return f"only_from: {name} is imported by {', '.join(importers) or 'nothing else'} only"
    name = max((name for name in table.allowed if covers(name, importer)), key=len, default="")
    if name and target.partition(".")[0] in table.packages and not _first((name, *table.allowed[name]), target):
        return f"allowed: {name} imports {', '.join(table.allowed[name]) or 'nothing else'} of this repository"
    return ""


def _first(names: Iterable[str], module: str) -> str:
    return next((name for name in names if covers(name, module)), "")


def _circles(uses: Iterable[Use]) -> Iterator[Finding]:
    """One finding for each import that closes a circle: without those that are reported, there are no circles."""
    from graphlib import CycleError, TopologicalSorter

    graph: dict[str, dict[str, Use]] = {}
    for use in uses:
        graph.setdefault(use.importer, {}).setdefault(use.target, use)
    while True:
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            names: list[str] = error.args[1][:0:-1]  # from an importer to what it imports, the first one not repeated
            # The import that leads back to the topmost module is most often the one that should not be.
            start = names.index(min(names, key=lambda name: (name.count("."), name)))
            names = [*names[start:], *names[:start]]
            use = graph[names[-1]].pop(names[0])
            message = f"a circle of imports: {' -> '.join([*names, names[0]])}"
            yield Finding(use.path, use.found.line, "import-direction/circle", message)
        else:
            return


_TREE = {"src/core/__init__.py": "", "src/core/a.py": "import os\n", "src/core/b.py": "", "src/shell/__init__.py": ""}


def _settings(**table: object) -> dict[str, object]:
    return {"rules": {"import-direction": table}}


EXAMPLES = (
    Example(
        "a layer that imports nothing of ours, in every way there is to import",
        tree={
            **_TREE,
            "src/core/b.py": """\
from __future__ import annotations

import importlib
import shell.text as text
from typing import TYPE_CHECKING

from . import a

if TYPE_CHECKING:
    from shell import Shell


def load():
    from ..shell import ls

    return importlib.import_module("shell.late")
""",
        },
        says=(
            "src/core/b.py:4 import-direction/direction",
            "src/core/b.py:10 import-direction/direction",
            "src/core/b.py:16 import-direction/direction",
        ),
        settings=_settings(allowed={"core": [], "shell": ["core"]}),
    ),
    Example(
        "modules that never import each other, though their package is imported",
        tree={**_TREE, "src/core/a.py": "import core.b\nfrom core import NAMES\n"},
        says=("src/core/a.py:1 import-direction/direction",),
        settings=_settings(forbidden={"core.*": ["core.*"]}),
    ),
    Example(
        "a module that only one may import",
        tree={**_TREE, "src/shell/ls.py": "from core import a\n", "src/core/b.py": "from core import a\n"},
        says=("src/shell/ls.py:1 import-direction/direction",),
        settings=_settings(only_from={"core.a": ["core.b"]}),
    ),
    Example(
        "a circle, which an import in a function would not make",
        tree={
            **_TREE,
            "src/core/a.py": "from core import b\n",
            "src/core/b.py": "import os\nimport core.c\n",
            "src/core/c.py": "from core.a import x\n\n\ndef f():\n    import core.b\n",
        },
        says=("src/core/c.py:1 import-direction/circle",),
        settings=_settings(allowed={"core": []}),
    ),
    Example(
        "a table that fits nothing, a list that is none, and a file that is not Python",
        tree={
            **_TREE,
            "src/core/b.py": "import (\n",
            "pyproject.toml": "[tool.mergeready.rules.import-direction]\nallowed.gone = []\nforbidden.core = 'shell'\n",
        },
        says=(
            "pyproject.toml:2 import-direction/table",
            "pyproject.toml:3 import-direction/table",
            "src/core/b.py:1 import-direction/unparsable",
        ),
        settings=_settings(allowed={"gone": []}, forbidden={"core": "shell"}),
    ),
    Example("no table, no opinion", tree={**_TREE, "src/core/b.py": "import shell\n"}),
    Example(
        "the longer name counts",
        tree={**_TREE, "src/core/b.py": "import shell\n"},
        settings=_settings(allowed={"core": [], "core.b": ["shell", "core"]}, type_checking=False, circles=False),
    ),
)
