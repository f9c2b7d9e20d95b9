"""No commit is left that waits to be squashed into another: `fixup!`, `squash!` and `amend!`."""

from __future__ import annotations

from tooling.pr.model import Decision, Evidence, Verdict
from tooling.pr.pull import PullRequest

CODES = {"found": "A commit waits to be squashed into another.", "none": "No commit waits to be squashed."}
BOX = ""
ALIASES = ()
OPTIONS: dict[str, object] = {}
READS = "change"


def judge(pull: PullRequest) -> Decision:
    """Warn of each such commit."""
    left = [commit for commit in pull.changed.commits if commit.subject.startswith(("fixup!", "squash!", "amend!"))]
    if not left:
        return Decision(Verdict.PASS, "fixup-commits/none", "no commit waits to be squashed")
    evidence = tuple(Evidence(commit.subject, commit=commit.id) for commit in left)
    mend = f"git rebase --interactive --autosquash {pull.changed.base[:12]}"
    return Decision(
        Verdict.WARN, "fixup-commits/found", f"commits that wait to be squashed: {len(left)}", evidence, mend
    )
