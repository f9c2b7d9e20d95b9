"""Faults in the direction of imports, in a tree with a table that says who may import whom."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from random import Random

from faults.model import Fault, Files, Kind

SETTINGS = "mergeready.toml"
TABLE = """\
[rules.import-direction.forbidden]
"diffusers.schedulers.*" = ["diffusers.pipelines"]
"diffusers.models.*" = ["diffusers.pipelines"]

[rules.import-direction.only_from]
"diffusers.commands" = []
"""
"""What diffusers keeps to without having written it down."""


def kinds() -> Iterator[Kind]:
    """Every kind of fault in imports."""
    yield _kind("a forbidden import", "direction", "from ..pipelines.pipeline_utils import DiffusionPipeline")
    yield _kind(
        "a forbidden import in a function", "direction", "def late():\n    import diffusers.pipelines.auto_pipeline"
    )
    yield _kind(
        "an import that only others may do", "direction", "from diffusers.commands import BaseDiffusersCLICommand"
    )
    yield Kind("a circle of two modules", "import-direction/circle", _circle)
    yield Kind(
        "a name of no module in the table", "import-direction/table", partial(_table, "diffusers.", "diffusers.x")
    )
    yield Kind("no list in the table", "import-direction/table", partial(_table, '["diffusers.pipelines"]', "true"))
    yield Kind("a bracket too many", "import-direction/unparsable", _unparsable)


def _kind(name: str, code: str, line: str) -> Kind:
    return Kind(name, f"import-direction/{code}", partial(_imports, line))


def _modules(files: Files, random: Random) -> list[str]:
    """The modules right below the folders that the table speaks of, in random order."""
    folders = [f"{files.library}/{name}" for name in ("schedulers", "models")]
    found = [
        path
        for path in files.paths
        if path.rpartition("/")[0] in folders and path.endswith(".py") and not path.endswith("__init__.py")
    ]
    return random.sample(found, len(found))


def _imports(line: str, files: Files, random: Random) -> Iterator[Fault]:
    for path in _modules(files, random):
        yield Fault(path, {path: f"{files.text(path)}\n\n{line}\n"}, frozenset({path}))


def _circle(files: Files, random: Random) -> Iterator[Fault]:
    """A new module and one that is there import each other; the circle is reported in one of them."""
    for path in _modules(files, random):
        folder, _, name = path.rpartition("/")
        writes = {
            path: f"from . import another\n{files.text(path)}",
            f"{folder}/another.py": f"from . import {name.removesuffix('.py')}\n",
        }
        yield Fault(path, writes, frozenset({path}))


def _table(old: str, new: str, files: Files, _: Random) -> Iterator[Fault]:
    text = files.text(SETTINGS)
    for place in (place for place in range(len(text)) if text.startswith(old, place)):
        changed = text[:place] + new + text[place + len(old) :]
        yield Fault(SETTINGS, {SETTINGS: changed}, frozenset({SETTINGS}))


def _unparsable(files: Files, random: Random) -> Iterator[Fault]:
    for path in _modules(files, random):
        yield Fault(path, {path: f"({files.text(path)}"}, frozenset({path}))
