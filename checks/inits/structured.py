"""What is wrong with an init that fills `_import_structure` by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.facts.inits import INIT
from checks.index import Index
from checks.inits.additions import add_imports, add_listings
from checks.inits.folders import Folders
from checks.inits.halves import (
    lazy_half,
    mismatches,
    only_lazy,
    only_typing,
    repetitions,
    typing_half,
)
from checks.inits.lists import remove
from checks.inits.model import Imported, Listing
from checks.inits.origins import Origin, Origins
from checks.inits.soundness import overwritten
from checks.model import Finding

_LAZY, _TYPING = "`_import_structure`", "TYPE_CHECKING"


def several(names: Sequence[str]) -> str:
    """Names for a message, the first two and a number where they are many.

    >>> several(["A", "B", "C"]), several(["A", "B", "C", "D"])
    ('`A`, `B` and `C`', '`A`, `B` and 2 more')
    """
    shown = [f"`{name}`" for name in names]
    if len(shown) > 3:
        shown = [*shown[:2], f"{len(names) - 2} more"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if shown[1:] else shown)


class Structure:
    """One such init, compared half with half and with the modules it names."""

    def __init__(self, index: Index, path: str, folders: Folders, origins: Origins) -> None:
        self._index = index
        self._path = path
        self._init = index.facts(INIT, path)
        self._folders = folders
        self._origins = origins

    def judge(self) -> Iterator[Finding]:
        """Everything that is wrong with it."""
        yield from self._unknown()
        for listing, names in overwritten(self._init.blocks, self._init.listings):
            message = f"`_import_structure[{listing.module[1:]!r}] = …` loses {several(names)}"
            yield self._finding(listing, "", "overwritten", message, "listed under the same key further up")
        if self._init.consistent:
            return
        self._lazy = lazy_half(self._init)
        self._typing = typing_half(self._path, self._init, self._folders)
        if self._init.guard:
            yield from self._only_lazy()
            yield from self._only_typing()
            yield from self._mismatches()
        yield from self._repeated()
        yield from self._other_modules()

    def _unknown(self) -> Iterator[Finding]:
        told: set[tuple[str, str]] = set()
        imports = () if self._init.consistent else self._init.imports
        places: list[Listing | Imported] = [*self._init.listings, *imports]
        for place in places:
            target = self._folders.module(self._path, place.module)
            if target is None and place.module[1:] not in self._init.others:
                yield self._finding(place, "", "unknown-module", f"there is no module `{place.module}`", "")
            renamed = place.originals if isinstance(place, Imported) else {}
            names = {renamed.get(name, name): name for name in place.names} if target else {}
            for original in self._origins.lacking(target or "", names):
                # The halves mostly say the same; one finding for both is enough.
                if (place.module, original) not in told:
                    told.add((place.module, original))
                    message = f"`{place.module}` does not define `{original}`"
                    yield self._finding(
                        place, names[original], "unknown-name", message, f"nothing in {target} binds it"
                    )

    def _only_lazy(self) -> Iterator[Finding]:
        missing = list(only_lazy(self._path, self._init, self._lazy, self._typing, self._origins))
        for block in dict.fromkeys(listing.block for _, listing in missing):
            here = [(name, listing) for name, listing in missing if listing.block == block]
            good = [(name, listing) for name, listing in here if self._is_there(listing, name)]
            edits = add_imports(self._path, self._lines(), self._init, good) if good else ()
            for name, listing in here:
                message = f"`{name}` is in {_LAZY}, but not under {_TYPING}"
                found = self._finding(listing, name, "missing-type-checking", message, self._stands(listing))
                yield found._replace(edits=edits) if (name, listing) in good else found

    def _only_typing(self) -> Iterator[Finding]:
        missing = list(only_typing(self._path, self._init, self._lazy, self._typing, self._folders))
        for block in dict.fromkeys(statement.block for _, statement in missing):
            here = [(name, statement) for name, statement in missing if statement.block == block]
            good = [(name, statement) for name, statement in here if self._is_there(statement, name)]
            edits = add_listings(self._path, self._lines(), self._init, good) if good else ()
            for name, statement in here:
                message = f"`{name}` is imported under {_TYPING}, but is not in {_LAZY}"
                found = self._finding(statement, name, "missing-lazy", message, self._stands(statement))
                yield found._replace(edits=edits) if (name, statement) in good else found

    def _mismatches(self) -> Iterator[Finding]:
        for names, needed, typed in mismatches(self._init, self._lazy, self._typing):
            listing = self._lazy[names[0]][0]
            message = f"{several(names)}: {_LAZY} asks for {needed}, {_TYPING} for {typed}"
            reason = f"the block that fills `{listing.module}` against the block of the import"
            found = self._finding(listing, names[0], "backend-mismatch", message, reason)
            yield found._replace(anchors=tuple(sorted({self._typing[name][0].entry.line for name in names})))

    def _repeated(self) -> Iterator[Finding]:
        for half, where in (
            (self._lazy, f"listed twice in {_LAZY}"),
            (self._typing, f"imported twice under {_TYPING}"),
        ):
            for name, place, first in repetitions(self._init, half):
                reason = f"from `{first.module}` and from `{place.module}`, under the same condition"
                found = self._finding(place, name, "duplicate", f"`{name}` is {where}", reason)
                if place.module == first.module and len(place.names) > 1:
                    found = found._replace(edits=remove(self._path, self._lines(), place.items, name))
                yield found

    def _other_modules(self) -> Iterator[Finding]:
        for name, places in self._lazy.items():
            there = self._typing.get(name, [])
            if {(one.module, name) for one in places} & {(one.module, one.originals.get(name, name)) for one in there}:
                continue
            ours = {self._origins.follow(self._path, one.module, name) for one in places}
            theirs = {self._origins.follow(self._path, one.module, one.originals.get(name, name)) for one in there}
            if theirs and ours.isdisjoint(theirs) and all(origin.found for origin in ours | theirs):
                message = f"`{name}` is one thing in {_LAZY}, another under {_TYPING}"
                reason = f"defined in {_paths(ours)} against {_paths(theirs)}"
                yield self._finding(places[0], name, "other-module", message, reason)

    def _is_there(self, place: Listing | Imported, name: str) -> bool:
        return self._origins.follow(self._path, place.module, name).kind not in ("missing", "unknown")

    def _stands(self, place: Listing | Imported) -> str:
        condition = self._init.blocks[place.block].condition
        return f"it comes from `{place.module}`, in the block that asks for {condition}"

    def _lines(self) -> list[str]:
        return self._index.text(self._path).split("\n")

    def _finding(self, place: Listing | Imported, name: str, what: str, message: str, reason: str) -> Finding:
        """A finding at the last place of a name, at the whole entry where the name is empty."""
        spot = next((item.spot for item in reversed(place.items) if item.name == name), place.entry)
        return Finding(self._path, spot.line, f"lazy-inits/{what}", message, reason, spot.start + 1)


def _paths(origins: set[Origin]) -> str:
    return " and ".join(sorted({origin.path for origin in origins}))
