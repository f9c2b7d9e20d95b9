"""A checklist as GitHub Flavored Markdown, for a job summary, a comment or a terminal that shows it.

Whatever comes from the pull request stands in `<code>` with every sign written as a character reference. So it can
end no element, make no link and ping nobody: GitHub links no names and numbers inside of code.
"""

from __future__ import annotations

from collections.abc import Iterator

from checks.text import visible_line
from tooling.pr.checklist import ITEMS
from tooling.pr.judge import Checklist
from tooling.pr.model import Decision, Verdict
from tooling.pr.reports.human import place, summary

SHOWN = 20
"""Pieces of evidence of one item."""
LONGEST = 300
"""Characters of one piece of evidence."""
_SIGNS = {
    Verdict.PASS: "✅",
    Verdict.FAIL: "❌",
    Verdict.WARN: "⚠️",
    Verdict.MANUAL: "✋",
    Verdict.SKIP: "⏭️",
    Verdict.UNKNOWN: "❓",
}
_QUIET = (Verdict.PASS, Verdict.SKIP)


def render(checklist: Checklist, notes: tuple[str, ...] = ()) -> str:
    """The document: a line that sums it up, a table of all items, and the evidence of those that ask for attention."""
    return "\n".join(_lines(checklist, notes)) + "\n"


def _lines(checklist: Checklist, notes: tuple[str, ...]) -> Iterator[str]:
    yield f"### Pull request checklist\n\n**{summary(checklist)}**\n"
    yield "| | item | verdict | |\n|---|---|---|---|"
    for decision in checklist.decisions:
        what = f"{ITEMS[decision.item]} (`{decision.code}`)"
        yield f"| {_SIGNS[decision.verdict]} | {what} | {decision.verdict} | {_own(decision.message)} |"
    for decision in checklist.decisions:
        if decision.verdict not in _QUIET and (decision.evidence or decision.mend):
            yield from _details(decision)
    for note in notes:
        yield f"\n{code(note)}"


def _details(decision: Decision) -> Iterator[str]:
    yield f"\n{_SIGNS[decision.verdict]} **{decision.item}**: {_own(decision.message)}\n"
    for row in decision.evidence[:SHOWN]:
        yield f"- {code(place(row) + row.text)}"
    if len(decision.evidence) > SHOWN:
        yield f"- and {len(decision.evidence) - SHOWN} more"
    if decision.mend:
        yield f"- to mend it: {code(decision.mend)}"


def code(text: str) -> str:
    """Text of any origin as one piece of code, safe in a table too.

    >>> code("a|b @you")
    '<code>a&#124;b &#64;you</code>'
    """
    shown = visible_line(text)
    if len(shown) > LONGEST:
        shown = f"{shown[:LONGEST]}…"
    inert = (letter if letter.isalnum() or letter == " " else f"&#{ord(letter)};" for letter in shown)
    return f"<code>{''.join(inert)}</code>"


def _own(message: str) -> str:
    """Our own words, in which a star or a number sign would still be taken for markup."""
    return message.replace("*", "\\*").replace("<", "&lt;").replace("|", "\\|")
