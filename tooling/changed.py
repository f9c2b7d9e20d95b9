"""Judge what a change caused, and what merging it would give."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

from checks import change
from checks.commit import CommitTree
from checks.errors import CheckError
from checks.model import Finding
from checks.run import Judge, Outcome, Started
from checks.tree import Tree
from tooling.checkout import Checkout


def changed_judge(checkout: Checkout, judge: Judge, base: str) -> Callable[[Tree, Started], Outcome]:
    """A judge that drops what the commit where HEAD left the base had already, unless it lies in a changed file."""
    commit = change.find_base(checkout.root, base)
    before = CommitTree(checkout.root, commit, beside=checkout.tree())
    at_base: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    with closing(before):
        try:
            at_base = judge(before).findings
        except CheckError as error:  # settings that were wrong, which this change may be about to mend
            notes = (f"the base cannot be judged, so all findings are reported: {error}",)

    def judge_change(tree: Tree, started: Started = lambda _: None) -> Outcome:
        outcome = change.only_caused(judge(tree, started), at_base, before, tree)
        return outcome._replace(notes=(*notes, *outcome.notes))

    return judge_change


def judge_merge(checkout: Checkout, judge: Judge, base: str) -> Outcome:
    """The outcome of the tree that merging HEAD into the newest base would give; each conflict is a finding."""
    tip = change.newest_base(checkout.root, base)
    tree, conflicts = change.merged_tree(checkout.root, tip)
    with closing(CommitTree(checkout.root, tree, beside=checkout.tree())) as merged:
        outcome = judge(merged)
    found = tuple(
        Finding(path, 1, "run/conflict", "merging HEAD into the base conflicts here", f"the base is at {tip[:12]}")
        for path in conflicts
    )
    return outcome._replace(findings=tuple(sorted((*found, *outcome.findings), key=lambda each: each[:4])))
