"""Submodules stay where they were: a pointer is often moved unawares, by `git add --all` after a rebase."""

from __future__ import annotations

from tooling.pr.model import Decision, Evidence, Verdict
from tooling.pr.pull import PullRequest
from tooling.pr.raw import GITLINK

CODES = {"moved": "A submodule is added, removed or points elsewhere.", "still": "No submodule is touched."}
BOX = ""
ALIASES = ()
OPTIONS: dict[str, object] = {}
READS = "change"


def judge(pull: PullRequest) -> Decision:
    """Fail where the net change moves a submodule."""
    moved = [change for change in pull.changed.changes if GITLINK in (change.mode, change.old_mode)]
    if not moved:
        return Decision(Verdict.PASS, "submodules/still", "no submodule is touched")
    evidence = tuple(
        Evidence(f"{change.old_id[:12] or 'nothing'} to {change.id[:12] or 'nothing'}", change.path) for change in moved
    )
    mend = f"if that was not meant: git checkout {pull.changed.base[:12]} -- PATH, and commit"
    return Decision(Verdict.FAIL, "submodules/moved", f"submodules that change: {len(moved)}", evidence, mend)
