"""What is wrong with an init whose exports `define_import_structure` collects from the modules beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from checks.facts.surface import Surface, exports_of
from checks.inits.additions import add_star
from checks.inits.folders import Folders
from checks.inits.lists import remove
from checks.inits.model import Init, Item, Spot
from checks.inits.origins import Origins
from checks.inits.structured import several
from checks.model import Finding


def judge_stars(path: str, init: Init, text: Callable[[], str], folders: Folders) -> Iterator[Finding]:
    """Compare the star imports under TYPE_CHECKING with the modules that export something."""
    inside = folders.inside(path.rpartition("/")[0])
    exports: dict[str, Sequence[str]] = {module: folders.exports(module) for module in inside.modules}
    exports.update((child, list(folders.scanned(child))) for child in inside.folders)
    imported = {statement.module for statement in init.imports}
    line = init.imports[0].entry.line if init.imports else 1
    for place, names in exports.items() if init.guard else ():
        module = f".{place.rpartition('/')[2].removesuffix('.py')}"
        if names and module not in imported:
            message = f"`{module}` exports {several(names)}, but is not imported under TYPE_CHECKING"
            reason = "`define_import_structure` finds its `__all__`, type checkers find nothing"
            edits = add_star(path, text().split("\n"), init, module)
            yield Finding(path, line, "lazy-inits/missing-type-checking", message, reason, edits=edits)
    for statement in init.imports:
        target = folders.module(path, statement.module)
        if target is None:
            message, reason = f"there is no module `{statement.module}`", ""
            yield Finding(path, statement.entry.line, "lazy-inits/unknown-module", message, reason)
        elif target in inside.modules and not exports[target] and folders.surface(target).plain:
            message = f"`{statement.module}` is imported under TYPE_CHECKING, but exports nothing"
            reason = f"{target} has no `__all__` for `define_import_structure` to find"
            yield Finding(path, statement.entry.line, "lazy-inits/missing-lazy", message, reason)


def judge_exports(module: str, surface: Surface, text: str, origins: Origins) -> Iterator[Finding]:
    """Compare the `__all__` of a module with what it defines."""
    places = exports_of(text) or ()
    items = [Item(one.name, Spot(one.line, one.start, one.line, one.end)) for one in places]
    lacking = origins.lacking(module, [item.name for item in items])
    seen: set[str] = set()
    for item in items:
        found = Finding(module, item.spot.line, "lazy-inits/duplicate", "", column=item.spot.start + 1)
        if item.name in seen:
            edits = remove(module, text.split("\n"), items, item.name)
            yield found._replace(message=f"`{item.name}` is twice in `__all__`", edits=edits)
        elif item.name in lacking:
            message = f"`__all__` names `{item.name}`, which the module does not define"
            reason = "nothing in the module binds it"
            yield found._replace(code="lazy-inits/unknown-name", message=message, reason=reason)
        seen.add(item.name)
    if not surface.plain:
        message = "`__all__` is no plain list of strings, one line or one name a line"
        reason = "`define_import_structure` reads it line by line and sees other names, or none"
        yield Finding(module, _line_of_all(text), "lazy-inits/unreadable-exports", message, reason)


def judge_clashes(
    folder: str, scanned: Mapping[str, Sequence[str]], text: Callable[[str], str], origins: Origins
) -> Iterator[Finding]:
    """Names that two modules of different branches of a folder export: which one is had depends on their order."""
    for name, modules in scanned.items():
        if len(modules) == 1:
            continue
        branches = {module[len(folder) + 1 :].partition("/")[0] for module in modules}
        defined = {origins.find(module, name) for module in modules} if len(branches) > 1 else set()
        if len(defined) > 1 and all(origin.found for origin in defined):
            message = f"`{name}` is exported by {modules[0]} too"
            reason = "both are found by `define_import_structure`, and one hides the other"
            line = _line_of_all(text(modules[-1]))
            yield Finding(modules[-1], line, "lazy-inits/duplicate", message, reason)


def _line_of_all(text: str) -> int:
    start = f"\n{text}".find("\n__all__")
    return text.count("\n", 0, max(start, 0)) + 1
