"""Run the items over a pull request and say whether it is ready."""

from __future__ import annotations

from typing import NamedTuple

from tooling.pr.checklist import ITEMS
from tooling.pr.diff import NoHistory
from tooling.pr.items import load_item
from tooling.pr.model import Decision, Verdict
from tooling.pr.pull import PullRequest

COMMON_CODES = {
    "no-history": "The commits of the branch are not known, so the item cannot be judged.",
    "no-words": "The event has no title and no description, so the item does not apply.",
    "left-out": "The settings leave the item out.",
}
"""What any item can end with, as `item/no-history` and so on."""


class Checklist(NamedTuple):
    """The decisions in the order of `ITEMS`, and whether the pull request is a work in progress."""

    decisions: tuple[Decision, ...]
    unfinished: bool

    @property
    def ready(self) -> bool:
        """Whether nothing fails, nothing that was looked for is unknown, and it is no work in progress."""
        return not self.unfinished and not any(map(_blocks, self.decisions))

    def passes(self, *, strict: bool) -> bool:
        """Whether a gate lets it through: work in progress may pass, and what is pending; neither if `strict`."""
        if strict:
            return self.ready and all(each.verdict not in (Verdict.WARN, Verdict.UNKNOWN) for each in self.decisions)
        return not any(map(_blocks, self.decisions))


def judge(pull: PullRequest) -> Checklist:
    """Decide every item; while it is work in progress, what would fail is a warning."""
    decisions = [_severe(_decide(name, pull), pull) for name in ITEMS]
    unfinished = any(each.code == "work-in-progress/draft" for each in decisions)
    if unfinished:
        decisions = [
            each._replace(verdict=Verdict.WARN) if each.verdict is Verdict.FAIL else each for each in decisions
        ]
    return Checklist(tuple(decisions), unfinished)


def _decide(name: str, pull: PullRequest) -> Decision:
    """One item's decision, or why it was not asked."""
    if name in pull.settings.skip:
        return Decision(Verdict.SKIP, f"{name}/left-out", "the settings leave it out")
    item = load_item(name)
    if item.READS == "change" and isinstance(pull.branch, NoHistory):
        return Decision(Verdict.UNKNOWN, f"{name}/no-history", pull.branch.why, mend=pull.branch.mend)
    if item.READS == "request" and pull.request.absent:
        return Decision(Verdict.SKIP, f"{name}/no-words", pull.request.absent)
    return item.judge(pull)


def _severe(decision: Decision, pull: PullRequest) -> Decision:
    """The decision with the severity that the settings give to its code, or else to its item."""
    severity = pull.settings.severity
    asked = severity.get(decision.code) or severity.get(decision.item)
    if asked is None or decision.verdict not in (Verdict.FAIL, Verdict.WARN):
        return decision
    return decision._replace(verdict=Verdict(asked))


def _blocks(decision: Decision) -> bool:
    # What is pending tells of itself when it ends, on the same page; waiting for it here would wait for ourselves.
    pending = decision.code == "tests/pending"
    return decision.verdict is Verdict.FAIL or (decision.verdict is Verdict.UNKNOWN and not pending)
