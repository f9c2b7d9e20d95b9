"""Files in conflict: what kind it is, whose side is which, and which still hold conflict markers."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from tooling.git import parse
from tooling.git.command import Git, text
from tooling.git.state import Repo

_KINDS = {
    "123": "both changed it",
    "23": "both added it",
    "12": "changed upstream, deleted by your commit",
    "13": "deleted upstream, changed by your commit",
    "1": "deleted by both",
    "2": "added upstream",
    "3": "added by your commit",
}
# Compiled when they are first needed, and `status` seldom needs them.
_BEGIN, _END = rb"^<{7,}( |$)", rb"^>{7,}( |$)"


class Conflict(NamedTuple):
    """A path in conflict, what happened to it on either side, and whether git remembered a resolution."""

    path: str
    kind: str
    remembered: bool = False


def read_conflicts(git: Git, *, rerere: bool = False) -> tuple[Conflict, ...]:
    """The paths in conflict now; `rerere` says whether git was free to use resolutions that it remembers.

    Stage 2 is upstream with your commits so far, stage 3 is the commit being replayed.
    """
    stages: dict[str, str] = {}
    modes: dict[str, set[str]] = {}
    for record in parse.records(git.ask("ls-files", "--unmerged", "-z")):
        head, _, path = record.partition("\t")
        mode, _, stage = head.split(" ")
        stages[path] = stages.get(path, "") + stage
        modes.setdefault(path, set()).add(mode)
    known = _remembered(git, tuple(stages)) if rerere and stages else set()
    return tuple(
        Conflict(path, "submodule" if "160000" in modes[path] else _KINDS[stage], path in known)
        for path, stage in stages.items()
    )


def _remembered(git: Git, paths: tuple[str, ...]) -> set[str]:
    """Those that git has resolved as it remembers; what it lists are the others, a line each, so that line ends count.

    Whatever it says, a file with markers in it is not resolved.
    """
    remaining = f"\n{text(git.attempt('rerere', 'remaining').out)}\n"
    return {path for path in paths if f"\n{path}\n" not in remaining}.difference(marked(git.folder, paths))


def remembers(repo: Repo) -> bool:
    """Whether git uses resolutions that it has recorded: configured, or by default where it has recorded any."""
    default = "true" if os.path.isdir(os.path.join(repo.common_dir, "rr-cache")) else "false"
    return repo.setting("rerere.enabled", default).lower() in ("true", "1", "yes", "on")


def marked(root: str, paths: Iterator[str] | tuple[str, ...]) -> list[str]:
    """Those of the files that hold conflict markers."""
    return [path for path in paths if _holds_markers(os.path.join(root, path))]


def _holds_markers(path: str) -> bool:
    if os.path.islink(path) or not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        content = file.read()
    return bool(re.search(_BEGIN, content, re.MULTILINE) and re.search(_END, content, re.MULTILINE))
