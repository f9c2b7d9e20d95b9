"""What is in the way of a checkout: files that git does not track, and names that this file system cannot hold."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator

from tooling.git import parse
from tooling.git.command import Git
from tooling.git.folders import below_a_file, files_at, files_on_the_way
from tooling.git.names import file_system, unfit
from tooling.git.state import Repo


def in_the_way(repo: Repo, git: Git, added: Collection[str]) -> Iterator[str]:
    """Files that git does not track, ignored ones too, at paths that a commit adds or above or below them, sorted."""
    parents: dict[str, str] = {}
    found: dict[str, None] = {}
    nested = {path for path in added if os.path.lexists(os.path.join(repo.root, path, ".git"))}
    if nested:
        # What is below a submodule of this branch is that submodule's own.
        nested.intersection_update(parse.records(git.ask("ls-files", "-z")))
    for path in set(added) - nested:
        folder = os.path.dirname(path)
        if folder not in parents:
            parents[folder] = below_a_file(repo.root, folder)
        found.update(dict.fromkeys([parents[folder]] if parents[folder] else files_at(repo.root, path)))
    if found:
        # A file whose name only changes its case is in nobody's way where that makes no difference.
        same = file_system(repo).same
        tracked = {same(path) for path in parse.records(git.ask("ls-files", "-z"))}
        yield from sorted(_as_spelled(repo.root, path, same) for path in found if same(path) not in tracked)


def in_place_of_edits(repo: Repo) -> tuple[str, ...]:
    """Files that git does not track where the user has put a folder in the place of a file, or a file in a folder's.

    They are part of an edit, and git would delete them when it puts that edit away.
    """
    edited = {change.path for change in repo.edits}
    gone = [change.path for change in repo.edits if "D" in change.code and not change.submodule.startswith("S")]
    return tuple(sorted({file for path in gone for file in files_on_the_way(repo.root, path)} - edited))


def read_unfit(repo: Repo, git: Git, added: Collection[str], commit: str) -> tuple[str, ...]:
    """Those of the paths that a commit adds that cannot be written here, each with the reason."""
    system = file_system(repo)
    listed = ("ls-tree", "-r", "--name-only", "-z", commit)
    tree = parse.records(git.ask(*listed)) if added and (system.ignores_case or system.composes) else []
    return tuple(unfit(added, tree, system))


def _as_spelled(root: str, path: str, same: Callable[[str], str]) -> str:
    """The path with its last name as the folder has it, where that may differ from how upstream spells it."""
    folder, name = os.path.split(path)
    names = os.listdir(os.path.join(root, folder))
    spelled = name if name in names else next((other for other in names if same(other) == same(name)), name)
    return f"{folder}/{spelled}" if folder else spelled
