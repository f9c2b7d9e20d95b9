"""Comments that silence a finding: `# mergeready: skip[rule] reason`.

In Markdown it is `<!-- mergeready: skip[rule] reason -->`. A comment at the end of a line counts for that line; one
that stands alone counts for the lines below it down to the first that is not a comment. It names rules or codes,
separated by commas, and says why. A comment that silences nothing, names no rule we know or gives no reason is a
finding itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from checks.index import Index
from checks.model import Finding, Findings

NAME = "suppression"
CODES = {
    "unused": "A suppression comment silences nothing.",
    "unknown": "A suppression comment names a rule or code that does not exist.",
    "no-reason": "A suppression comment does not say why.",
}


class Suppression(NamedTuple):
    """One comment: where it stands, which names it silences on which lines, and why."""

    path: str
    line: int
    last: int
    names: tuple[str, ...]
    reason: str

    def covers(self, finding: Finding) -> bool:
        """Whether it silences a finding: its code or rule is named, and its line or an anchor is covered."""
        if finding.path != self.path or not {finding.code, finding.rule} & {*self.names}:
            return False
        return any(self.line <= line <= self.last for line in (finding.line, *finding.anchors))


def collect(index: Index) -> Findings:
    """Every suppression comment of a tree, as findings that `of_finding` reads back, so that they can be cached."""
    from checks.facts.comments import KINDS

    count = 0
    for suffixes, comments in KINDS.items():
        paths = index.files(*suffixes)
        index.prefetch(paths, comments)
        for path in paths:
            for line, last, names, reason in index.facts(comments, path):
                count += 1
                yield Finding(path, line, f"{NAME}/unused", ",".join(names), reason, anchors=(last,))
    return count


def of_file(index: Index, path: str) -> Iterator[Suppression]:
    """The suppression comments of one file, none where it is of a kind that has no comments."""
    from checks.facts.comments import KINDS

    for suffixes, comments in KINDS.items():
        if path.endswith(suffixes):
            for line, last, names, reason in index.facts(comments, path):
                yield Suppression(path, line, last, names, reason)


def of_finding(found: Finding) -> Suppression:
    """The suppression that `collect` wrapped."""
    return Suppression(found.path, found.line, found.anchors[0], tuple(found.message.split(",")), found.reason)


def apply(
    findings: Sequence[Finding],
    suppressions: Sequence[Suppression],
    ran: Sequence[str],
    known: Callable[[str], bool],
) -> tuple[tuple[Finding, ...], tuple[Finding, ...], tuple[Finding, ...]]:
    """Findings that stay, those that are silenced, and what is wrong with the comments themselves.

    `ran` are the rules of this run: a comment for another one is not called unused. `known` says
    whether there is a rule or a code of a name.
    """
    by_path: dict[str, list[Suppression]] = {}
    for comment in suppressions:
        by_path.setdefault(comment.path, []).append(comment)
    used: set[Suppression] = set()
    kept: list[Finding] = []
    silenced: list[Finding] = []
    for found in findings:
        covering = [comment for comment in by_path.get(found.path, ()) if comment.covers(found)]
        used.update(covering)
        (silenced if covering else kept).append(found)
    faults = tuple(fault for comment in suppressions for fault in _faults(comment, ran, known, used=comment in used))
    return tuple(kept), tuple(silenced), faults


def _faults(comment: Suppression, ran: Sequence[str], known: Callable[[str], bool], *, used: bool) -> Iterator[Finding]:
    shown = ", ".join(comment.names)
    unknown = [name for name in comment.names if not known(name)]
    for name in unknown:
        yield Finding(comment.path, comment.line, f"{NAME}/unknown", f"there is no rule or code {name!r} to skip")
    if not comment.reason:
        message = f"say why {shown} is skipped here"
        yield Finding(comment.path, comment.line, f"{NAME}/no-reason", message, "the text after the bracket is empty")
    if not used and not unknown and all(name.partition("/")[0] in ran for name in comment.names):
        message = f"nothing here needs skip[{shown}]"
        yield Finding(comment.path, comment.line, f"{NAME}/unused", message, "no finding of that name on its lines")
