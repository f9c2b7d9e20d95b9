"""Read the payload of a workflow event: one JSON object in a file, or an honest error."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from tooling.errors import Exit, UserError

LARGEST = 25 * 2**20
"""Bytes; GitHub sends no payload above 25 MB."""


def read_payload(path: str) -> Mapping[str, Any]:
    """The payload in a file; UserError (environment) that names the file where it is not one JSON object."""
    try:
        size = os.path.getsize(path)
        if size > LARGEST:
            raise _broken(path, f"is {size:,} bytes; GitHub sends at most {LARGEST:,}")
        with open(path, "rb") as file:
            content = file.read()
    except OSError as error:
        raise _broken(path, f"cannot be read: {error.strerror}") from error
    if not content.strip():
        raise _broken(path, "is empty")
    try:
        payload = json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        start = content.startswith(b"\xef\xbb\xbf")
        raise _broken(path, "starts with a byte order mark" if start else "is not JSON in UTF-8") from error
    if not isinstance(payload, dict):
        raise _broken(path, "is JSON, but not an object")
    return payload


def _broken(path: str, what: str) -> UserError:
    hint = "give another with --event FILE"
    return UserError(f"the event payload {path} {what}", hint=hint, exit=Exit.ENVIRONMENT)
