r"""Names that a file system cannot hold, or takes for another's: found before git stops in the middle of a checkout.

Windows keeps words, letters and ends of names to itself, and its paths are short. Windows and macOS do not tell `A`
from `a`, and macOS does not tell an accented letter from the letter and its accent.
"""

from __future__ import annotations

import os
import re
import sys
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from tooling.git.state import Repo
from tooling.git.text import to_git

_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?:[ .:].*)?\Z", re.IGNORECASE)
_FORBIDDEN = re.compile(r'[<>:"|?*\\\x00-\x1f]')
_WINDOWS_PATH = 259
"""The letters of a whole path there, where `core.longPaths` is not set."""


class FileSystem(NamedTuple):
    """What a file system makes of names. Lengths are in bytes, `spare` is what is left of a whole path's."""

    windows: bool = False
    ignores_case: bool = False
    composes: bool = False
    longest_name: int = 255
    spare: int = 4095

    def same(self, path: str) -> str:
        """What is equal for all paths that are one file here."""
        path = unicodedata.normalize("NFC", path) if self.composes else path
        return path.casefold() if self.ignores_case else path


def file_system(repo: Repo) -> FileSystem:
    """What git found out about the file system of a checkout when that was made, and what the system says."""
    windows = sys.platform == "win32"
    long_paths = not windows or _is_set(repo, "core.longpaths")
    return FileSystem(
        windows=windows,
        ignores_case=_is_set(repo, "core.ignorecase"),
        composes=_is_set(repo, "core.precomposeunicode"),
        longest_name=_limit(repo.root, "PC_NAME_MAX", 255),
        spare=_limit(repo.root, "PC_PATH_MAX", 32767) - 1 if long_paths else _WINDOWS_PATH - len(repo.root) - 1,
    )


def unfit(added: Iterable[str], tree: Collection[str], system: FileSystem) -> Iterator[str]:
    """Those of the paths that cannot be written here, each with the reason; `tree` are all paths beside them.

    >>> list(unfit(["src/aux.py"], [], FileSystem(windows=True)))
    ['src/aux.py: Windows keeps that name for a device']
    """
    added = sorted(added)
    for path in added:
        if reason := _reason(path, system):
            yield f"{path}: {reason}"
    if system.ignores_case or system.composes:
        yield from _clashes(set(added), tree, system)


def _reason(path: str, system: FileSystem) -> str:
    parts = path.split("/")
    if len(to_git(path)) > system.spare:
        return "the path is too long"
    if any(len(to_git(part)) > system.longest_name for part in parts):
        return "a name in it is too long"
    if not system.windows:
        return ""
    if any(_RESERVED.match(part) for part in parts):
        return "Windows keeps that name for a device"
    if any(part.endswith((".", " ")) for part in parts):
        return "Windows allows no dot or space at the end of a name"
    return "Windows does not allow one of its characters" if _FORBIDDEN.search(path) else ""


def _clashes(added: set[str], tree: Collection[str], system: FileSystem) -> Iterator[str]:
    """Pairs of paths that would be one file, or a file and a folder, one of each pair being new."""
    files: dict[str, str] = {}
    for path in sorted({*tree, *added}):
        first = files.setdefault(system.same(path), path)
        if first != path and (first in added or path in added):
            yield f"{path}: the same as {first} here"
    for path in sorted({*tree, *added}):
        for end in (number for number, letter in enumerate(path) if letter == "/"):
            first = files.get(system.same(path[:end]), "")
            if first and (first in added or path in added):
                yield f"{path}: {first} is a file here"


def _limit(root: str, name: str, otherwise: int) -> int:
    if sys.platform != "win32":
        with suppress(OSError, ValueError):  # not every file system tells
            return os.pathconf(root, name)
    return otherwise


def _is_set(repo: Repo, key: str) -> bool:
    return repo.setting(key).lower() in ("true", "yes", "on", "1")
