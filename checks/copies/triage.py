"""Sort the copies of a tree: what is wrong with their markers, and which of them can be compared."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence

from checks.copies import hygiene
from checks.copies.chains import Chains, Key
from checks.copies.clause import parse, tightened
from checks.copies.compare import Comparer
from checks.copies.interface import same
from checks.copies.patches import Patches
from checks.copies.resolve import Original, Resolver
from checks.copies.survey import Copy
from checks.index import Index
from checks.model import Finding


def triage(
    index: Index, comparer: Comparer, resolver: Resolver, copies: Sequence[Copy]
) -> Generator[Finding, None, Chains]:
    """Yield the findings about markers; return the copies that their markers allow to compare."""
    live: dict[Key, Copy] = {}
    doubtful: list[Copy] = []
    # Of several markers of one definition, the one on the line above it counts.
    for copy in sorted(copies, key=lambda copy: copy.marker.place != "direct"):
        if copy.original is None:
            yield hygiene.missing(index, copy, resolver.missing(copy.claim.dotted))
        elif copy.claim.fault or copy.clause.unclear:
            doubtful.append(copy)
        elif copy.original.path == copy.path and copy.original.definition == copy.definition:
            yield hygiene.of_itself(index, copy)
        else:
            if copy.marker.place != "direct":
                yield hygiene.near_miss(index, copy, mendable=copy.key not in live)
            live.setdefault(copy.key, copy)
    yield from _doubtful(index, comparer, doubtful, live)
    chains = Chains(list(live.values()))
    for copy in list(live.values()):
        if circle := chains.circle(copy):
            yield hygiene.in_circle(index, copy, circle)
            del live[copy.key]
        elif chains.source(copy):
            yield hygiene.of_copy(index, copy, chains.beginning(copy))
    return Chains(list(live.values()))


def _doubtful(index: Index, comparer: Comparer, copies: Sequence[Copy], live: dict[Key, Copy]) -> Iterator[Finding]:
    """Markers that can only be guessed at: a guess is written down if the code then is a faithful copy."""
    clauses = [parse(tightened(copy.claim.clause)) for copy in copies]
    patches = Patches(index)
    pairs = [
        comparer.pair(
            patches.present(Original(copy.path, copy.definition, copy.digest)), patches.present(copy.original), clause
        )
        for copy, clause in zip(copies, clauses, strict=True)
        if copy.original is not None
    ]
    outcomes = comparer.compare(pairs, mending=False)
    for copy, clause, both, outcome in zip(copies, clauses, pairs, outcomes, strict=True):
        mendable = not (
            outcome.hunks
            or clause.unclear
            or copy.key in live
            or not same(both.ours.parameters, both.theirs.parameters)
            or not same(both.ours.decorators, both.theirs.decorators)
        )
        report = hygiene.near_miss if copy.claim.fault else hygiene.unclear
        yield report(index, copy, mendable=mendable)
