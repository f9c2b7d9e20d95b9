"""Write changes to disk: each file whole or not at all, with its mode and owner, and never through a link."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Sequence
from contextlib import suppress

from checks.edits import Change
from checks.errors import CheckError


def write_changes(folder: str, changes: Sequence[Change]) -> None:
    """Write all changes to disk: each file whole or not at all, and none if one was edited by somebody meanwhile.

    Every new text is on the disk before the first file is replaced, so a full disk changes nothing. CheckError where
    a file may not be written or is no longer what the plan was made from.
    """
    # Named before they are made, so that an interrupt at any point leaves none behind. Deletions come last.
    token = os.urandom(4).hex()
    steps = [
        (change, f"{folder}/{change.path}", f"{folder}/{os.path.dirname(change.path)}/.mergeready-{token}-{number}")
        for number, change in enumerate(sorted(changes, key=lambda change: change.after is None))
    ]
    path, done = "", 0
    try:
        for change, full, temporary in steps:
            path = change.path
            _refuse_if_not_ours(folder, change)
            if change.after is not None:
                _stage(full, temporary, change.after)
        for change, full, temporary in steps:
            path = change.path
            if change.after is None:
                os.unlink(full)
            else:
                os.replace(temporary, full)
            done += 1
    except OSError as error:
        hint = f"{done} of {len(steps)} files were written before it; run it again" if done else "nothing was changed"
        raise CheckError(f"cannot write {path}: {error.strerror}", hint=hint, environment=True) from error
    finally:
        for _, _, temporary in steps:
            with suppress(OSError):
                os.unlink(temporary)


def _refuse_if_not_ours(folder: str, change: Change) -> None:
    """Raise where a file is not what the plan was made from, or may not be written."""
    full = f"{folder}/{change.path}"
    parts = change.path.split("/")
    if any(os.path.islink("/".join((folder, *parts[: count + 1]))) for count in range(len(parts))):
        raise OSError(errno.ELOOP, "it is, or lies in, a symbolic link")
    if _content(full) != change.before:
        hint = "nothing was changed; run it again"
        raise CheckError(f"{change.path} was changed while we ran", hint=hint, environment=True)
    if change.before is not None and not os.access(full, os.W_OK):
        # Replacing it would work where the folder may be written, but somebody has protected the file.
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def _content(full: str) -> bytes | None:
    try:
        with open(full, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _stage(full: str, temporary: str, content: bytes) -> None:
    """Put content on the disk beside `full`, with its mode and owner, ready to take its place."""
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(temporary, "xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    if os.path.exists(full):
        facts = os.stat(full)
        if sys.platform != "win32":
            with suppress(OSError):  # a file of somebody else: only root may keep it theirs
                os.chown(temporary, facts.st_uid, facts.st_gid)
        os.chmod(temporary, stat.S_IMODE(facts.st_mode))
