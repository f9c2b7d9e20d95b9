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
                original = _original(index, here, resolver.find(claim.dotted))
                copies.append(Copy(path, marker, *here[1:], claim, clause.parse(claim.clause), original))
            elif not claim.fault and resolver.find(claim.dotted):
                strays.append(Stray(path, marker, claim))
    return copies, strays


def _original(index: Index, copy: Original, candidates: tuple[Original, ...]) -> Original | None:
    """Of several definitions of one name, such as the parts of a property, the one with the copy's decorators."""
    if len(candidates) < 2:
        return candidates[0] if candidates else None
    equal = [each for each in candidates if each.digest == copy.digest and each != copy]
    alike = (each for each in candidates if _decorators(index, each) == _decorators(index, copy) and each != copy)
    return equal[0] if equal else next(alike, candidates[0])


def _decorators(index: Index, each: Original) -> tuple[str, ...]:
    return decorators(index.text(each.path)[each.definition.first : each.definition.start])
