"""The modules of a tree by their dotted names, and which of them an import means."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from checks.facts.imports import Import


def modules_of(paths: Iterable[str], packages: Mapping[str, str]) -> dict[str, str]:
    """The path of each module below the packages, by its name; `packages` maps import names to folders.

    >>> modules_of(("src/lib/__init__.py", "src/lib/a/b.py", "setup.py"), {"lib": "src/lib"})
    {'lib': 'src/lib/__init__.py', 'lib.a.b': 'src/lib/a/b.py'}
    """
    found: dict[str, str] = {}
    for path in paths:
        if path.endswith(".py"):
            for package, folder in packages.items():
                if path.startswith(f"{folder}/"):
                    inner = path[len(folder) : -len(".py")].replace("/", ".").removesuffix(".__init__")
                    found[f"{package}{inner}"] = path
                    break
    return found


def target_of(found: Import, importer: str, path: str, modules: Collection[str]) -> str:
    """The module that an import of the module `importer` means; empty where its dots lead out of the package.

    A name taken from a package means the module of that name where there is one, and the package otherwise.
    """
    origin = found.module
    if found.level:
        parts = importer.split(".")
        kept = len(parts) - found.level + path.endswith("/__init__.py")
        if kept < 1:
            return ""
        origin = ".".join([*parts[:kept], *([origin] if origin else [])])
    inner = f"{origin}.{found.name}"
    return inner if inner in modules else origin


def covers(pattern: str, module: str) -> bool:
    """Whether a pattern means a module or a package that it is in; `*` matches dots too.

    >>> [covers("lib.rules", name) for name in ("lib.rules", "lib.rules.a", "lib.rules_old")]
    [True, True, False]
    >>> [covers("lib.rules.*", name) for name in ("lib.rules", "lib.rules.a")]
    [False, True]
    """
    return fnmatchcase(module, pattern) or fnmatchcase(module, f"{pattern}.*")
