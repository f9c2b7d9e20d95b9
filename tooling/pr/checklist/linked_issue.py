"""Where there is an issue, the description names it with a word that closes it, as in `Fixes #12`.

Not every change has an issue. So a description without one is left to a person, unless something says that there is an
issue: the name of the branch (`fix-1234`), a commit that names it, or the label `bug`.

The comment of an untouched template, code and quotations say nothing, nor does "does not fix #12".
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tooling.pr.model import Decision, Evidence, Verdict
from tooling.pr.pull import PullRequest

CODES = {
    "closes": "The description, or GitHub itself, links an issue that the merge will close.",
    "inert": "The words are right, but only a pull request to the default branch closes issues.",
    "hidden": "Something says that there is an issue, and the description does not close it.",
    "mentioned": "The description names an issue without a word that closes it.",
    "none": "The description names no issue, and nothing says that there is one.",
    "unsaid": "There is no description yet.",
}
BOX = "The description names the issue that it fixes, as in `Fixes #12`, or says why there is none."
ALIASES = ()
OPTIONS = {"labels": ("bug",)}
READS = "request"

_REFERENCE = (
    r"(?P<ref>(?:[\w.-]+/[\w.-]+)?#[1-9][0-9]*|gh-[1-9][0-9]*|https?://[\w.-]+/[\w.-]+/[\w.-]+/issues/[1-9][0-9]*)\b"
)
_CLOSES = re.compile(
    rf"(?<![\w/#@.-])(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+{_REFERENCE}", re.IGNORECASE | re.ASCII
)
_ANY = re.compile(rf"(?<![\w/&.-]){_REFERENCE}", re.IGNORECASE | re.ASCII)
_NEGATED = re.compile(r"(?:\bnot|n['\u2019]t|\bnever|\bwithout|\bcannot|\bneither)\W+(?:\w+\W+){0,1}$", re.IGNORECASE)
_BRANCH = re.compile(r"(?:^|[/_-])(?:fix|issue|bug|gh)[/_-]?#?([1-9][0-9]*)(?:$|[/_-])", re.IGNORECASE | re.ASCII)


class References(NamedTuple):
    """Issues that a text names: those it says it closes, and all others."""

    closed: tuple[str, ...]
    mentioned: tuple[str, ...]


def judge(pull: PullRequest) -> Decision:
    """Pass where the merge closes an issue; fail or warn where there is one that it does not."""
    request = pull.request
    if request.closes:
        evidence = tuple(Evidence(f"#{number}") for number in request.closes)
        return Decision(Verdict.PASS, "linked-issue/closes", "GitHub has linked an issue", evidence)
    if request.body is None:
        return Decision(
            Verdict.MANUAL, "linked-issue/unsaid", "no description is known yet", mend="give it with --body"
        )
    found = references(request.body)
    closed = tuple(Evidence(ref) for ref in found.closed)
    if closed and request.default_branch and request.base_ref not in ("", request.default_branch):
        message = "the base is not the default branch, so merging will close nothing"
        return Decision(Verdict.WARN, "linked-issue/inert", message, closed, "close the issue by hand after the merge")
    if closed:
        return Decision(Verdict.PASS, "linked-issue/closes", "the description closes an issue", closed)
    return _without(pull, found)


def references(body: str) -> References:
    """The issues that a description names, in its own words."""
    if not re.search(r"[0-9]", body):
        return References((), ())
    from tooling.pr.markdown import prose

    text = prose(body)
    closed = [hit["ref"] for hit in _CLOSES.finditer(text) if not _is_negated(text, hit.start())]
    named = [hit["ref"] for hit in _ANY.finditer(text) if hit["ref"] not in closed]
    return References(tuple(dict.fromkeys(closed)), tuple(dict.fromkeys(named)))


def signs(pull: PullRequest) -> tuple[Evidence, ...]:
    """What says that there is an issue: the name of the branch, a commit that closes one, a label."""
    branch = pull.request.head_ref
    found = [Evidence(f"branch {branch}")] if _BRANCH.search(branch) else []
    found += (
        Evidence(f"commit says {hit[0]}", commit=commit.id)
        for commit in pull.changed_commits
        if len(commit.parents) < 2 and (hit := _CLOSES.search(commit.message))
    )
    labels = pull.option("linked-issue", "labels")
    return (*found, *(Evidence(f"label {label}") for label in pull.request.labels if label in labels))


def _is_negated(text: str, position: int) -> bool:
    """Whether the words just before a keyword deny it: 'does not fix', 'won't ever close'."""
    return _NEGATED.search(text[max(0, position - 40) : position]) is not None


def _without(pull: PullRequest, found: References) -> Decision:
    """Decide where nothing is closed."""
    mend = "write 'Fixes #' and the number into the description"
    if hints := signs(pull):
        verdict = Verdict.FAIL if any(row.text.startswith(("branch", "commit")) for row in hints) else Verdict.WARN
        message = "something says that there is an issue, and the description closes none"
        return Decision(verdict, "linked-issue/hidden", message, hints, mend)
    if found.mentioned:
        evidence = tuple(Evidence(ref) for ref in found.mentioned)
        message = "the description names issues or pull requests and says of none that it fixes it"
        return Decision(Verdict.MANUAL, "linked-issue/mentioned", message, evidence, mend)
    return Decision(Verdict.MANUAL, "linked-issue/none", "no issue is named; is there none?", mend=mend)
