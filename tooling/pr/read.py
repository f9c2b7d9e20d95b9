"""Put a pull request together: from what is written on it, from git, and from the ledger of test runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache

from checks import git
from checks.errors import CheckError
from checks.trunks import TRUNKS
from tooling import ledger
from tooling.git.command import Git
from tooling.pr.diff import Branch, Ends, NoHistory, read_branch
from tooling.pr.event import Request, check_branch
from tooling.pr.objects import GitObjects
from tooling.pr.pull import PullRequest
from tooling.pr.settings import read_settings
from tooling.pr.sources import Sources


def read_pull(repository: git.Repository, request: Request, objects: GitObjects, *, base: str = "") -> PullRequest:
    """The pull request that a request is about; `base` names the branch to compare with, and wins over the event's.

    CheckError for a base that is not there. A history that this clone lacks is part of the value, not an error.
    """
    ends = _ends(repository.root, request, base)
    branch = ends if isinstance(ends, NoHistory) else read_branch(repository, ends, objects)
    # One's own branch is judged by its own settings, a stranger's by those of its base, or none if that is unknown.
    known = branch.base_tip if isinstance(branch, Branch) else ""
    judged_by = "HEAD" if request.event == "local" else known
    paths = _Paths(repository.root, branch.head) if isinstance(branch, Branch) else ()
    return PullRequest(
        request=_titled(request, branch),
        branch=branch,
        settings=read_settings(_reader(objects, judged_by), lambda: paths),
        objects=objects,
        sources=Sources(objects),
        paths=paths,
        runs=ledger.runs_of(repository.common_dir, branch.tree) if isinstance(branch, Branch) else (),
    )


def local_request(repository: git.Repository) -> Request:
    """What git knows without an event: the name of the branch; UserError (refused) for a name that is none."""
    status, output, _ = git.attempt(repository.root, "symbolic-ref", "--quiet", "HEAD")
    name = os.fsdecode(output).rstrip("\n").removeprefix("refs/heads/") if status == 0 else ""
    check_branch(name)
    return Request(head_ref=name)


@contextmanager
def uncommitted(root: str) -> Iterator[Callable[[], int]]:
    """Count the files with changes that are not committed, while the caller goes on."""
    listing = git.Started(root, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=normal")
    try:
        yield lambda: listing.result()[1].count(b"\0")
    finally:
        listing.result()


def _titled(request: Request, branch: Branch | NoHistory) -> Request:
    """The request with the title that GitHub proposes for a branch of one commit, where nobody has given one."""
    if request.event != "local" or request.title is not None or isinstance(branch, NoHistory):
        return request
    if len(branch.commits) != 1:
        return request
    return request._replace(title=branch.commits[0].subject, source="the only commit")


def _ends(root: str, request: Request, base: str) -> Ends | NoHistory:
    if request.head:
        return _event_ends(root, request, base)
    if request.event != "local" and not request.absent:
        why = "the event tells of a pull request and not which commits it has"
        return NoHistory(why, "let GitHub be asked: set GITHUB_TOKEN")
    return _local_ends(root, base)


def _local_ends(root: str, asked: str) -> Ends | NoHistory:
    """HEAD, and the tip of the branch that it is to be merged into."""
    head, *tips = _commits(root, ("HEAD", *TRUNKS, "refs/heads/main", "refs/heads/master"))
    if not head:
        return NoHistory("there is no commit yet", "commit what is to be judged")
    if found := _named(root, asked) if asked else next(filter(None, tips), ""):
        return Ends(head, found)
    return NoHistory("nothing tells what the branch is to be merged into", "name it with --base REF, or: git fetch")


def _named(root: str, asked: str) -> str:
    """The commit that a user calls by a name; upstream/main is the remote's, whatever a local branch is called."""
    found = _commits(root, (f"refs/remotes/{asked}", asked)) if "\n" not in asked else []
    if commit := next(filter(None, found), ""):
        return commit
    raise CheckError(f"there is no commit {asked!r} here", hint="fetch it, or see: git branch --all")


def _event_ends(root: str, request: Request, asked: str) -> Ends | NoHistory:
    """The head that an event names, and the newest commit of its base that is here.

    The base in a payload was frozen when the branch was last pushed. Actions check out the merge of a pull request,
    whose first parent is the base as it was when the run began.
    """
    tracked = f"refs/remotes/origin/{request.base_ref or request.default_branch or 'HEAD'}"
    head, second, first, tip, frozen = _commits(
        root, (request.head, "HEAD^2", "HEAD^1", tracked, request.base or tracked)
    )
    if not head:
        return NoHistory(
            "the head commit of the event is not in this clone",
            f"git fetch origin refs/pull/{request.number or 'N'}/head, or fetch-depth: 0 in actions/checkout",
        )
    queued = frozen if request.event == "merge_group" else ""
    base = (_named(root, asked) if asked else queued) or (first if second == head else "") or tip or frozen
    return Ends(head, base) if base else NoHistory("the base commit of the event is not here", "git fetch origin")


def _commits(root: str, names: Sequence[str]) -> list[str]:
    """The commit ids that names stand for, empty for one that is not here."""
    asked = "".join(f"{name}^{{commit}}\n" for name in names).encode("utf-8", "surrogateescape")
    rows = [line.split() for line in Git(root).ask("cat-file", "--batch-check", stdin=asked).splitlines()]
    return [row[0].decode("ascii") if len(row) == 3 and row[1] == b"commit" else "" for row in rows]


def _reader(objects: GitObjects, commit: str) -> Callable[[str], str | None]:
    @cache
    def read(path: str) -> str | None:
        content = objects.read(f"{commit}:{path}") if commit else None
        return None if content is None else content.decode("utf-8", "replace")

    return read


class _Paths:
    """All files at a commit; listed when somebody asks."""

    def __init__(self, root: str, commit: str) -> None:
        self._root, self._commit = root, commit
        self._listed: list[str] | None = None

    def __iter__(self) -> Iterator[str]:
        if self._listed is None:
            listed = git.ask(self._root, "ls-tree", "-r", "-z", "--name-only", "--full-tree", self._commit)
            self._listed = [os.fsdecode(name) for name in listed.split(b"\0") if name]
        return iter(self._listed)
