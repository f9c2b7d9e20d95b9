"""Compare the copies of a tree with their originals, originals first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from checks.copies import hygiene
from checks.copies.chains import Chains
from checks.copies.clause import steps
from checks.copies.compare import Comparer, Pair
from checks.copies.drift import drifts
from checks.copies.headers import mended_headers
from checks.copies.patches import Patches
from checks.copies.piece import Piece
from checks.copies.resolve import Original
from checks.copies.survey import Copy
from checks.index import Index
from checks.model import Finding
from checks.standing import stands


class Case(NamedTuple):
    """A copy to look at closely, its original as it is at present, and the findings that will change the original."""

    copy: Copy
    pair: Pair
    present: Piece
    causes: tuple[Finding, ...]


def review(index: Index, comparer: Comparer, chains: Chains) -> Iterator[Finding]:
    """The findings about code.

    A copy is held against what its original will be once that is mended, or against the original as it is where what
    is wrong with that is let pass.
    """
    patches = Patches(index)
    judged: dict[str, set[str]] = defaultdict(set)
    for level in chains.levels():
        cases = [case for copy in level for case in _cases(comparer, patches, copy, judged[copy.path])]
        for case in cases:
            counts = [count for _, count in steps(case.copy.clause, case.present.text)]
            if 0 in counts:
                yield hygiene.idle(index, case.copy, [place for place, count in enumerate(counts) if not count])
        for finding, case in _found(index, comparer, cases):
            if stands(index, finding):
                patches.add(finding)
            judged[finding.path].add(case.copy.definition.name)
            yield finding


def _cases(comparer: Comparer, patches: Patches, copy: Copy, judged: Collection[str]) -> Iterator[Case]:
    """Nothing for a copy without replacements whose text is the original's, to the letter, and will be."""
    assert copy.original is not None
    here = Original(copy.path, copy.definition, copy.digest)
    if not copy.clause.items and copy.digest == copy.original.digest and not patches.touch(copy.original.path):
        return
    original, causes = patches.mended(copy.original)
    present = patches.present(copy.original) if causes else original
    pair = comparer.pair(patches.present(here), original, copy.clause)
    scope = f"{copy.definition.name}."
    inner = frozenset(name.removeprefix(scope).partition(".")[0] for name in judged if name.startswith(scope))
    yield Case(copy, pair._replace(judged=inner), present, causes)


def _found(index: Index, comparer: Comparer, cases: Sequence[Case]) -> Iterator[tuple[Finding, Case]]:
    outcomes = comparer.compare([case.pair for case in cases])
    headers = mended_headers(index, comparer.formatter, [case.pair for case in cases])
    for case, outcome, header in zip(cases, outcomes, headers, strict=True):
        findings = list(drifts(case.copy, case.pair, outcome, header))
        if findings and case.causes:
            # What is wrong already stands on its own; the rest is wrong only if the original is.
            now = comparer.pair(case.pair.copy, case.present, case.copy.clause)._replace(judged=case.pair.judged)
            (alone,) = comparer.compare([now], mending=False)
            own = {found.code for found in drifts(case.copy, now, alone, None)}
            findings = [found if found.code in own else _following(found, case.causes) for found in findings]
        yield from ((found, case) for found in findings)


def _following(finding: Finding, causes: Sequence[Finding]) -> Finding:
    cause = next((cause for cause in causes if cause.code == finding.code), causes[0])
    return finding._replace(
        follows=(cause.path, cause.line, cause.code),
        reason=f"{finding.reason}, once {cause.path}:{cause.line} is mended",
    )
