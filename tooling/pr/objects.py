"""Sizes and contents of git objects by full id, from one process each, whatever attributes say of the files."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from typing import IO, Protocol, cast

from checks import git
from tooling.git.command import Git


class Objects(Protocol):
    """Objects by full id. What is not in the clone has no size and no content."""

    def size(self, key: str) -> int | None:
        """Its size in bytes."""
        ...

    def read(self, key: str) -> bytes | None:
        """Its content."""
        ...


LARGEST = 5 * 2**20
"""Bytes; nothing larger is read ahead, and no item reads it."""
BUDGET = 64 * 2**20
"""Bytes that may be read ahead in all."""


class GitObjects:
    """The objects of a repository; `close` ends the process that serves those that were not read ahead."""

    def __init__(self, root: str) -> None:
        self._git = Git(root)
        self._sizes: dict[str, int | None] = {}
        self._contents: dict[str, bytes] = {}
        self._process: subprocess.Popen[bytes] | None = None

    def read_ahead(self, keys: Iterable[str]) -> None:
        """Learn the sizes of many objects at once, and read those that are small: a round trip each would be slow."""
        wanted = sorted(set(keys) - self._sizes.keys())
        answer = self._git.ask("cat-file", "--batch-check", stdin=_lines(wanted))
        for key, line in zip(wanted, answer.splitlines(), strict=True):
            words = line.split()
            self._sizes[key] = int(words[2]) if len(words) == 3 else None
        small = {key: size for key in wanted if (size := self._sizes[key]) is not None and size <= LARGEST}
        if small and sum(small.values()) <= BUDGET:
            answer = self._git.ask("cat-file", "--batch", stdin=_lines(small))
            position = 0
            for key, size in small.items():
                start = answer.index(b"\n", position) + 1
                position = start + size + 1
                self._contents[key] = answer[start : start + size]

    def size(self, key: str) -> int | None:
        if key not in self._sizes:
            self.read_ahead([key])
        return self._sizes[key]

    def read(self, key: str) -> bytes | None:
        # Git takes a name a line, so a path with a line end in it would be taken for two.
        if key in self._contents or self._sizes.get(key, 0) is None or "\n" in key:
            return self._contents.get(key)
        return self._ask(key)

    def _ask(self, key: str) -> bytes | None:
        if self._process is None:
            self._process = subprocess.Popen(
                git.command(self._git.folder, "cat-file", "--batch"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=git.environment(),
            )
        ask, answer = cast(IO[bytes], self._process.stdin), cast(IO[bytes], self._process.stdout)
        ask.write(key.encode("utf-8", "surrogateescape") + b"\n")
        ask.flush()
        header = answer.readline().split()
        if len(header) != 3:
            return None
        content = answer.read(int(header[2]))
        answer.read(1)
        return content

    def close(self) -> None:
        """End the process, if one was started."""
        if self._process is not None:
            self._process.communicate()
            self._process = None


def _lines(keys: Iterable[str]) -> bytes:
    return "".join(f"{key}\n" for key in keys).encode("ascii")
