"""Every box of the pull request template is ticked, or struck out with a reason.

A box that says why it does not apply, as in `- [ ] not needed: docs only`, counts as answered.
"""

from __future__ import annotations

import re

from tooling.pr.model import Decision, Evidence, Verdict
from tooling.pr.pull import PullRequest

CODES = {
    "open": "A box of the description is not ticked.",
    "done": "Every box of the description is ticked.",
    "none": "The description has no boxes.",
}
BOX = ""
ALIASES = ()
OPTIONS: dict[str, object] = {}
READS = "request"

_ANSWERED = re.compile(r"(?:not (?:needed|applicable)|n/a)\b", re.IGNORECASE)


def judge(pull: PullRequest) -> Decision:
    """Warn of each open box."""
    body = pull.request.body or ""
    if "[" not in body:
        return Decision(Verdict.SKIP, "template-boxes/none", "the description has no boxes")
    from tooling.pr.markdown import boxes

    found = boxes(body)
    left = tuple(Evidence(box.text, line=box.line) for box in found if not box.ticked and not _ANSWERED.match(box.text))
    if not found:
        return Decision(Verdict.SKIP, "template-boxes/none", "the description has no boxes")
    if left:
        message = f"open boxes: {len(left)} of {len(found)}"
        return Decision(Verdict.WARN, "template-boxes/open", message, left, "tick them, or write 'not needed:' and why")
    return Decision(Verdict.PASS, "template-boxes/done", f"boxes, all ticked or answered: {len(found)}")
