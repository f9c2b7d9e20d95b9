"""Fill a repository's pull request template with what is known: a summary, the issue, and the boxes that were decided.

A box is ticked only where an item passed on evidence, and marked as not needed only where an item does not apply;
every other box, and every sentence of the template, stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tooling.pr.checklist import ITEMS
from tooling.pr.checklist.linked_issue import signs
from tooling.pr.diff import Commit
from tooling.pr.items import load_item
from tooling.pr.judge import Checklist
from tooling.pr.markdown import Box, boxes
from tooling.pr.model import Decision, Verdict
from tooling.pr.pull import PullRequest

_PLACES = ("", ".github/", "docs/")
_LINK = re.compile(r"^(?:fix(?:es)?|closes|resolves) #[ \t]*(?:\(issue\))?[ \t]*$", re.IGNORECASE | re.MULTILINE)
_ISSUE = re.compile(r"#([1-9][0-9]*)|(?:^|[ /_-])(?:fix|issue|bug|gh)[/_-]?([1-9][0-9]*)(?:$|[/_-])", re.IGNORECASE)
_MENTION = re.compile(r"(?<![\w`@])@\w[\w-]*(?:/[\w.-]+)?")
_PLAIN = """\
## What and why

Fixes #
"""


def find_template(paths: Iterable[str]) -> str:
    """The path of a repository's pull request template, wherever GitHub looks for one; empty where there is none."""
    for path in paths:
        folder, name = path[: path.rfind("/") + 1], path[path.rfind("/") + 1 :]
        if folder in _PLACES and re.fullmatch(r"pull_request_template(?:\.(?:md|txt))?", name.lower()):
            return path
    return ""


def fill(template: str, pull: PullRequest, checklist: Checklist) -> str:
    """The template, or a short one of our own where it is empty, with what is known put in."""
    text = (template or _PLAIN).replace("\r\n", "\n")
    if issue := _issue(pull):
        text = _LINK.sub(f"Fixes #{issue}", text, count=1)
    lines = text.split("\n")
    decided = {decision.item: decision for decision in checklist.decisions}
    named = {_plain(sentence): name for name in ITEMS for sentence in _sentences(name)}
    for box in boxes(text):
        name = named.get(_plain(box.text))
        if name is not None and not box.ticked:
            lines[box.line - 1] = _answered(lines[box.line - 1], box, decided[name])
    return _with_summary("\n".join(lines), summary(pull.changed_commits))


def summary(commits: Iterable[Commit]) -> str:
    """What the commits say: the text of a single one, a list of the first lines of several; names ping nobody."""
    own = [commit for commit in commits if len(commit.parents) < 2 and not commit.subject.startswith("fixup!")]
    if len(own) == 1:
        said = own[0].message.partition("\n")[2].strip() or own[0].subject
    else:
        said = "\n".join(f"- {commit.subject}" for commit in own)
    return _MENTION.sub(lambda name: f"`{name[0]}`", said)


def _issue(pull: PullRequest) -> str:
    """The number of the issue that branch or commits name, empty where there is none."""
    numbers = (hit[1] or hit[2] for row in signs(pull) if (hit := _ISSUE.search(row.text)))
    return next(numbers, "")


def _sentences(name: str) -> tuple[str, ...]:
    item = load_item(name)
    return (*((item.BOX,) if item.BOX else ()), *item.ALIASES)


def _plain(sentence: str) -> str:
    return " ".join(re.findall(r"\w+", sentence.casefold()))


def _answered(line: str, box: Box, decision: Decision) -> str:
    """The line of a box with its answer, where the machine has one."""
    if decision.verdict is Verdict.PASS:
        return re.sub(r"\[ \]", "[x]", line, count=1) + f" *(mergeready: {decision.message})*"
    if decision.verdict is Verdict.SKIP:
        return re.sub(r"\[ \][ \t]+", f"[ ] not needed ({decision.message}): ", line, count=1)
    return line


def _with_summary(text: str, said: str) -> str:
    """The text with the summary below its first heading and the comments that follow, or at its top."""
    heading = re.search(
        r"\A(?:\s|<!--(?:(?!-->).)*-->)*#+ [^\n]*\n(?:\s*<!--(?:(?!-->).)*-->[ \t]*\n)?", text, re.DOTALL
    )
    place = heading.end() if heading else 0
    gap = "\n" if heading else ""
    return f"{text[:place]}{gap}{said}\n\n{text[place:].lstrip(chr(10))}"
