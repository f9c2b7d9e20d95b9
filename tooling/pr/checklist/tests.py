"""The tests pass on exactly what would be merged.

At a terminal the ledger of `mergeready tests` tells: a run counts for the tree it ran on and for no other. On GitHub
the other checks of the head commit tell, in which a skipped check is no evidence, and one that is pending is unknown.

In `[tool.mergeready.pr.tests]`, `ignore` are globs of names of checks that do not count.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

from tooling.ledger import Run
from tooling.pr.model import Decision, Evidence, Verdict
from tooling.pr.pull import CheckRun, PullRequest

CODES = {
    "passed": "A whole run passed on this very tree, or all checks of the head commit succeeded.",
    "failed": "The newest run on this tree failed, or a check of the head commit did.",
    "pending": "A check of the head commit has not finished.",
    "unreported": "No check has reported on the head commit.",
    "empty": "The run collected no test, or nothing told how many.",
    "partial": "Only some of the tests were run on this tree.",
    "not-run": "No run is recorded for this tree.",
}
BOX = "`nox` passes here: quality, repo-consistency and tests."
ALIASES = ()
OPTIONS: dict[str, object] = {"ignore": ()}
READS = "runs"

_HOW = "mergeready tests -- pytest, or nox -s tests"
_RED = ("failure", "timed_out", "cancelled", "startup_failure", "action_required", "error")


def judge(pull: PullRequest) -> Decision:
    """Decide from checks where GitHub was asked, and from the ledger otherwise."""
    if pull.checks is not None:
        ignored = pull.option("tests", "ignore")
        checks = [c for c in pull.checks if not any(fnmatchcase(c.name, pattern) for pattern in ignored)]
        return _from_checks(checks)
    return _from_ledger(pull.runs)


def _from_checks(checks: list[CheckRun]) -> Decision:
    shown = tuple(Evidence(f"{check.name}: {check.outcome or 'pending'}") for check in checks)
    red = tuple(row for row, check in zip(shown, checks, strict=True) if check.outcome in _RED)
    pending = tuple(row for row, check in zip(shown, checks, strict=True) if not check.outcome)
    if red:
        return Decision(Verdict.FAIL, "tests/failed", f"red checks: {len(red)} of {len(checks)}", red, "mend them")
    if pending:
        message = f"checks that have not finished: {len(pending)} of {len(checks)}"
        return Decision(Verdict.UNKNOWN, "tests/pending", message, pending, "look again when they have")
    green = sum(check.outcome == "success" for check in checks)
    if not green:
        mend = "a first-time contributor's workflows wait for approval"
        return Decision(Verdict.UNKNOWN, "tests/unreported", "no check has succeeded or failed", shown, mend)
    return Decision(
        Verdict.PASS, "tests/passed", f"checks that succeeded: {green} of {len(checks)}; the others were skipped"
    )


def _from_ledger(runs: tuple[Run, ...]) -> Decision:
    if not runs:
        return Decision(Verdict.MANUAL, "tests/not-run", "no run is recorded for this tree", mend=_HOW)
    newest = {run.command: run for run in runs}
    for run in newest.values():
        if run.exit:
            message = f"the newest run ended with exit code {run.exit}"
            return Decision(Verdict.FAIL, "tests/failed", message, (_evidence(run),), "mend them, and run it again")
    shown = tuple(map(_evidence, newest.values()))
    if any(run.passed > 0 and not run.partial for run in newest.values()):
        return Decision(Verdict.PASS, "tests/passed", "a whole run passed on this tree", shown)
    if any(run.passed > 0 for run in newest.values()):
        return Decision(Verdict.MANUAL, "tests/partial", "only some of the tests were run on this tree", shown, _HOW)
    return Decision(Verdict.UNKNOWN, "tests/empty", "nothing tells that a test was run", shown, _HOW)


def _evidence(run: Run) -> Evidence:
    flags = "".join(f"{name}={value} " for name, value in run.environment.items())
    return Evidence(f"{flags}{' '.join(run.command)}: {run.counts}, exit {run.exit}, {run.at}")
