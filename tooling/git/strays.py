"""Files that git's older merge leaves beside a path in conflict, under a name of its own, when that has been given up.

Where one side has a file and the other a folder, git writes the file as `name~HEAD`. The merge that a rebase uses since
git 2.34, and `git stash` since 2.37, puts such a file into the index, and takes it away with the conflict; the one
before it forgets it.
"""

from __future__ import annotations

import re
from pathlib import Path

from tooling.git import parse
from tooling.git.blob import content_of, id_of
from tooling.git.command import Git
from tooling.git.journal import Entry
from tooling.git.state import Repo

_MERGES_CLEANLY = (2, 37)
# What a rebase and `git stash apply` call their two sides, and the number that makes the name a free one.
_BESIDE = re.compile(r".~(HEAD|Updated upstream|Stashed changes|[0-9a-f]{4,64} \(.*\))(_\d+)?", re.DOTALL)


def read_beside(repo: Repo, git: Git) -> tuple[str, ...] | None:
    """The user's own files with names as git would give them; None where this git forgets none."""
    if repo.version >= _MERGES_CLEANLY and repo.setting("pull.twohead") != "recursive":
        return None
    return tuple(sorted(_beside(git)))


def left_behind(git: Git, entry: Entry) -> set[str]:
    """The files that were not there when the entry was begun, and that git has named."""
    return set() if entry.beside is None else _beside(git).difference(entry.beside)


def drop_unchanged(repo: Repo, git: Git, entry: Entry) -> None:
    """Remove those of them that are as git wrote them; what somebody has written into one stays."""
    for path in left_behind(git, entry):
        place = Path(repo.root, path)
        content = content_of(place)
        if content is not None and git.line("cat-file", "-t", id_of(content, len(entry.old))) == "blob":
            place.unlink()


def _beside(git: Git) -> set[str]:
    names = parse.records(git.ask("ls-files", "--others", "-z", "--", "*~*"))
    return {name for name in names if _BESIDE.search(name.rpartition("/")[2])}
