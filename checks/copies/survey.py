"""Every marker of a tree, with the code it stands by and the code it names."""

from __future__ import annotations

from typing import NamedTuple

from checks.copies import clause, spelling
from checks.copies.clause import Clause
from checks.copies.piece import decorators
from checks.copies.resolve import Original, Resolver
from checks.copies.spelling import Claim
from checks.facts.copies import MARKED, Marker
from checks.facts.python import Definition
from checks.index import Index


class Copy(NamedTuple):
    """One class or function with a marker, and the definition that the marker's path names, None if it names none."""

    path: str
    marker: Marker
    definition: Definition
    digest: str
    claim: Claim
    clause: Clause
    original: Original | None

    @property
    def key(self) -> tuple[str, int]:
        """What tells one definition from another."""
        return self.path, self.definition.start


class Stray(NamedTuple):
    """A comment that is spelt as a marker and stands by no class or function."""

    path: str
    marker: Marker
    claim: Claim


def survey(index: Index, resolver: Resolver) -> tuple[list[Copy], list[Stray]]:
    """The copies of a tree, and the markers that stand alone; comments that only credit something are neither."""
    packages = index.settings.profile.packages
    files = [path for folder in dict.fromkeys(packages.values()) for path in index.files(".py", under=folder)]
    index.prefetch(files, MARKED)
    copies: list[Copy] = []
    strays: list[Stray] = []
    for path in dict.fromkeys(files):
        facts = index.facts(MARKED, path)
        for marker in facts.markers:
            claim = spelling.read(marker.text, packages, lambda dotted: bool(resolver.find(dotted)))
            if claim is None:
                continue
            if marker.above >= 0:
                here = Original(path, facts.definitions[marker.above], facts.digests[marker.above])
                original = _original(index, resolver, here, resolver.find(claim.dotted))
                copies.append(Copy(path, marker, *here[1:], claim, clause.parse(claim.clause), original))
            elif not claim.fault and resolver.find(claim.dotted):
                strays.append(Stray(path, marker, claim))
    return copies, strays


def _original(index: Index, resolver: Resolver, copy: Original, found: tuple[Original, ...]) -> Original | None:
    """Of several definitions of one name, the one like the copy: the same part of a property, the same branch.

    What a fix may change has no say in it, or the next run might choose another.
    """
    if len(found) < 2:
        return found[0] if found else None
    own = _outline(index, copy)
    alike = [each for each in found if each != copy and _outline(index, each) == own]
    twins = [each for each in resolver.all_of(copy) if _outline(index, each) == own]
    place = twins.index(copy)
    return alike[place if place < len(alike) else 0] if alike else found[0]


def _outline(index: Index, each: Original) -> tuple[str, ...]:
    """The decorators, and whether it is a class or a function."""
    text = index.text(each.path)
    words = text[each.definition.start : each.definition.body].split(maxsplit=1)
    return (*decorators(text[each.definition.first : each.definition.start]), "class" if words[0] == "class" else "def")
