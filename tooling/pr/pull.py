"""All that the checklist knows of a pull request, as one value."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from tooling.ledger import Run
from tooling.pr.diff import Branch, Commit, NoHistory
from tooling.pr.event import Request
from tooling.pr.objects import Objects
from tooling.pr.settings import Settings
from tooling.pr.sources import Sources


class CheckRun(NamedTuple):
    """What another job, or a commit status, says of the head commit.

    `outcome` is GitHub's conclusion (`success`, `failure`, `skipped`, …), empty while it is pending.
    """

    name: str
    outcome: str


class PullRequest(NamedTuple):
    """A pull request: what is written on it, what its branch brings, and what was run on it.

    `paths` are all files at the head. `runs` are recorded test runs of exactly the tree at the head, oldest first.
    `checks` is what GitHub reports for the head commit, None where it was not asked.
    """

    request: Request
    branch: Branch | NoHistory
    settings: Settings
    objects: Objects
    sources: Sources
    paths: Iterable[str] = ()
    runs: tuple[Run, ...] = ()
    checks: tuple[CheckRun, ...] | None = None

    @property
    def changed(self) -> Branch:
        """The branch, for an item that is judged only where there is one."""
        assert isinstance(self.branch, Branch)
        return self.branch

    @property
    def changed_commits(self) -> tuple[Commit, ...]:
        """The commits of the branch, none where its history is not known."""
        return self.branch.commits if isinstance(self.branch, Branch) else ()

    def option(self, item: str, key: str) -> Any:
        """An item's own setting, or its default."""
        return self.settings.option(item, key)
