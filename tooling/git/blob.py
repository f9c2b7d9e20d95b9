"""What git would store for a file, whatever filters and attributes say, and the object id that it would give it."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path


def id_of(content: bytes, width: int) -> str:
    """The id of these bytes.

    >>> id_of(b"", 40)
    'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
    """
    digest = hashlib.sha1 if width == 40 else hashlib.sha256  # the hash is git's, by the width of its ids
    return digest(b"blob %d\0" % len(content) + content).hexdigest()


def content_of(path: Path) -> bytes | None:
    """The bytes that git would store for a file or a symbolic link, unfiltered; None for what it cannot store."""
    if path.is_symlink():
        return os.fsencode(os.readlink(path))
    return path.read_bytes() if path.is_file() else None
