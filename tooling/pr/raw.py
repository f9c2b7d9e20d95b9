"""Read what `git diff-tree` prints: one path that changes, and how, in bytes that no name can break."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

RAW = ("-r", "-z", "-M", "--raw", "--no-abbrev", "--no-ext-diff", "--ignore-submodules=none")
"""Options that no configuration and no attribute can bend; `parse_raw` reads what they give."""
GITLINK = "160000"
"""The mode of a submodule."""


class Change(NamedTuple):
    """One path that a commit, or the whole branch, changes.

    Modes are octal strings, "000000" where there is nothing; ids are full blob ids, empty where there is nothing.
    `status` is git's letter: A, C, D, M, R or T. `old_path` differs from `path` in renames and copies alone. Of a
    merge only what differs from every parent counts; `old_mode` and `old_id` are then those of the first parent.
    """

    path: str
    old_path: str
    status: str
    old_mode: str
    mode: str
    old_id: str
    id: str

    @property
    def is_file(self) -> bool:
        """Whether there is a file afterwards: no deletion, no symbolic link, no submodule."""
        return self.mode.startswith("100")


def parse_raw(output: bytes) -> Iterator[Change | None]:
    """The changes in what `git diff-tree -z --raw --no-abbrev` prints; None for each commit id that is printed."""
    fields = iter(output.removesuffix(b"\0").split(b"\0"))
    for row in fields:
        if not row.startswith(b":"):
            yield None
            continue
        # A merge has a colon, an old mode and an old id for each parent: `::mode mode mode id id id MM`.
        count = len(row) - len(row.lstrip(b":"))
        words = row[count:].decode("ascii").split(" ")
        modes, ids, status = words[: count + 1], words[count + 1 : -1], words[-1]
        old_path = os.fsdecode(next(fields))
        path = os.fsdecode(next(fields)) if count == 1 and status[0] in "RC" else old_path
        yield Change(path, old_path, status[0], modes[0], modes[-1], _present(ids[0]), _present(ids[-1]))


def _present(key: str) -> str:
    return key if key.strip("0") else ""
