"""What is known of a repository: frozen values, read once by `read`, and all that planners see.

Names and paths are text in which bytes that are not UTF-8 survive as surrogates. Object ids and ref names are full.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import NamedTuple

HEADS = "refs/heads/"
REMOTES = "refs/remotes/"
BACKUPS = "refs/mergeready/backup/"
EDITS = "refs/mergeready/edits/"
SYNCS = "refs/mergeready/sync/"


class Head(NamedTuple):
    """Where HEAD points: `oid` is empty before the first commit, `ref` is empty where HEAD is detached."""

    oid: str
    ref: str

    @property
    def branch(self) -> str:
        """The branch's own name, empty where HEAD is detached."""
        return self.ref.removeprefix(HEADS)


class Change(NamedTuple):
    """A path that differs between HEAD, index and working tree; `code` is the XY of `git status`, `??` is untracked."""

    path: str
    code: str
    submodule: str = "N..."

    @property
    def untracked(self) -> bool:
        """Whether git does not know the path."""
        return self.code == "??"

    @property
    def unmerged(self) -> bool:
        """Whether the path is in conflict."""
        return "U" in self.code or self.code in ("AA", "DD")

    @property
    def staged(self) -> bool:
        """Whether the index differs from HEAD."""
        return self.code[0] not in ".?" and not self.unmerged

    @property
    def inside_submodule(self) -> bool:
        """Whether only the submodule's own checkout moved or changed, which no rebase of ours touches."""
        return self.submodule.startswith("S") and not self.staged and not self.unmerged


class Remote(NamedTuple):
    """A remote: `url` is what git fetches from, and `pushes` are those it pushes to, as git rewrites them."""

    name: str
    url: str
    promisor: bool = False
    pushes: tuple[str, ...] = ()


class Worktree(NamedTuple):
    """A checkout of this repository; `ref` is empty where its HEAD is detached."""

    path: str
    oid: str
    ref: str


class Operation(NamedTuple):
    """Something that git has begun in this worktree and not ended, such as a rebase or a merge."""

    kind: str
    ref: str = ""
    step: int = 0
    total: int = 0

    @property
    def name(self) -> str:
        """What to call it."""
        return f"an {self.kind}" if self.kind == "am" else f"a {self.kind}"

    @property
    def ways_out(self) -> tuple[tuple[str, ...], ...]:
        """The commands that end it: by going on, or by giving up."""
        if self.kind == "bisect":
            return (("git", "bisect", "reset"),)
        return (("git", self.kind, "--continue"), ("git", self.kind, "--abort"))


class Repo(NamedTuple):
    """A repository as one worktree sees it."""

    root: str
    git_dir: str
    common_dir: str
    version: tuple[int, int]
    head: Head
    refs: Mapping[str, str]
    symbolic: Mapping[str, str]
    """What symbolic refs stand for, both names in full."""
    changes: tuple[Change, ...]
    remotes: tuple[Remote, ...]
    worktrees: tuple[Worktree, ...]
    operation: Operation | None
    shallow: bool
    config: Mapping[str, tuple[str, ...]]
    here: str = "."
    """The folder of it in which the user is."""

    def from_here(self, path: str) -> str:
        """A path as it is typed where the user is."""
        return posixpath.relpath(path, self.here)

    def setting(self, key: str, default: str = "") -> str:
        """The last value of a configuration key, given in lower case but for a subsection."""
        return self.config.get(key, (default,))[-1]

    def remote(self, name: str) -> Remote | None:
        """The remote of that name."""
        return next((remote for remote in self.remotes if remote.name == name), None)

    def main_ref(self, remote: str) -> str:
        """The ref that follows a remote's main branch, as it was when that was last asked; nothing where none does."""
        head = self.symbolic.get(tracking_ref(remote, "HEAD"), "")
        names = (tracking_ref(remote, name) for name in ("main", "master"))
        return head or next((name for name in names if name in self.refs), "")

    @property
    def edits(self) -> tuple[Change, ...]:
        """What is not committed, untracked files and the insides of submodules left aside."""
        return tuple(change for change in self.changes if not change.untracked and not change.inside_submodule)

    def elsewhere(self, ref: str) -> str:
        """The path of another worktree that has this branch checked out, or nothing."""
        others = (tree for tree in self.worktrees if tree.path != self.root)
        return next((tree.path for tree in others if tree.ref == ref), "")


class Commit(NamedTuple):
    """A commit, with what survives a rebase: who wrote it, when, and its whole message."""

    oid: str
    author: str
    date: str
    message: str
    parents: tuple[str, ...] = ()

    @property
    def subject(self) -> str:
        """The first line of the message."""
        return self.message.partition("\n")[0]


def tracking_ref(remote: str, branch: str) -> str:
    """The full name of the ref that follows a remote's branch."""
    return f"{REMOTES}{remote}/{branch}"
