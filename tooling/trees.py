"""The id of the tree that all files of a checkout would make if everything was committed now."""

from __future__ import annotations

import os
import shutil
import tempfile

from checks import git
from tooling.git.command import Git


def tree_now(repository: git.Repository) -> str:
    """The id of a tree of all files, changed and new ones included, that git would carry; nothing is written.

    It equals `HEAD^{tree}` where there is nothing to commit, and the tree of the commit that takes everything.
    UserError where git cannot tell.
    """
    objects = _path(repository, "objects")
    index = _path(repository, "index")
    with tempfile.TemporaryDirectory(prefix="mergeready-") as folder:
        own = os.path.join(folder, "index")
        if os.path.exists(index):
            shutil.copyfile(index, own)
        os.mkdir(os.path.join(folder, "objects"))
        beside = Git(repository.root).with_environment(
            GIT_INDEX_FILE=own,
            GIT_OBJECT_DIRECTORY=os.path.join(folder, "objects"),
            GIT_ALTERNATE_OBJECT_DIRECTORIES=_quoted(objects),
        )
        beside.ask("add", "--all", "--", ":/")
        return beside.ask("write-tree").decode("ascii").strip()


def _path(repository: git.Repository, name: str) -> str:
    found = os.fsdecode(git.ask(repository.root, "rev-parse", "--git-path", name)).removesuffix("\n")
    return os.path.join(repository.root, found)


def _quoted(path: str) -> str:
    """A path as GIT_ALTERNATE_OBJECT_DIRECTORIES takes it, whatever it holds (git(1))."""
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'
