"""The branch is close to its base, so that what was tested is nearly what will be merged.

`limit` in `[tool.mergeready.pr.behind]` is how many commits of the base it may lack.
"""

from __future__ import annotations

from tooling.pr.model import Decision, Verdict
from tooling.pr.pull import PullRequest

CODES = {"far": "The base has gone on by more commits than the settings allow.", "near": "The branch is close enough."}
BOX = ""
ALIASES = ()
OPTIONS = {"limit": 50}
READS = "change"


def judge(pull: PullRequest) -> Decision:
    """Warn where the base has gone on by more than `limit` commits, as far as this clone knows."""
    limit, behind = pull.option("behind", "limit"), pull.changed.behind
    message = f"commits behind its base: {behind} (allowed: {limit})"
    if behind <= limit:
        return Decision(Verdict.PASS, "behind/near", message)
    return Decision(Verdict.WARN, "behind/far", message, mend="mergeready rebase")
