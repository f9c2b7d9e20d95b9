"""The object id that git gives to bytes, whatever filters and attributes say."""

from __future__ import annotations

import hashlib


def id_of(content: bytes, width: int) -> str:
    """The id of these bytes.

    >>> id_of(b"", 40)
    'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
    """
    digest = hashlib.sha1 if width == 40 else hashlib.sha256  # the hash is git's, by the width of its ids
    return digest(b"blob %d\0" % len(content) + content).hexdigest()
