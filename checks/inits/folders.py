"""Modules by the names that imports call them, and what stands in and below each folder."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from checks.facts.surface import SURFACE, Surface
from checks.index import Index

_NOT_SCANNED = ("convert_", "modular_", "__init__.py")


def inits_of(index: Index) -> list[str]:
    """The paths of the inits of every package of a tree, sorted."""
    folders = index.settings.profile.packages.values()
    prefixes = tuple("" if folder in ("", ".") else f"{folder}/" for folder in folders)
    return [path for path in index.files("__init__.py") if path.startswith(prefixes) and is_init(path)]


def is_init(path: str) -> bool:
    """Whether a module is the init of a package."""
    return path.endswith("/__init__.py") or path == "__init__.py"


class Folder(NamedTuple):
    """The modules right in a folder that `define_import_structure` looks at, and the folders right in it, sorted."""

    modules: list[str]
    folders: list[str]


class Folders:
    """The modules of one tree; each answer is worked out once."""

    def __init__(self, index: Index) -> None:
        self.paths = frozenset(index.paths)
        self._index = index
        self._sorted = index.paths
        self._modules: dict[tuple[str, str], str | None] = {}
        self._scanned: dict[str, dict[str, list[str]]] = {}
        self._inside: dict[str, Folder] = {}
        self._surfaces: dict[str, Surface] = {}

    def module(self, importer: str, module: str) -> str | None:
        """The path of the module that `importer` means; of a folder, with a slash, where that has no init.

        None for a module that is not there, and the empty path for one of another package.
        """
        key = (importer, module)
        if key not in self._modules:
            self._modules[key] = self._find(importer, module)
        return self._modules[key]

    def base(self, importer: str, module: str) -> str | None:
        """Where the module that `importer` means would stand, without a suffix, whether or not it is there.

        None for one above the root, and the empty path for one of another package.
        """
        name = module.lstrip(".")
        parts = name.split(".") if name else []
        if level := len(module) - len(name):
            above = importer.split("/")[:-1]
            return None if level > len(above) + 1 else "/".join([*above[: len(above) - level + 1], *parts])
        package = self._index.settings.profile.packages.get(parts[0] if parts else "")
        return "" if package is None else "/".join([package, *parts[1:]])

    def surface(self, path: str) -> Surface:
        """What a module shows at first sight."""
        if path not in self._surfaces:
            self._surfaces[path] = self._index.facts(SURFACE, path)
        return self._surfaces[path]

    def exports(self, path: str) -> Sequence[str]:
        """The names in the `__all__` of a module, as far as they can be read."""
        return self.surface(path).exports or ()

    def scanned(self, folder: str) -> dict[str, list[str]]:
        """The names that `define_import_structure` finds in and below a folder, with the modules that export them."""
        if folder not in self._scanned:
            found: dict[str, list[str]] = {}
            for path in filter(_is_scanned, self._below(folder)):
                for name in self.exports(path):
                    found.setdefault(name, []).append(path)
            self._scanned[folder] = found
        return self._scanned[folder]

    def inside(self, folder: str) -> Folder:
        """What stands right in a folder, nothing where there is no such folder."""
        if folder not in self._inside:
            start = len(folder) + 1 if folder else 0
            below = self._below(folder)
            folders = dict.fromkeys(path[: path.index("/", start)] for path in below if "/" in path[start:])
            modules = [path for path in below if "/" not in path[start:] and _is_scanned(path)]
            self._inside[folder] = Folder(modules, list(folders))
        return self._inside[folder]

    def _find(self, importer: str, module: str) -> str | None:
        base = self.base(importer, module)
        if not base:
            return base
        for path in (f"{base}.py", f"{base}/__init__.py"):
            if path in self.paths or self._index.exists(path):
                return path
        return f"{base}/" if self._below(base) else None

    def _below(self, folder: str) -> Sequence[str]:
        """The paths below a folder, sorted."""
        if not folder:
            return self._sorted
        # "0" is what follows "/" in the order of characters.
        return self._sorted[bisect_left(self._sorted, f"{folder}/") : bisect_left(self._sorted, f"{folder}0")]


def _is_scanned(path: str) -> bool:
    return path.endswith(".py") and not path.rpartition("/")[2].startswith(_NOT_SCANNED)
