"""Comments that silence a finding: `# mergeready: skip[rule] reason`, or `<!-- mergeready: skip[rule] reason -->`.

A comment at the end of a line counts for that line; one that stands alone counts for the lines below it down to the
first that is not a comment. It names rules or codes, separated by commas, and says why. A comment that silences
nothing, names no rule we know or gives no reason is a finding itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from checks.index import Index
from checks.model import Finding, Findings
from checks.store import Extractor

NAME = "suppression"
CODES = {
    "unused": "A suppression comment silences nothing.",
    "unknown": "A suppression comment names a rule or code that does not exist.",
    "no-reason": "A suppression comment does not say why.",
}
_SUFFIXES = (".py", ".pyi", ".md", ".mdx", ".rst", ".yml", ".yaml", ".toml", ".txt", ".cfg")
_COMMENT = re.compile(r"(?:#|<!--)\s*mergeready:\s*skip\[([^\]\n]*)\]([^\n]*)")


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
    paths = index.files(*_SUFFIXES)
    index.prefetch(paths, COMMENTS)
    count = 0
    for path in paths:
        for line, last, names, reason in index.facts(COMMENTS, path):
            count += 1
            yield Finding(path, line, f"{NAME}/unused", ",".join(names), reason, anchors=(last,))
    return count


def of_finding(found: Finding) -> Suppression:
    """The suppression that `collect` wrapped."""
    return Suppression(found.path, found.line, found.anchors[0], tuple(found.message.split(",")), found.reason)


def apply(
    findings: Sequence[Finding], suppressions: Sequence[Suppression], ran: Sequence[str], known: Sequence[str]
) -> tuple[tuple[Finding, ...], tuple[Finding, ...], tuple[Finding, ...]]:
    """Findings that stay, those that are silenced, and what is wrong with the comments themselves.

    `ran` are the rules of this run: a comment for another one is not called unused. `known` are all rules and codes.
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


def _faults(comment: Suppression, ran: Sequence[str], known: Sequence[str], *, used: bool) -> Iterator[Finding]:
    shown = ", ".join(comment.names)
    unknown = [name for name in comment.names if name not in known]
    for name in unknown:
        yield Finding(comment.path, comment.line, f"{NAME}/unknown", f"there is no rule or code {name!r} to skip")
    if not comment.reason:
        message = f"say why {shown} is skipped here"
        yield Finding(comment.path, comment.line, f"{NAME}/no-reason", message, "the text after the bracket is empty")
    if not used and not unknown and all(name.partition("/")[0] in ran for name in comment.names):
        message = f"nothing here needs skip[{shown}]"
        yield Finding(comment.path, comment.line, f"{NAME}/unused", message, "no finding of that name on its lines")


def _comments(text: str) -> list[Any]:
    if "mergeready:" not in text or not _COMMENT.search(text):
        return []
    lines = text.split("\n")
    found = []
    for line, column, comment in _real_comments(text):
        names = [name.strip() for name in comment[1].split(",") if name.strip()]
        alone = not lines[line - 1][:column].strip()
        reason = comment[2].strip().removesuffix("-->").strip()
        found.append((line, _reach(lines, line) if alone else line, names, reason))
    return found


def _real_comments(text: str) -> Iterator[tuple[int, int, re.Match[str]]]:
    """Suppressions in real comments: not those that a string, such as a docstring that explains them, holds."""
    import io
    import tokenize  # only where a comment was found: importing it takes as long as a warm run may spend on a rule

    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):  # no Python: Markdown, YAML, or a file that is broken
        for number, line in enumerate(text.split("\n"), 1):
            if found := _COMMENT.search(line):
                yield number, found.start(), found
        return
    for token in tokens:
        if token.type == tokenize.COMMENT and (found := _COMMENT.match(token.string)):
            yield token.start[0], token.start[1], found


def _reach(lines: Sequence[str], line: int) -> int:
    """The first line below a comment that is no comment and not blank."""
    for number in range(line, len(lines)):
        stripped = lines[number].strip()
        if stripped and not stripped.startswith(("#", "<!--")):
            return number + 1
    return line


def _load(found: list[Any]) -> tuple[tuple[int, int, tuple[str, ...], str], ...]:
    return tuple((line, last, tuple(names), reason) for line, last, names, reason in found)


COMMENTS: Extractor[tuple[tuple[int, int, tuple[str, ...], str], ...]] = Extractor("suppressions", _comments, _load)
