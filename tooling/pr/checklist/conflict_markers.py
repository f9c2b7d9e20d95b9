"""No conflict markers are left in what the branch changes.

A line of equal signs alone is a heading in many texts, so only `<<<<<<<` and `>>>>>>>` count, where both begin a line
and the base side of the file has fewer of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tooling.pr.model import Decision, Evidence, Verdict
from tooling.pr.objects import LARGEST
from tooling.pr.pull import PullRequest

CODES = {
    "found": "A file holds conflict markers that the base does not have.",
    "none": "No changed file holds new conflict markers.",
    "missing": "The content of a changed file is not in this clone.",
}
BOX = ""
ALIASES = ()
OPTIONS: dict[str, object] = {}
READS = "change"

_OPEN, _CLOSE = re.compile(rb"^<{7}(?: .*)?\r?$", re.MULTILINE), re.compile(rb"^>{7}(?: .*)?\r?$", re.MULTILINE)


def judge(pull: PullRequest) -> Decision:
    """Fail where markers were added; unknown where content is missing and nothing was found elsewhere."""
    missing = []
    found = []
    for change in pull.changed.changes:
        if not change.is_file or change.id == change.old_id or (pull.objects.size(change.id) or 0) > LARGEST:
            continue
        content = pull.objects.read(change.id)
        if content is None:
            missing.append(Evidence("not in this clone", change.path))
        elif _OPEN.search(content) and _CLOSE.search(content):
            before = (pull.objects.read(change.old_id) if change.old_id else b"") or b""
            if len(_OPEN.findall(content)) > len(_OPEN.findall(before)):
                found += [Evidence("conflict marker", change.path, line) for line in _lines(content)]
    if found:
        return Decision(
            Verdict.FAIL,
            "conflict-markers/found",
            f"conflict markers that were committed: {len(found)}",
            tuple(found),
            "resolve the conflict, and commit what is meant",
        )
    if missing:
        return Decision(
            Verdict.UNKNOWN, "conflict-markers/missing", "contents are missing", tuple(missing), "git fetch"
        )
    return Decision(Verdict.PASS, "conflict-markers/none", "no conflict markers")


def _lines(content: bytes) -> Iterator[int]:
    for opened in _OPEN.finditer(content):
        yield content.count(b"\n", 0, opened.start()) + 1
