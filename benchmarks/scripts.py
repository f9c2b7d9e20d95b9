"""The consistency scripts that a model library keeps in `utils/`, and what they say of a tree."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple


class Script(NamedTuple):
    """What to run with Python from the root of a tree; it only depends on the files that match `reads`, not `passes`.

    `rewrites` is a file that it brings up to date instead of complaining: what it says is whether that file was.
    `helped` says that it cannot do its work as it is shipped, and is run here in a way that lets it.
    """

    name: str
    arguments: tuple[str, ...]
    reads: tuple[str, ...]
    passes: tuple[str, ...] = ()
    rewrites: str = ""
    helped: bool = False

    def concerns(self, paths: Iterable[str]) -> bool:
        """Whether a change of these files can change what it says."""
        return any(_matches(path, self.reads) and not _matches(path, self.passes) for path in paths)


class Answer(NamedTuple):
    """The exit status of a script and all that it printed, or the state of the file that it rewrites."""

    status: int
    output: str


class Running:
    """A script at work in a tree."""

    def __init__(self, script: Script, root: Path) -> None:
        self._file = root / script.rewrites if script.rewrites else None
        self._before = self._file.read_bytes() if self._file else b""
        self._process = subprocess.Popen(
            [sys.executable, *script.arguments],
            cwd=root,
            env={**os.environ, **_ENVIRONMENT},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )

    def answer(self) -> Answer:
        """What it says, once it has ended; a file that it has rewritten is put back."""
        output, _ = self._process.communicate()
        if self._file is None or self._process.returncode:
            return Answer(self._process.returncode, output)
        after = self._file.read_bytes()
        self._file.write_bytes(self._before)
        return Answer(0, "up to date" if after == self._before else "outdated")


_ENVIRONMENT = {
    # check_copies.py starts `ruff` by its name.
    "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", ""))),
    "PYTHONDONTWRITEBYTECODE": "1",
}
_INITS = ("src/*/__init__.py",)
_DUMMIES = ("src/*/utils/dummy_*.py",)
_BOTH = (
    Script("check_dummies.py", ("utils/check_dummies.py",), (*_INITS, *_DUMMIES)),
    Script("check_inits.py", ("utils/check_inits.py",), _INITS),
    Script("custom_init_isort.py", ("utils/custom_init_isort.py", "--check_only"), _INITS),
)
# As it is shipped, the script walks a folder of transformers that diffusers does not have, and then fails to import
# it, whatever the inits say.
_POINTED = """\
source = open("utils/check_inits.py", encoding="utf-8").read().replace("src/transformers", "src/diffusers")
names = {"__name__": "check_inits"}
exec(source, names)
names["check_all_inits"]()
"""


def _matches(path: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(path, pattern) for pattern in patterns)


def _table(package: str) -> Script:
    path = f"src/{package}/dependency_versions_table.py"
    return Script("setup.py", ("setup.py", "--quiet", "deps_table_update"), ("setup.py", path), rewrites=path)


DIFFUSERS = (
    *_BOTH,
    # It reads inits and dummies too, but there are no copies in them, and it takes longer than all others together.
    Script("check_copies.py", ("utils/check_copies.py",), ("src/*.py",), passes=(*_INITS, *_DUMMIES)),
    Script("check_inits.py on src/diffusers", ("-c", _POINTED), _INITS, helped=True),
    Script("check_doc_toc.py", ("utils/check_doc_toc.py",), ("docs/source/en/_toctree.yml",)),
    _table("diffusers"),
)
TRANSFORMERS_4 = (
    *_BOTH,
    Script("sort_auto_mappings.py", ("utils/sort_auto_mappings.py", "--check_only"), ("src/*/models/auto/*.py",)),
    _table("transformers"),
)
