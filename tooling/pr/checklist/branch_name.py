"""The branch is not the base branch: work on `main` of a fork can't be told from what others did there.

List other names that must not be used in `protected`, in `[tool.mergeready.pr.branch-name]`.
"""

from __future__ import annotations

from tooling.pr.model import Decision, Evidence, Verdict
from tooling.pr.pull import PullRequest

CODES = {
    "trunk": "The branch has the name of the base branch, or of another that is protected.",
    "own": "The branch has a name of its own.",
    "unknown-name": "HEAD is on no branch, and the event names none.",
}
BOX = ""
ALIASES = ()
OPTIONS = {"protected": ("main", "master")}
READS = "change"


def judge(pull: PullRequest) -> Decision:
    """Warn where the branch is the base branch, or is called like one."""
    name = pull.request.head_ref
    if not name:
        return Decision(Verdict.SKIP, "branch-name/unknown-name", "HEAD is detached, so the branch has no name here")
    if name not in (*pull.option("branch-name", "protected"), pull.request.default_branch, pull.request.base_ref):
        return Decision(Verdict.PASS, "branch-name/own", "the branch has a name of its own", (Evidence(name),))
    mend = "move the commits to a branch of their own: git switch -c my-change"
    return Decision(Verdict.WARN, "branch-name/trunk", "the work is on the base branch itself", (Evidence(name),), mend)
