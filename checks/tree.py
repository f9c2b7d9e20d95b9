"""What a run looks at: a set of files with a content key each, from the working tree, a commit, a folder or memory."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from typing import Protocol

from checks import git

REGULAR = (b"100644", b"100755", b"100664")
"""The modes of entries that are files."""
_LARGE = 32 << 20  # bytes
_KEPT = 64 << 20  # bytes of changed files kept in memory
_CLOCK_STEP = 20_000_000  # nanoseconds by which the times of files may lag behind the clock


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

    def outdated(self) -> frozenset[str]:
        """Keys that may not belong to the bytes that were read: of files that changed since the tree was made."""
        ...


class WorkTree:
    """The files that git tracks, as they are on disk, and the untracked ones that it does not ignore."""

    def __init__(self, root: str, listing: Listing | None = None) -> None:
        self.folder: str = root
        self._bytes: dict[str, bytes] = {}
        self._kept = 0
        listing = listing or Listing(root)
        self._listed_at = listing.began
        keys, others, dirty = _parse_listing(listing.output())
        self._add_dirty(keys, dirty, others)
        self.keys: Mapping[str, str] = keys
        self.others = frozenset(others)

    def read(self, path: str) -> bytes:
        if path in self._bytes:
            return self._bytes[path]
        with open(f"{self.folder}/{path}", "rb") as file:
            return file.read()

    def outdated(self) -> frozenset[str]:
        return frozenset(key for path, key in self.keys.items() if self._is_outdated(path, key))

    def _is_outdated(self, path: str, key: str) -> bool:
        try:
            facts = os.stat(f"{self.folder}/{path}")
            changed_at = max(facts.st_mtime_ns, facts.st_ctime_ns)
            return changed_at > self._listed_at - _CLOCK_STEP and _key(f"{self.folder}/{path}")[0] != key
        except OSError:  # gone: what was read of it was read while it was as listed
            return False

    def _add_dirty(self, keys: dict[str, str], dirty: Mapping[str, bool], others: set[str]) -> None:
        for path, link in sorted(dirty.items()):
            keys.pop(path, None)
            others.discard(path)
            full = f"{self.folder}/{path}"
            if path.endswith("/") or os.path.islink(full) or (link and os.path.isdir(full)):
                others.add(path.rstrip("/"))
            elif os.path.isfile(full):
                keys[path] = self._read_key(path)
        # Where a folder has become a link, the files that were in it are gone, whatever lies behind the link.
        behind = tuple(f"{path}/" for path in others & dirty.keys())
        for path in [path for path in keys if path.startswith(behind)] if behind else ():
            del keys[path]

    def _read_key(self, path: str) -> str:
        """The key of what is on disk; what it was made from is kept, so that a later edit does not come between."""
        try:
            key, content = _key(f"{self.folder}/{path}")
        except OSError:
            return "unreadable"
        if content is not None and self._kept + len(content) <= _KEPT:
            self._bytes[path] = content
            self._kept += len(content)
        return key


class Listing:
    """Git listing what a `WorkTree` is made of, from any folder of the checkout, while the caller goes on.

    One process looks at the files that git knows and another for new ones, at the same time: each takes half as long.
    """

    def __init__(self, folder: str) -> None:
        whole = ("-z", "--full-name", "--", ":/")
        self._known = git.Started(folder, "ls-files", "-v", "-s", "-c", "-m", "-d", *whole)
        self.began = self._known.began
        try:
            self._new = git.Started(folder, "ls-files", "-t", "-o", "--exclude-standard", *whole)
        except BaseException:
            self._known.close()
            raise

    def output(self) -> bytes:
        """Records with a tag each, ended by NUL; CheckError with git's own first line where it failed."""
        try:
            return self._known.output() + self._new.output()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Have git stop, where nobody wants to know any more."""
        self._known.close()
        self._new.close()


class FolderTree:
    """Every file below a folder, for one that is in no repository; hidden and cache folders are left out."""

    def __init__(self, root: str) -> None:
        self.folder: str = root
        keys: dict[str, str] = {}
        others: set[str] = set()
        for where, folders, names in os.walk(root):
            folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "__pycache__")
            for name in (*folders, *names):
                full = os.path.join(where, name)
                path = os.path.relpath(full, root).replace(os.sep, "/")
                try:
                    facts = os.lstat(full)
                except OSError:  # gone again
                    continue
                if stat.S_ISREG(facts.st_mode):
                    keys[path] = f"{facts.st_mtime_ns:x}-{facts.st_size:x}-{facts.st_ino:x}"
                elif not stat.S_ISDIR(facts.st_mode):
                    others.add(path)
        self.keys: Mapping[str, str] = keys
        self.others = frozenset(others)

    def read(self, path: str) -> bytes:
        with open(f"{self.folder}/{path}", "rb") as file:
            return file.read()

    def outdated(self) -> frozenset[str]:
        return frozenset()  # nothing of a folder is kept


class MemoryTree:
    """Texts by path: for a rule's examples, and for the tree that edits would make."""

    def __init__(self, contents: Mapping[str, bytes], *, others: frozenset[str] = frozenset()) -> None:
        self.folder: str | None = None
        self.others = others
        self._contents = contents
        self.keys: Mapping[str, str] = {path: _sha1(content) for path, content in contents.items()}

    def read(self, path: str) -> bytes:
        return self._contents[path]

    def outdated(self) -> frozenset[str]:
        return frozenset()


def _parse_listing(output: bytes) -> tuple[dict[str, str], set[str], dict[str, bool]]:
    """Blob ids of files that are as committed, links and submodules, and what has to be looked at.

    The last are files that are changed, deleted, unmerged, untracked, or flagged so that git does not look
    (assume-unchanged, skip-worktree), each with whether the index holds it as a link or a submodule.
    """
    keys: dict[str, str] = {}
    others: set[str] = set()
    dirty: dict[str, bool] = {}
    for record in output.split(b"\0"):
        tag, _, rest = record.partition(b" ")
        if tag == b"?":
            dirty[os.fsdecode(rest)] = False
            continue
        meta, _, name = rest.partition(b"\t")
        path = os.fsdecode(name)
        link = meta[:6] not in REGULAR
        if not name:
            continue
        if tag != b"H" or meta[-1:] != b"0":
            dirty[path] = link
        elif link:
            others.add(path)
        else:
            keys[path] = meta[7:-2].decode("ascii")
    return keys, others, dirty


def _key(full: str) -> tuple[str, bytes | None]:
    """The key of a file and its bytes: its blob id, so that facts of an edit serve its commit too.

    A file too large to be source, such as weights that nobody told git to ignore, is not read: its times stand for it.
    """
    with open(full, "rb") as file:
        facts = os.fstat(file.fileno())
        if facts.st_size > _LARGE:
            return f"{facts.st_mtime_ns:x}-{facts.st_ctime_ns:x}-{facts.st_size:x}-{facts.st_ino:x}", None
        content = file.read()
    return _sha1(b"blob %d\0" % len(content) + content), content


def _sha1(content: bytes) -> str:
    import hashlib  # takes two milliseconds, which are better spent while git is at work

    return hashlib.sha1(content, usedforsecurity=False).hexdigest()
