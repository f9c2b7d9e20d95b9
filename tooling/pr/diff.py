"""Read what a branch changes: its commits since it left the base, what each one touches, and the whole.

By plumbing, with `-z`, bytes and full object ids. Attributes and the user's configuration have no say.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import NamedTuple

from checks import git
from tooling.git.command import Git
from tooling.pr.objects import GitObjects
from tooling.pr.raw import RAW, Change, parse_raw

PYTHON = (".py", ".pyi")
READ_BY_NAME = ("mergeready.toml", "pyproject.toml", ".gitattributes")
"""Files whose content at both ends decides how the branch is judged."""


class Commit(NamedTuple):
    """A commit of the branch; `message` is text, whatever encoding it was written in."""

    id: str
    parents: tuple[str, ...]
    message: str
    changes: tuple[Change, ...]

    @property
    def subject(self) -> str:
        """The first line."""
        return self.message.partition("\n")[0]


class Branch(NamedTuple):
    """What a pull request would bring: the commits in `base_tip..head`, oldest first, and their net change.

    `base` is the merge base, `base_tip` the newest commit of the base branch that the clone knows, and `behind` counts
    the commits of the base branch that the branch lacks. `tree` is the id of the tree at `head`.
    """

    head: str
    tree: str
    base: str
    base_tip: str
    behind: int
    commits: tuple[Commit, ...]
    changes: tuple[Change, ...]


class Ends(NamedTuple):
    """The two ends of a branch, as full commit ids: its head, and the newest commit of its base that is here."""

    head: str
    base: str


class NoHistory(NamedTuple):
    """Why there is no branch to judge, and what would help."""

    why: str
    mend: str


def read_branch(repository: git.Repository, ends: Ends, objects: GitObjects) -> Branch | NoHistory:
    """The branch from its merge base with the newest commit of the base to its head.

    NoHistory where the clone is too shallow to tell, or where the two share no history. What will be looked at is read
    ahead into `objects`.
    """
    rows = _walk(repository.root, ends)
    bases = _merge_bases(repository.root, ends, rows)
    edge = _shallow(repository) & {row.id for row in rows if row.side != "-"}
    if edge or (not bases and _shallow(repository)):
        return NoHistory(
            f"this clone is shallow: commits of branch and base whose parents are not here: {len(edge)}",
            "deepen it: mergeready pr --fetch, git fetch --unshallow, or fetch-depth: 0 in actions/checkout",
        )
    if not bases:
        return NoHistory("the branch shares no history with its base", "name another base with --base REF")
    own = [row for row in rows if row.side == ">"]
    whole, touched = _touched(repository.root, ends.head, bases[0], own)
    ids = [*(row.id for row in own), ends.head]
    objects.read_ahead([*ids, *_worth_reading(ends, whole, touched)])
    tree, messages = _read_commits(objects, ids)
    return Branch(
        head=ends.head,
        tree=tree,
        base=bases[0],
        base_tip=ends.base,
        behind=sum(row.side == "<" for row in rows),
        commits=tuple(
            Commit(row.id, row.parents, messages[row.id], tuple(changes))
            for row, changes in zip(own, touched, strict=True)
        ),
        changes=tuple(whole),
    )


class _Row(NamedTuple):
    """A commit of the walk: `>` on the branch, `<` on its base, `-` where both sides meet."""

    side: str
    id: str
    parents: tuple[str, ...]


def _walk(root: str, ends: Ends) -> list[_Row]:
    """Each commit that only one side has, oldest first, and those below them."""
    options = ("--topo-order", "--reverse", "--left-right", "--boundary", "--parents")
    listed = git.ask(root, "rev-list", *options, f"{ends.base}...{ends.head}", "--").decode("ascii")
    rows = (line.split(" ") for line in listed.splitlines())
    return [_Row(first[0], first[1:], tuple(parents)) for first, *parents in rows]


def _merge_bases(root: str, ends: Ends, rows: Sequence[_Row]) -> list[str]:
    """The best commits that both sides share. Each is below a commit of one side alone, so a single one is the one."""
    below = [row.id for row in rows if row.side == "-"]
    if len(below) == 1:
        return below
    return git.attempt(root, "merge-base", "--all", ends.base, ends.head)[1].decode("ascii").split()


def _shallow(repository: git.Repository) -> set[str]:
    """The commits at which a shallow clone ends."""
    try:
        with open(os.path.join(repository.common_dir, "shallow"), encoding="ascii") as file:
            return set(file.read().split())
    except FileNotFoundError:
        return set()


def _touched(root: str, head: str, base: str, own: Sequence[_Row]) -> tuple[list[Change], list[list[Change]]]:
    """What the branch changes as a whole, and what each of its commits does; a merge only where it differs from all.

    The whole is asked for as the head with the merge base for a parent, which git allows: one process for everything.
    It comes last, because from then on git holds the head for a child of the base.
    """
    words = "".join((*(f"{row.id}\n" for row in own), f"{head} {base}\n")).encode("ascii")
    printed = Git(root).ask("diff-tree", "--stdin", "--always", "--root", "-c", *RAW, stdin=words)
    found: list[list[Change]] = []
    for row in parse_raw(printed):
        if row is None:
            found.append([])
        else:
            found[-1].append(row)
    return found[-1], found[:-1]


def _worth_reading(ends: Ends, whole: Sequence[Change], touched: Sequence[Sequence[Change]]) -> set[str]:
    """What items and settings look at: all that is there afterwards, Python as it was before, and files by name."""
    after = {each.id for changes in (whole, *touched) for each in changes if each.is_file}
    before = {each.old_id for each in whole if each.old_id and each.old_path.endswith(PYTHON)}
    return after | before | {f"{end}:{name}" for end in ends for name in READ_BY_NAME}


def _read_commits(objects: GitObjects, ids: Sequence[str]) -> tuple[str, dict[str, str]]:
    """The tree of the last commit, and the messages of all."""
    tree, messages = "", {}
    for key in ids:
        header, _, message = (objects.read(key) or b"").partition(b"\n\n")
        tree = header.partition(b"\n")[0].removeprefix(b"tree ").decode("ascii")
        messages[key] = _decode(message, header)
    return tree, messages


def _decode(message: bytes, header: bytes) -> str:
    declared = re.search(rb"^encoding (.+)$", header, re.MULTILINE)
    for encoding in (declared[1].decode("ascii", "replace") if declared else "utf-8", "utf-8", "latin-1"):
        try:
            return message.decode(encoding)
        except (LookupError, ValueError):
            continue
    raise AssertionError("latin-1 decodes everything")
