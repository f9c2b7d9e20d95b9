"""Modules by the names that imports call them, and what stands in each folder."""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from typing import NamedTuple

from checks.facts.surface import SURFACE, Surface
from checks.index import Index

_NOT_SCANNED = ("convert_", "modular_", "__init__.py")


class Folder(NamedTuple):
    """The modules right in a folder that `define_import_structure` looks at, and the folders right in it, sorted."""

    modules: list[str]
    folders: list[str]


class Folders:
    """The modules of one tree; each answer is worked out once."""

    def __init__(self, index: Index) -> None:
        self.paths = frozenset(index.paths)
        self._index = index
        self._modules: dict[tuple[str, str], str | None] = {}
        self._scanned: dict[str, dict[str, list[str]]] = {}

    def module(self, importer: str, module: str) -> str | None:
        """The path of the module that `importer` means; of a folder, with a slash, where that has no init.

        None for a module that is not there, and the empty path for one of another package.
        """
        key = (importer, module)
        if key not in self._modules:
            self._modules[key] = self._find(importer, module)
        return self._modules[key]

    def scanned(self, folder: str) -> dict[str, list[str]]:
        """The names that `define_import_structure` finds in and below a folder, with the modules that export them."""
        if folder not in self._scanned:
            found: dict[str, list[str]] = {}
            inside = self.inside(folder)
            for path in inside.modules:
                for name in self.surface(path).exports or ():
                    found.setdefault(name, []).append(path)
            for child in inside.folders:
                for name, paths in self.scanned(child).items():
                    found.setdefault(name, []).extend(paths)
            self._scanned[folder] = found
        return self._scanned[folder]

    def surface(self, path: str) -> Surface:
        """What a module shows at first sight."""
        return self._index.facts(SURFACE, path)

    def inside(self, folder: str) -> Folder:
        """What stands right in a folder, nothing where there is no such folder."""
        return self._contents.get(folder, Folder([], []))

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

    def _find(self, importer: str, module: str) -> str | None:
        base = self.base(importer, module)
        if not base:
            return base
        for path in (f"{base}.py", f"{base}/__init__.py"):
            if path in self.paths or self._index.exists(path):
                return path
        following = bisect_left(self._index.paths, f"{base}/")
        is_folder = any(path.startswith(f"{base}/") for path in self._index.paths[following : following + 1])
        return f"{base}/" if is_folder else None

    @cached_property
    def _contents(self) -> dict[str, Folder]:
        found: dict[str, Folder] = {"": Folder([], [])}
        for path in self._index.paths:
            folder, _, name = path.rpartition("/")
            if folder not in found:
                _open(folder, found)
            if name.endswith(".py") and not name.startswith(_NOT_SCANNED):
                found[folder].modules.append(path)
        return found


def _open(folder: str, found: dict[str, Folder]) -> None:
    """Enter a folder that is new, and those above it, each among the folders of its parent."""
    if folder not in found:
        found[folder] = Folder([], [])
        parent = folder.rpartition("/")[0]
        _open(parent, found)
        found[parent].folders.append(folder)
