"""The files of a commit, out of git's object database."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from typing import IO, cast

from checks import git
from checks.tree import REGULAR, Tree


class CommitTree:
    """The files of a commit or tree object, read from the object database.

    `beside` is a tree on disk: a file with the same key there is read from it, which is much faster.
    """

    def __init__(self, root: str, tree: str, *, beside: Tree | None = None) -> None:
        self.folder: str | None = None
        self._root = root
        self._beside = beside
        self._process: subprocess.Popen[bytes] | None = None
        keys: dict[str, str] = {}
        others: set[str] = set()
        for record in git.ask(root, "ls-tree", "-r", "-z", "--full-tree", tree).split(b"\0"):
            meta, _, name = record.partition(b"\t")
            if meta[:6] in REGULAR:
                keys[os.fsdecode(name)] = meta.rpartition(b" ")[2].decode("ascii")
            elif name:
                others.add(os.fsdecode(name))
        self.keys: Mapping[str, str] = keys
        self.others = frozenset(others)

    def read(self, path: str) -> bytes:
        key = self.keys[path]
        if self._beside is not None and self._beside.keys.get(path) == key:
            return self._beside.read(path)
        return self._object(key)

    def outdated(self) -> frozenset[str]:
        return self._beside.outdated() if self._beside is not None else frozenset()

    def close(self) -> None:
        """End the git process that serves the objects, if one was started."""
        if self._process is not None:
            self._process.communicate()
            self._process = None

    def _object(self, key: str) -> bytes:
        if self._process is None:
            self._process = subprocess.Popen(
                git.command(self._root, "cat-file", "--batch"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=git.environment(),
            )
        ask, answer = cast(IO[bytes], self._process.stdin), cast(IO[bytes], self._process.stdout)
        ask.write(key.encode("ascii") + b"\n")
        ask.flush()
        header = answer.readline().split()
        if len(header) != 3:
            raise FileNotFoundError(f"object {key} is not in this clone")
        content = answer.read(int(header[2]))
        answer.read(1)
        return content
