"""The branch holds no merge commits: they hide in review what was changed while merging, and a rebase drops it."""

from __future__ import annotations

from tooling.pr.model import Decision, Evidence, Verdict
from tooling.pr.pull import PullRequest

CODES = {"found": "The branch holds merge commits.", "none": "Every commit of the branch has one parent."}
BOX = ""
ALIASES = ()
OPTIONS: dict[str, object] = {}
READS = "change"


def judge(pull: PullRequest) -> Decision:
    """Warn of each merge commit, and say which of them change files that no parent had so."""
    merges = [commit for commit in pull.changed.commits if len(commit.parents) > 1]
    if not merges:
        return Decision(Verdict.PASS, "merge-commits/none", "no merge commits")
    evidence = tuple(Evidence(commit.subject, commit=commit.id) for commit in merges)
    own = sum(bool(commit.changes) for commit in merges)
    also = f"; with changes that no parent has: {own}" if own else ""
    message = f"merges: {len(merges)} of {len(pull.changed.commits)} commits{also}"
    return Decision(Verdict.WARN, "merge-commits/found", message, evidence, "replay the branch: mergeready rebase")
