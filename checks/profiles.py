"""What the model libraries call things: one table of names a layout, and how to tell which layout a tree has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


class Profile(NamedTuple):
    """Names that rules look for. Patterns are globs over paths relative to the root; `*` matches a slash too.

    `packages` maps an import name to its folder, the library first; a copied-code marker may name any of them.
    `{package}` in a pattern stands for the folder of the library.
    `tocs_sorted` are the sections of a table of contents that are in alphabetical order, by their titles from the top
    down; `API/Models/*` is every section in the one called Models, not that one itself. `tocs_repeat` says whether
    the same page may be listed in several sections.
    """

    name: str
    packages: Mapping[str, str]
    formatter: str = "auto"
    tocs: tuple[str, ...] = ("docs/*_toctree.yml",)
    tocs_sorted: tuple[str, ...] = ()
    tocs_repeat: bool = True
    auto_mappings: tuple[str, ...] = ("{package}/models/auto/*.py",)
    path_lists: tuple[str, ...] = ("utils/*doctest*.txt", "utils/*documentation_tests*.txt")
    dependency_table: str = "{package}/dependency_versions_table.py"
    dummies: str = "{package}/utils/dummy_{backends}_objects.py"
    dummy_short_names: Mapping[str, str] = {"torch": "pt"}
    dummies_sorted: bool = False

    @property
    def library(self) -> str:
        """The folder of the library itself."""
        return next(iter(self.packages.values()), "")

    def pattern(self, template: str) -> str:
        """A pattern with the library's folder put in."""
        return template.replace("{package}/", f"{self.library}/" if self.library not in ("", ".") else "")


_TRANSFORMERS: Mapping[str, Any] = {"tocs_sorted": ("API/Models/*",), "tocs_repeat": False, "dummies_sorted": True}
_LAYOUTS: Mapping[str, Mapping[str, Any]] = {
    "transformers-4": {**_TRANSFORMERS, "dummy_short_names": {"torch": "pt", "tensorflow": "tf"}},
    "transformers-5": {**_TRANSFORMERS},
    "diffusers": {
        "tocs_sorted": ("API/Models", "API/Models/*", "API/Pipelines", "API/Pipelines/*", "API/Schedulers"),
        "tocs_repeat": False,
    },
    "optimum": {},
    "generic": {},
}
LAYOUTS = tuple(_LAYOUTS)
_NOT_LIBRARIES = frozenset({"tests", "test", "docs", "doc", "examples", "scripts", "utils", "benchmarks", "tools"})


def recognise(packages: Mapping[str, str], text: Callable[[str], str]) -> Profile:
    """The profile of a tree whose files `text` gives by path, from its packages."""
    library = next(iter(packages.values()), "")
    return detect(packages, text(f"{library}/__init__.py"))


def detect(packages: Mapping[str, str], main_init: str) -> Profile:
    """The profile of a tree, from its packages and the text of the library's `__init__.py`.

    A tree that looks like none of the known layouts gets the generic profile.
    """
    return build(_layout(next(iter(packages), ""), main_init), packages)


def build(layout: str, packages: Mapping[str, str]) -> Profile:
    """The profile of a layout for given packages; KeyError for a layout that is not in `LAYOUTS`."""
    return Profile(layout, packages)._replace(**_LAYOUTS[layout])


def find_packages(paths: tuple[str, ...]) -> dict[str, str]:
    """Import names and folders of a tree's packages: `src/*` and top-level folders with an `__init__.py`.

    Where there are none, folders that hold packages count: `optimum` is a namespace that distributions share. The
    library comes first: below `src` before others, the one with most files before smaller ones. A `tests` folder
    joins as package `tests`, because markers in tests may name tests.

    >>> find_packages(("src/lib/__init__.py", "src/lib/a.py", "tests/__init__.py", "setup.py"))
    {'lib': 'src/lib', 'tests': 'tests'}
    """
    sizes: dict[str, int] = {}
    inits: set[str] = set()
    namespaces: set[str] = set()
    for path in paths:
        parts = path.split("/", 3)
        depth = 2 if parts[0] == "src" else 1
        if len(parts) > depth and path.endswith(".py"):
            folder = "/".join(parts[:depth])
            sizes[folder] = sizes.get(folder, 0) + 1
            if parts[depth] == "__init__.py":
                inits.add(folder)
            elif parts[depth + 1 :] == ["__init__.py"]:
                namespaces.add(folder)
    libraries = sorted(
        inits - _NOT_LIBRARIES or namespaces - _NOT_LIBRARIES,
        key=lambda folder: (not folder.startswith("src/"), -sizes[folder], folder),
    )
    found = {folder.rpartition("/")[2]: folder for folder in libraries}
    if "tests" in sizes:
        found.setdefault("tests", "tests")
    return found


def _layout(library: str, main_init: str) -> str:
    if library == "transformers":
        return "transformers-5" if "define_import_structure(" in main_init else "transformers-4"
    if library == "diffusers":
        return "diffusers"
    return "optimum" if library.startswith("optimum") else "generic"
