"""From the dotted path in a marker to the classes or functions of that name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import NamedTuple

from checks.facts.copies import MARKED, ORIGINALS, Copies
from checks.facts.python import Definition
from checks.index import Index


class Original(NamedTuple):
    """One class or function with its file, and a digest of its text without the markers inside."""

    path: str
    definition: Definition
    digest: str


class Missing(NamedTuple):
    """Why a dotted path names no class or function, and the one it may have meant, empty if nobody can tell."""

    why: str
    nearest: str = ""


class Resolver:
    """Looks names up in the packages of one tree."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._packages = {name: folder.removeprefix(".") for name, folder in index.settings.profile.packages.items()}
        self._paths = frozenset(index.paths)
        self._copies: dict[str, Copies] = {}
        self._named: dict[str, Mapping[str, list[int]]] = {}
        self._stems: dict[str, list[tuple[str, str]]] = {}

    def copies(self, path: str) -> Copies:
        """What is known of one file; one without markers is scanned only because a marker names it."""
        if path not in self._copies:
            facts = self._index.facts(MARKED, path)
            self._copies[path] = facts if facts.definitions else self._index.facts(ORIGINALS, path)
        return self._copies[path]

    def module(self, dotted: str) -> tuple[str, int]:
        """The file that a dotted path leads to, and how many of its parts were needed; empty and 0 for none.

        The first part names a package; a slash counts as a dot. The shortest path to a file wins, and the longest to
        an `__init__.py` where there is no other file.
        """
        package, *parts = re.split(r"[./]", dotted)
        folder = self._packages.get(package)
        if folder is None:
            return "", 0
        above = (folder,) if folder else ()
        stems = ["/".join((*above, *parts[:count])) for count in range(len(parts) + 1)]
        for count, stem in enumerate(stems):
            if count and f"{stem}.py" in self._paths:
                return f"{stem}.py", count + 1
        for count, stem in reversed(list(enumerate(stems))):
            if f"{stem}/__init__.py" in self._paths:
                return f"{stem}/__init__.py", count + 1
        return "", 0

    def find(self, dotted: str) -> tuple[Original, ...]:
        """Every definition of that name in exactly that scope, in the order of the file."""
        path, used = self.module(dotted)
        return self._of(path, ".".join(re.split(r"[./]", dotted)[used:])) if path else ()

    def all_of(self, each: Original) -> tuple[Original, ...]:
        """A definition and all others of its name in its scope, in the order of the file."""
        return self._of(each.path, each.definition.name)

    def _of(self, path: str, name: str) -> tuple[Original, ...]:
        facts = self.copies(path)
        numbers = self.named(path).get(name, ())
        return tuple(Original(path, facts.definitions[number], facts.digests[number]) for number in numbers)

    def missing(self, dotted: str) -> Missing:
        """Why `find` finds nothing."""
        path, used = self.module(dotted)
        parts = re.split(r"[./]", dotted)
        names = parts[used:]
        if not path or path.endswith("/__init__.py"):
            return Missing("there is no such module", self._nearest_module(parts))
        if not names:
            return Missing(f"it names the module {path}, not a class or function in it")
        where = f"`{names[-2]}` in {path}" if len(names) > 1 else path
        nearest = _nearest_name(names, self.named(path))
        return Missing(f"there is no `{names[-1]}` in {where}", nearest and ".".join((*parts[:used], nearest)))

    def named(self, path: str) -> Mapping[str, list[int]]:
        """The definitions of one file by qualified name, as their numbers in its facts."""
        if path not in self._named:
            by_name: dict[str, list[int]] = {}
            for number, each in enumerate(self.copies(path).definitions):
                by_name.setdefault(each.name, []).append(number)
            self._named[path] = by_name
        return self._named[path]

    def _nearest_module(self, parts: list[str]) -> str:
        """The same names in a file that has one of the path's names, or nearly."""
        if not self._stems:
            for package, folder in self._packages.items():
                for path in self._index.files(".py", under=folder):
                    inside = path[: -len(".py")].removeprefix(f"{folder}/")
                    dotted = f"{package}.{inside.replace('/', '.')}"
                    self._stems.setdefault(dotted.rpartition(".")[2], []).append((dotted, path))
        for place in range(len(parts) - 1, 0, -1):
            name = ".".join(parts[place + 1 :])
            for stem in get_close_matches(parts[place], self._stems, n=1, cutoff=0.8) if name else ():
                for dotted, path in self._stems[stem]:
                    if name in self.named(path):
                        return f"{dotted}.{name}"
        return ""


def _nearest_name(names: list[str], known: Mapping[str, object]) -> str:
    """A name of that spelling in another scope, or one in the same scope that is nearly the same."""
    elsewhere = [name for name in known if name.rpartition(".")[2] == names[-1]]
    near = elsewhere or get_close_matches(".".join(names), known, n=1, cutoff=0.8)
    return near[0] if near else ""
