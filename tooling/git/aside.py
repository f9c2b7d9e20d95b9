"""Files that git does not track, put aside where upstream has files of their name, and brought back by an undo.

They are moved and not copied where the file system can: a program that is writing to one goes on writing to it.
"""

from __future__ import annotations

import filecmp
import os
import shutil
from collections.abc import Collection, Iterator
from contextlib import suppress

from tooling.git.folders import below_a_file, drop_if_empty
from tooling.git.journal import Entry, aside_folder
from tooling.git.state import Repo


def set_aside(repo: Repo, entry: Entry, paths: Collection[str]) -> None:
    """Move these of the entry's files out of the way; doing it again moves those that are back, and drops nothing."""
    for path in paths:
        source = os.path.join(repo.root, path)
        if os.path.lexists(source):
            _keep(source, os.path.join(aside_folder(repo, entry), path))
            os.unlink(source)


def still_there(repo: Repo, entry: Entry) -> set[str]:
    """Those of the files that were not moved yet, so that what lies at their path is the user's own."""
    return {path for path in entry.aside if not os.path.lexists(os.path.join(aside_folder(repo, entry), path))}


def in_place_of_edits(repo: Repo, entry: Entry) -> set[str]:
    """Those that stand where the entry has an edit: above it, or below it where it is a folder now."""
    edited = [edit.path for edit in entry.edits]
    return {
        path
        for path in still_there(repo, entry)
        if any(path.startswith(f"{other}/") or other.startswith(f"{path}/") for other in edited)
    }


def put_back(repo: Repo, entry: Entry) -> str:
    """Move back what was put aside; the folder where it stays if something else is in its place by now.

    When a rebase has ended, that is what upstream has there; a file that came and went on the way has left its place.
    """
    blocked = False
    for path in entry.aside:
        kept, target = os.path.join(aside_folder(repo, entry), path), os.path.join(repo.root, path)
        if not os.path.lexists(kept):
            continue
        drop_if_empty(target)
        if not os.path.lexists(target) and not below_a_file(repo.root, path):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            _keep(kept, target)
        if _same(kept, target):
            os.unlink(kept)
        else:
            blocked = True
    return aside_folder(repo, entry) if blocked else ""


def _keep(source: str, target: str) -> None:
    """Have a file under another name too; under one with a number where another file has that name already."""
    os.makedirs(os.path.dirname(target), exist_ok=True)
    free = next(name for name in _names(target) if not os.path.lexists(name) or _same(source, name))
    if os.path.lexists(free):
        return
    try:
        os.link(source, free, follow_symlinks=False)
    except (OSError, NotImplementedError):  # another file system, or one without links
        _copy_whole(source, free)


def _copy_whole(source: str, target: str) -> None:
    """Copy a file so that its copy is there whole or not at all: half of one would be taken for it."""
    draft = f"{target}.draft"
    try:
        shutil.copy2(source, draft, follow_symlinks=False)
        os.replace(draft, target)
    except OSError:
        with suppress(OSError):  # the disk is full: make room for what is still to be written down
            os.unlink(draft)
        raise


def _names(target: str) -> Iterator[str]:
    yield target
    number = 1
    while True:
        number += 1
        yield f"{target}.{number}"


def _same(one: str, other: str) -> bool:
    """Whether two names are one file, two files hold the same, or two links lead to the same."""
    if not os.path.lexists(one) or not os.path.lexists(other):
        return False
    if os.path.samestat(os.lstat(one), os.lstat(other)):
        return True
    if os.path.islink(one) or os.path.islink(other):
        return os.path.islink(one) and os.path.islink(other) and os.readlink(one) == os.readlink(other)
    return os.path.isfile(one) and os.path.isfile(other) and filecmp.cmp(one, other, shallow=False)
