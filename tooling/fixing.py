"""Plan the fixes of a checkout, then show them as a diff or write them."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator

from checks.edits import Change
from checks.fix import Fixed, fix
from checks.model import Finding
from checks.run import Outcome, Started
from checks.text import decode, visible_line
from checks.tree import Tree
from checks.write import write_changes
from tooling.checkout import Checkout
from tooling.console import Console

View = Callable[..., Outcome]


def fix_checkout(
    checkout: Checkout, judge: View, console: Console, *, write: bool, show: Callable[[str, str], None] | None = None
) -> Outcome:
    """Fix all that can be fixed until nothing more changes; return the outcome of the tree that this makes.

    With `show` the changes are handed to it as a diff, and the outcome is that of the tree as it is.
    """
    tree = checkout.tree()
    outcomes: list[Outcome] = []
    with console.progress("fixing") as started:
        fixed = fix(tree, lambda present: _judged(judge, present, started, outcomes))
        if write:
            write_changes(checkout.root, fixed.changes)
    for text, style in _told(fixed, write=write):
        console.note(text, style)
    if show:
        for change in fixed.changes:
            for text, style in diff(change):
                show(text, style)
        return outcomes[0]
    return outcomes[-1] if fixed.settled else outcomes[0]


def diff(change: Change) -> Iterator[tuple[str, str]]:
    """A unified diff of one change, line by line with a style."""
    old = "/dev/null" if change.before is None else f"a/{change.path}"
    new = "/dev/null" if change.after is None else f"b/{change.path}"
    before, after = _lines(change.before), _lines(change.after)
    for text in difflib.unified_diff(before, after, visible_line(old), visible_line(new), lineterm=""):
        line = text.removesuffix("\n")
        yield line, {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "")
        if line is text and line.startswith(("+", "-", " ")) and not line.startswith(("+++ ", "--- ")):
            yield "\\ No newline at end of file", "dim"


def _lines(content: bytes | None) -> list[str]:
    *lines, rest = decode(content or b"").split("\n")
    return [*(f"{line}\n" for line in lines), *([rest] if rest else [])]


def _judged(judge: View, tree: Tree, started: Started, outcomes: list[Outcome]) -> tuple[Finding, ...]:
    outcomes.append(judge(tree, started))
    return outcomes[-1].findings


def _told(fixed: Fixed, *, write: bool) -> Iterator[tuple[str, str]]:
    if not fixed.settled:
        yield "nothing was changed: the fixes undo each other", "yellow"
    for refusal in fixed.refusals:
        yield f"not fixed: {visible_line(refusal.path)}: {refusal.why}", "yellow"
    if write:
        for change in fixed.changes:
            yield f"fixed {visible_line(change.path)}", "green"
