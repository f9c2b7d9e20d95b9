"""Follow an exported name through inits and imports to the module that defines it. Nothing is imported."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from checks.facts.bindings import BINDINGS, IMPORTS, is_silent
from checks.facts.inits import INIT
from checks.facts.surface import SURFACE
from checks.index import Index
from checks.inits.folders import Folders, is_init


class Origin(NamedTuple):
    """Where a name is defined, and as what: `class`, `function`, `value`, `made` or `module`.

    A `value` is a literal, `made` is what some expression comes to. `missing` is for a name that nothing defines,
    `unknown` for one that text alone cannot tell: it comes from another package, or from code that makes names as it
    runs.
    """

    kind: str
    path: str = ""
    name: str = ""

    @property
    def found(self) -> bool:
        """Whether the definition itself was found."""
        return self.kind in ("class", "function", "value", "made")


_DEEP = 100  # names that are handed on more often than that are not followed to their end
_UNKNOWN, _MISSING = Origin("unknown"), Origin("missing")


class Origins:
    """Looks up names of one tree; each answer is worked out once."""

    def __init__(self, index: Index, folders: Folders) -> None:
        self._index = index
        self._folders = folders
        self._known: dict[tuple[str, str], Origin] = {}
        self._depth = 0
        self._lazy: dict[str, dict[str, tuple[str, str]]] = {}

    def find(self, path: str, name: str) -> Origin:
        """Where the name `name` of the module at `path` comes from."""
        key = (path, name)
        origin = self._known.get(key)
        if origin is None:
            self._known[key] = _UNKNOWN  # what a name that is imported in a circle comes to
            self._depth += 1
            origin = self._known[key] = self._find(path, name) if self._depth < _DEEP else _UNKNOWN
            self._depth -= 1
        return origin

    def lacking(self, path: str, names: Iterable[str]) -> list[str]:
        """Those of the names that the module at `path` surely does not have.

        A name that the module lists or imports counts as one it has, whether or not it is found further on: where it
        is not, that is for the module which says so to answer for.
        """
        shown: Mapping[str, str] = self._index.facts(SURFACE, path).names if path in self._folders.paths else {}
        rest = [name for name in names if name not in shown]
        exported = self._exported(path) if rest and is_init(path) else {}
        return [name for name in rest if name not in exported and self.find(path, name).kind == "missing"]

    def follow(self, path: str, module: str, name: str) -> Origin:
        """What `from module import name` brings into the module at `path`; the module itself where `name` is empty."""
        target = self._folders.module(path, module)
        if not target:
            return _UNKNOWN if target == "" else _MISSING
        return self.find(target, name) if name else Origin("module", target)

    def starred(self, path: str, modules: list[str], name: str) -> bool:
        """Whether a star import from one of the modules brings a name into the module at `path`, or may do so."""
        return any(self._follow_star(path, module, name).kind != "missing" for module in modules)

    def _find(self, path: str, name: str) -> Origin:
        if path not in self._folders.paths:
            return self._submodule(f"{path}__init__.py", name, _UNKNOWN) if path.endswith("/") else _UNKNOWN
        kind = self._index.facts(SURFACE, path).names.get(name, "")
        if kind.startswith("="):
            origin = self.find(path, kind[1:])
            return origin if origin.found else Origin("made", path, name)
        if kind:
            return Origin(kind, path, name)
        if is_init(path) and self._index.facts(INIT, path).lazy:
            return self._find_exported(path, name)
        return self._find_bound(path, name)

    def _find_exported(self, path: str, name: str) -> Origin:
        """A name of an init that imports lazily: all that it has is what it lists, and what is imported for typing."""
        exported = self._exported(path)
        if name in exported:
            return self.follow(path, *exported[name])
        init = self._index.facts(INIT, path)
        own = path.rpartition("/")[0]
        for folder in init.scans:
            if exporters := self._folders.scanned(f"{own}/{folder}" if folder else own).get(name):
                return self.find(exporters[-1], name)
        if name in init.others or init.opaque:
            return _UNKNOWN
        stars = [statement.module for statement in init.imports if statement.star and not init.scans]
        return self._find_starred(path, name, stars, _MISSING)

    def _exported(self, path: str) -> dict[str, tuple[str, str]]:
        """The names that an init lists or imports for typing: from which module, under what name."""
        if path not in self._lazy:
            found: dict[str, tuple[str, str]] = {}
            init = self._index.facts(INIT, path)
            for one in init.imports:
                found.update((name, (one.module, one.originals.get(name, name))) for name in one.names)
            for listing in init.listings:
                found.update((name, (listing.module, name)) for name in listing.names)
            self._lazy[path] = found
        return self._lazy[path]

    def _find_bound(self, path: str, name: str) -> Origin:
        if (imported := self._index.facts(IMPORTS, path).get(name)) is not None:
            return self.follow(path, *imported)
        if is_silent(self._index.text(path), name):
            return self._submodule(path, name, _MISSING)
        bindings = self._index.facts(BINDINGS, path)
        if name in bindings.names:
            return Origin(bindings.names[name], path, name)
        if name in bindings.imports:
            return self.follow(path, *bindings.imports[name])
        return self._find_starred(path, name, bindings.stars, _UNKNOWN if bindings.open else _MISSING)

    def _find_starred(self, path: str, name: str, modules: list[str] | tuple[str, ...], otherwise: Origin) -> Origin:
        origins = [self._follow_star(path, module, name) for module in modules]
        found = next((origin for origin in origins if origin.found), None)
        if found is not None:
            return found
        return self._submodule(path, name, _UNKNOWN if _UNKNOWN in origins else otherwise)

    def _submodule(self, path: str, name: str, otherwise: Origin) -> Origin:
        inner = self._folders.module(path, f".{name}") if is_init(path) else None
        return Origin("module", inner) if inner else otherwise

    def _follow_star(self, path: str, module: str, name: str) -> Origin:
        target = self._folders.module(path, module)
        exports = self._index.facts(SURFACE, target).exports if target in self._folders.paths else None
        if exports is not None and name not in exports:
            return _MISSING
        return self.follow(path, module, name)
