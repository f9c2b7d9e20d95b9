"""The Python of a pull request on both of its sides: which files are the library's, and what changed in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from checks.text import decode
from tooling.pr.diff import Branch, Change
from tooling.pr.objects import Objects
from tooling.pr.symbols import Symbol, symbols

PYTHON = (".py", ".pyi")
_TEST_FOLDERS = frozenset({"tests", "test", "testing"})


class Edited(NamedTuple):
    """A symbol that a change adds or edits; `new` says that the base side of the file does not have its name."""

    change: Change
    symbol: Symbol
    new: bool


class Sources:
    """Texts and symbols of blobs, each worked out once."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._texts: dict[str, str | None] = {}
        self._symbols: dict[str, tuple[Symbol, ...]] = {}
        self._known: tuple[str, set[tuple[str, str]]] | None = None

    def text(self, key: str) -> str | None:
        """The text of a blob, None where the clone does not have it; an empty id is an empty text."""
        if key not in self._texts:
            content = self._objects.read(key) if key else b""
            self._texts[key] = None if content is None else decode(content)
        return self._texts[key]

    def symbols(self, key: str) -> tuple[Symbol, ...]:
        """The classes and functions of a blob."""
        if key not in self._symbols:
            self._symbols[key] = symbols(self.text(key) or "")
        return self._symbols[key]

    def edited(self, branch: Branch, change: Change) -> Iterator[Edited]:
        """The symbols whose own text the branch brings.

        What only moved is not among them: it was in another file that the branch changes. Of tests that is not
        looked at, for a test that moved is to be run at its new place.
        """
        names = {symbol.name for symbol in self.symbols(change.old_id)}
        before = self._texts_of([change.old_id]) if is_test(change.path) else self._before(branch)
        for symbol in self.symbols(change.id):
            if (symbol.short, symbol.own) not in before:
                yield Edited(change, symbol, symbol.name not in names)

    def _before(self, branch: Branch) -> set[tuple[str, str]]:
        """Short names and own texts on the base side of all that a branch changes, tests apart."""
        if self._known is None or self._known[0] != branch.head:
            old = {
                change.old_id
                for change in branch.changes
                if change.old_id and change.old_path.endswith(PYTHON) and not is_test(change.old_path)
            }
            self._known = branch.head, self._texts_of(old)
        return self._known[1]

    def _texts_of(self, keys: Iterable[str]) -> set[tuple[str, str]]:
        return {(symbol.short, symbol.own) for key in keys for symbol in self.symbols(key)}


def python_changes(branch: Branch) -> list[Change]:
    """The changes that leave a Python file with new content."""
    return [
        change
        for change in branch.changes
        if change.is_file and change.path.endswith(PYTHON) and change.id != change.old_id
    ]


def is_test(path: str) -> bool:
    """Whether a file belongs to the tests, by its name or by a folder of its path.

    >>> [is_test(path) for path in ("tests/models/x.py", "src/lib/test_a.py", "src/lib/testing_utils.py")]
    [True, True, False]
    """
    *folders, name = path.split("/")
    return not _TEST_FOLDERS.isdisjoint(folders) or name.startswith("test_") or name.endswith("_test.py")


def is_library(path: str, packages: Mapping[str, str]) -> bool:
    """Whether a file is public source of one of the packages (import name to folder): no test, nothing private."""
    folders = [folder for name, folder in packages.items() if name != "tests"]
    inside = any(folder == "." or path.startswith(f"{folder}/") for folder in folders)
    names = path.removesuffix(".py").split("/")
    return inside and not is_test(path) and not any(name.startswith("_") and name != "__init__" for name in names)
