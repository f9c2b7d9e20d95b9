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


class GitObjects:
    """The objects of a repository; `close` ends the process that serves them."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._sizes: dict[str, int | None] = {}
        self._process: subprocess.Popen[bytes] | None = None

    def measure(self, keys: Iterable[str]) -> None:
        """Learn many sizes at once, so that asking for each takes no round trip."""
        wanted = sorted(set(keys) - self._sizes.keys())
        asked = "".join(f"{key}\n" for key in wanted).encode("ascii")
        answer = Git(self._root).ask("cat-file", "--batch-check", stdin=asked)
        for key, line in zip(wanted, answer.splitlines(), strict=True):
            words = line.split()
            self._sizes[key] = int(words[2]) if len(words) == 3 else None

    def size(self, key: str) -> int | None:
        if key not in self._sizes:
            self.measure([key])
        return self._sizes[key]

    def read(self, key: str) -> bytes | None:
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
            return None
        content = answer.read(int(header[2]))
        answer.read(1)
        return content

    def close(self) -> None:
        """End the process, if one was started."""
        if self._process is not None:
            self._process.communicate()
            self._process = None
