"""The places beside a branch: upstream's main branch, and the branch on the fork; and how far each is from it."""

from __future__ import annotations

from typing import NamedTuple

from tooling.git.command import Git, Question, text
from tooling.git.plan import RefusedError
from tooling.git.remotes import Roles, find_roles
from tooling.git.state import HEADS, REMOTES, Repo, tracking_ref


class Place(NamedTuple):
    """A ref beside the branch: how many commits it has that the branch does not (`ahead`), and the other way round."""

    name: str
    oid: str
    ahead: int = 0
    behind: int = 0


class Counts:
    """Counts the commits between places, each pair of them once, while something else goes on."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._asked: dict[str, Question] = {}

    def begin(self, repo: Repo) -> None:
        """Begin to count for the places of this repository."""
        for ref in _refs(repo):
            if ref and (between := _between(repo, ref)) not in self._asked:
                self._asked[between] = self._git.start("rev-list", "--left-right", "--count", between)

    def places(self, repo: Repo) -> list[Place | None]:
        """Upstream's main branch, and the branch on the fork, as far as they are there."""
        self.begin(repo)
        return [self._place(repo, ref) if ref else None for ref in _refs(repo)]

    def close(self) -> None:
        """End what nobody has waited for."""
        for question in self._asked.values():
            question.close()

    def _place(self, repo: Repo, ref: str) -> Place:
        ahead, behind = map(int, text(self._asked[_between(repo, ref)].answer()).split())
        return Place(ref.removeprefix(REMOTES), repo.refs[ref], ahead, behind)


def branch_of(repo: Repo) -> str:
    """The full name of the branch that is checked out, or that a rebase in progress belongs to."""
    return repo.head.ref or (repo.operation.ref if repo.operation else "")


def _refs(repo: Repo) -> tuple[str, str]:
    """The refs of the two places, empty for one that is not there, and for both before the first commit."""
    roles = _roles(repo)
    if roles is None or not _tip(repo):
        return "", ""
    main = repo.main_ref(roles.upstream.name)
    own = tracking_ref(roles.fork.name, branch_of(repo).removeprefix(HEADS)) if roles.fork else ""
    return main if main in repo.refs else "", own if own in repo.refs else ""


def _between(repo: Repo, ref: str) -> str:
    return f"{repo.refs[ref]}...{_tip(repo)}"


def _tip(repo: Repo) -> str:
    return repo.refs.get(branch_of(repo), repo.head.oid)


def _roles(repo: Repo) -> Roles | None:
    try:
        return find_roles(repo)
    except RefusedError:  # a picture can do without
        return None
