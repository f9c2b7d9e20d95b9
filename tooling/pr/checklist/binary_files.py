"""Nothing but text is added: an image, a video or a checkpoint stays in the history of every clone for ever.

Every commit of the branch counts, for a file that a later commit deletes is in the history all the same. Contents
decide, not names, and not attributes. A rename brings nothing new, and a Git LFS pointer is welcome where the
attributes ask for one. A commit that came with a merge of the base is not the branch's own.

In `[tool.mergeready.pr.binary-files]`, `allowed` are globs of paths where small files of any kind may be, `small` is
the size in bytes up to which they may, and `text` is the size in bytes from which a text is too large as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from checks.text import encoding_of
from tooling.pr.contents import is_lfs_pointer, kind_of
from tooling.pr.diff import Commit
from tooling.pr.model import Decision, Evidence, Verdict
from tooling.pr.objects import LARGEST
from tooling.pr.pull import PullRequest
from tooling.pr.raw import Change

CODES = {
    "binary": "A commit adds or replaces a file that is no text.",
    "large": "A commit adds or replaces a text that is larger than the settings allow.",
    "unwrapped": "A file that the attributes hand to Git LFS was committed as it is.",
    "deleted": "A commit adds such a file and a later one deletes it: only a squash merge keeps it out.",
    "missing": "The content of a changed file is not in this clone.",
    "text": "Everything that is added is text of ordinary size.",
}
BOX = "No image, video, archive or checkpoint is added; what must be shown is linked."
ALIASES = ()
OPTIONS: dict[str, object] = {"allowed": (), "small": 10_000, "text": 500_000}
READS = "change"


def judge(pull: PullRequest) -> Decision:
    """Fail where the history grows by what is no text; warn where a squash merge would keep it out."""
    wrapped = _lfs_patterns(pull)
    found = [row for commit in pull.changed.commits for row in _faults(pull, commit, wrapped)]
    if not found:
        count = sum(change.is_file for commit in pull.changed.commits for change in commit.changes)
        return Decision(Verdict.PASS, "binary-files/text", f"changed files that were looked at, all text: {count}")
    present = {change.id for change in pull.changed.changes}
    for what, verdict in (("unwrapped", Verdict.FAIL), ("binary", Verdict.FAIL), ("large", Verdict.FAIL)):
        evidence = tuple(row for fault, key, row in found if fault == what and key in present)
        if evidence:
            return Decision(
                verdict, f"binary-files/{what}", _MESSAGES[what].format(len(evidence)), evidence, _MENDS[what]
            )
    gone = tuple(row for fault, _, row in found if fault != "missing")
    if gone:
        return Decision(
            Verdict.WARN, "binary-files/deleted", _MESSAGES["deleted"].format(len(gone)), gone, _MENDS["deleted"]
        )
    unread = tuple(row for _, _, row in found)
    return Decision(
        Verdict.UNKNOWN, "binary-files/missing", _MESSAGES["missing"].format(len(unread)), unread, "git fetch"
    )


_MESSAGES = {
    "unwrapped": "files that should be Git LFS pointers, and are not: {}",
    "binary": "files that are no text, and make every clone larger: {}",
    "large": "texts so large that every clone notices: {}",
    "deleted": "files that were added and deleted again, and stay in the history: {}",
    "missing": "contents that are not in this clone: {}",
}
_MENDS = {
    "unwrapped": "git lfs install, then git add --renormalize the files and amend the commit",
    "binary": "take them out of the commit that adds them, and link to where they are hosted (a data set, an issue)",
    "large": "take them out, make them smaller, or raise `text` in [tool.mergeready.pr.binary-files]",
    "deleted": "take them out of the commit that adds them (git rebase --interactive), or squash when merging",
}


def _faults(pull: PullRequest, commit: Commit, wrapped: tuple[str, ...]) -> Iterator[tuple[str, str, Evidence]]:
    """What is wrong with each file that a commit adds or replaces: fault, blob id, evidence."""
    for change in commit.changes:
        if not change.is_file or change.id in ("", change.old_id):
            continue
        size = pull.objects.size(change.id)
        content = pull.objects.read(change.id) if size is not None and size <= LARGEST else None
        if size is None or (content is None and size <= LARGEST):
            yield "missing", change.id, Evidence("not in this clone", change.path, commit=commit.id)
            continue
        fault, kind = _fault(pull, change, content, size, wrapped)
        if fault:
            yield fault, change.id, Evidence(f"{kind}, {size:,} bytes", change.path, commit=commit.id)


def _fault(
    pull: PullRequest, change: Change, content: bytes | None, size: int, wrapped: tuple[str, ...]
) -> tuple[str, str]:
    if content is None:
        return "large", "a file that is too large to be looked at"
    expected = any(_matches(change.path, pattern) for pattern in wrapped)
    if is_lfs_pointer(content):
        return ("", "") if expected else ("binary", "a Git LFS pointer that no attribute asks for")
    if expected:
        return "unwrapped", "content instead of a Git LFS pointer"
    if size <= pull.option("binary-files", "small") and _is_allowed(pull, change.path):
        return "", ""
    kind = kind_of(content)
    declared = kind == "text that is not UTF-8" and change.path.endswith(".py") and encoding_of(content) != "utf-8"
    if kind and not declared:
        return "binary", kind
    return ("large", "text") if size > pull.option("binary-files", "text") else ("", "")


def _is_allowed(pull: PullRequest, path: str) -> bool:
    return any(fnmatchcase(path, pattern) for pattern in pull.option("binary-files", "allowed"))


def _lfs_patterns(pull: PullRequest) -> tuple[str, ...]:
    """The patterns that `.gitattributes` at the root of the head hands to Git LFS."""
    content = pull.objects.read(f"{pull.changed.head}:.gitattributes") or b""
    rows = (line.split() for line in content.decode("utf-8", "surrogateescape").splitlines())
    return tuple(words[0] for words in rows if "filter=lfs" in words[1:])


def _matches(path: str, pattern: str) -> bool:
    """Whether an attribute pattern means a path; one without a slash means names in every folder (gitattributes(5))."""
    if "/" not in pattern:
        return fnmatchcase(path.rpartition("/")[2], pattern)
    return fnmatchcase(path, pattern.removeprefix("/").replace("**/", "*"))
