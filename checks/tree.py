"""What a run looks at: a set of files with a content key each, from the working tree, a commit, a folder or memory."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Mapping
from typing import IO, Protocol, cast

from checks import git

_REGULAR = (b"100644", b"100755", b"100664")


class Tree(Protocol):
    """Files by path, with forward slashes, relative to `root`; equal keys mean equal bytes.

    `others` are paths that exist but hold no text of their own: symbolic links and submodules.
    `folder` is where the files stand on disk, None where they stand in no folder.
    """

    @property
    def folder(self) -> str | None: ...
    @property
    def keys(self) -> Mapping[str, str]: ...
    @property
    def others(self) -> frozenset[str]: ...
    def read(self, path: str) -> bytes:
        """The bytes of a file; OSError where it is gone or may not be read."""
        ...


class WorkTree:
    """The files that git tracks, as they are on disk, and the untracked ones that it does not ignore."""

    def __init__(self, root: str, listing: git.Started | None = None) -> None:
        self.folder: str = root
        self.keys: Mapping[str, str] = {}
        self._bytes: dict[str, bytes] = {}
        keys: dict[str, str] = {}
        others: set[str] = set()
        dirty: set[str] = set()
        for record in (listing or start_listing(root)).output().split(b"\0"):
            tag, _, rest = record.partition(b" ")
            if tag == b"?":
                dirty.add(os.fsdecode(rest))
                continue
            meta, _, name = rest.partition(b"\t")
            path = os.fsdecode(name)
            if not name:
                continue
            if meta[:6] not in _REGULAR:
                others.add(path)
            elif tag == b"H" and meta[-1:] == b"0":
                keys[path] = meta[7:-2].decode("ascii")
            else:
                # Changed, deleted, unmerged, or flagged so that git does not look (assume-unchanged, skip-worktree).
                dirty.add(path)
        self._add_dirty(keys, dirty, others)
        self.keys = keys
        self.others = frozenset(others)

    def read(self, path: str) -> bytes:
        if path in self._bytes:
            return self._bytes[path]
        with open(f"{self.folder}/{path}", "rb") as file:
            return file.read()

    def _add_dirty(self, keys: dict[str, str], dirty: set[str], others: set[str]) -> None:
        for path in sorted(dirty - others):
            keys.pop(path, None)
            full = f"{self.folder}/{path}"
            if path.endswith("/") or os.path.islink(full):
                others.add(path.rstrip("/"))
            elif os.path.isfile(full):
                keys[path] = self._hash(path)

    def _hash(self, path: str) -> str:
        """The blob id of what is on disk, so that facts of an edit serve its commit too."""
        try:
            content = self._bytes[path] = self.read(path)
        except OSError:
            return "unreadable"
        return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def start_listing(folder: str) -> git.Started:
    """Have git list what a `WorkTree` is made of, from any folder of the checkout, while the caller goes on."""
    states = ("-c", "-m", "-d", "-o", "--exclude-standard")
    return git.Started(folder, "ls-files", "-z", "-v", "-s", *states, "--full-name", "--", ":/")


class CommitTree:
    """The files of a commit or tree object, read from the object database.

    `beside` is a tree on disk: a file with the same key there is read from it, which is much faster.
    """

    def __init__(self, root: str, tree: str, *, beside: WorkTree | None = None) -> None:
        self.folder: str | None = None
        self._root = root
        self._beside = beside
        self._process: subprocess.Popen[bytes] | None = None
        keys: dict[str, str] = {}
        others: set[str] = set()
        for record in git.ask(root, "ls-tree", "-r", "-z", "--full-tree", tree).split(b"\0"):
            meta, _, name = record.partition(b"\t")
            if meta[:6] in _REGULAR:
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


class FolderTree:
    """Every file below a folder, for one that is in no repository; hidden and cache folders are left out."""

    def __init__(self, root: str) -> None:
        self.folder: str = root
        keys: dict[str, str] = {}
        others: set[str] = set()
        for where, folders, names in os.walk(root):
            folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "__pycache__")
            for name in names:
                full = os.path.join(where, name)
                path = os.path.relpath(full, root).replace(os.sep, "/")
                if os.path.islink(full) or not os.path.isfile(full):
                    others.add(path)
                else:
                    facts = os.stat(full)
                    keys[path] = f"{facts.st_mtime_ns:x}-{facts.st_size:x}-{facts.st_ino:x}"
        self.keys: Mapping[str, str] = keys
        self.others = frozenset(others)

    def read(self, path: str) -> bytes:
        with open(f"{self.folder}/{path}", "rb") as file:
            return file.read()


class MemoryTree:
    """Texts by path: for a rule's examples, and for the tree that edits would make."""

    def __init__(self, contents: Mapping[str, bytes], *, others: frozenset[str] = frozenset()) -> None:
        self.folder: str | None = None
        self.others = others
        self._contents = contents
        self.keys: Mapping[str, str] = {
            path: hashlib.sha1(content, usedforsecurity=False).hexdigest() for path, content in contents.items()
        }

    def read(self, path: str) -> bytes:
        return self._contents[path]
