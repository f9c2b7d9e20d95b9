"""A draft, or a title that starts with `[WIP]`, is work in progress: a state and no fault.

While it lasts, what other items would fail is a warning, and the pull request is not ready to be merged.

With `suffix = true` in `[tool.mergeready.pr.work-in-progress]`, a title that ends in `(WIP)` counts too.
"""

from __future__ import annotations

import re

from tooling.pr.model import Decision, Evidence, Verdict
from tooling.pr.pull import PullRequest

CODES = {
    "draft": "It is marked as a draft, or its title says that it is not finished.",
    "ready": "Neither the draft state nor the title says that it is unfinished.",
    "unsaid": "Nobody has said what the title or the state is.",
}
BOX = ""
ALIASES = ()
OPTIONS = {"suffix": False}
READS = "request"

_PREFIX = re.compile(r"\s*(?:\[(?:wip|draft)\]|\((?:wip|draft)\)|(?:wip|draft):)", re.IGNORECASE)
_SUFFIX = re.compile(r".*(?:\[(?:wip|draft)\]|\((?:wip|draft)\))\s*", re.IGNORECASE | re.DOTALL)


def judge(pull: PullRequest) -> Decision:
    """Tell the state, from the draft flag and from the title: either is enough."""
    title, draft = pull.request.title, pull.request.draft
    if title is None and draft is None:
        return Decision(Verdict.MANUAL, "work-in-progress/unsaid", "neither title nor state is known yet")
    reasons = []
    if draft:
        reasons.append(Evidence("it is a draft"))
    if says_unfinished(title or "", suffix=pull.option("work-in-progress", "suffix")):
        reasons.append(Evidence(title or ""))
    if not reasons:
        return Decision(Verdict.PASS, "work-in-progress/ready", "it is ready for review")
    return Decision(
        Verdict.WARN,
        "work-in-progress/draft",
        "it is work in progress: what would fail is a warning until it is ready",
        tuple(reasons),
        "take the mark from the title and press 'Ready for review' when it is finished",
    )


def says_unfinished(title: str, *, suffix: bool = False) -> bool:
    """Whether a title marks work in progress.

    >>> [says_unfinished(title) for title in ("swipe left", "WIPO list", "[wip] x", "x (WIP)", "Draft: x")]
    [False, False, True, False, True]
    """
    return bool(_PREFIX.match(title) or (suffix and _SUFFIX.fullmatch(title)))
