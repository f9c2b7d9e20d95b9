"""The title says what changes, in a form that still reads well in a list of a hundred others.

A machine can see that a title is empty, a default, cut off, or only repeats the branch; it can't see that it is good.
So an honest title is left to a person, and is never a pass.

Set `min` and `max` (columns) in `[tool.mergeready.pr.title]`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from checks.text import visible_line
from tooling.pr.model import Decision, Evidence, Verdict
from tooling.pr.pull import PullRequest

CODES = {
    "empty": "There is no title, or nothing is left of it without tags.",
    "default": "The title is one that GitHub's web editor proposes.",
    "branch": "The title is the name of the branch.",
    "number": "The title is only the number of an issue.",
    "cut": "The title is cut off and goes on in the description.",
    "characters": "The title holds control or bidirectional characters.",
    "length": "The title is shorter or longer than the settings allow.",
    "unsaid": "Nobody has said what the title is.",
    "judge": "Nothing is wrong with the title that a machine can see.",
}
BOX = "The title says what changes, in words that a user of the library understands."
ALIASES = ()
OPTIONS = {"min": 10, "max": 100}
READS = "request"

_TAGS = re.compile(r"^(?:\s*(?:\[[^\]]*\]|\((?:wip|draft)\)|(?:wip|draft):))+", re.IGNORECASE)
_DEFAULT = re.compile(
    r"(?:(?:update|create|delete|rename|add) [\w./-]+\.\w+|add files via upload|patch[- ]?\d+|initial commit|"
    r"update (?:readme|changelog)|merge (?:pull request|branch|remote-tracking branch)\b.*)",
    re.IGNORECASE,
)
_SYMBOLS = ("So", "Sk", "Cf", "Mn", "Zs")


def judge(pull: PullRequest) -> Decision:
    """Fail an empty or default title, warn of what looks odd, and leave the rest to a person."""
    title = pull.request.title
    if title is None:
        return Decision(Verdict.MANUAL, "title/unsaid", "no title is known yet", mend="give it with --title")
    shown = (Evidence(title), Evidence(f"from {pull.request.source}"))
    for verdict, what, message in _faults(title, pull):
        return Decision(verdict, f"title/{what}", message, shown, "write what changes for a user")
    return Decision(Verdict.MANUAL, "title/judge", "does it say what changes, and to whom it matters?", shown)


def _faults(title: str, pull: PullRequest) -> Iterator[tuple[Verdict, str, str]]:
    """What is wrong with the title, the worst first."""
    core = _core(title)
    low, high = pull.option("title", "min"), pull.option("title", "max")
    if not core:
        yield Verdict.FAIL, "empty", "the title is empty"
    if _DEFAULT.fullmatch(core):
        yield Verdict.FAIL, "default", "the title is one that an editor proposes"
    if visible_line(title) != title:
        yield Verdict.WARN, "characters", "the title holds characters that cannot be seen"
    if re.fullmatch(r"(?:issue|fix(?:es)?|bug|pr)?\s*(?:gh-|#)?[0-9]+", core, re.IGNORECASE):
        yield Verdict.WARN, "number", "the title is only a number"
    if _plain(core) == _plain(pull.request.head_ref.rpartition("/")[2]) and title not in (
        each.subject for each in pull.changed_commits
    ):
        yield Verdict.WARN, "branch", "the title is the name of the branch"
    if core.endswith(("…", "...")):
        yield Verdict.WARN, "cut", "the title is cut off"
    if not low <= _columns(core) <= high:
        yield Verdict.WARN, "length", f"the title has {_columns(core)} columns; {low} to {high} read well"


def _core(title: str) -> str:
    """The title without tags in front of it and pictures around it."""
    words = _TAGS.sub("", title)
    while words and unicodedata.category(words[0]) in _SYMBOLS:
        words = words[1:]
    return words.strip()


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.replace("_", " ").casefold()))


def _columns(text: str) -> int:
    """How wide the text is on a terminal: a Chinese letter says, and takes, as much as two Latin ones."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)
