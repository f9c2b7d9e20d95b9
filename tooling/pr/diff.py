"""Read what a branch changes: its commits since it left the base, what each one touches, and the whole.

By plumbing, with `-z`, bytes and full object ids. Attributes and the user's configuration have no say.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from checks import git
from tooling.git.command import Git
from tooling.pr.objects import GitObjects

RAW = ("-r", "-z", "-M", "--raw", "--no-abbrev", "--no-ext-diff", "--ignore-submodules=none")
GITLINK = "160000"
SYMLINK = "120000"


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


class NoHistory(NamedTuple):
    """Why there is no branch to judge, and what would help."""

    why: str
    mend: str


def read_branch(root: str, head: str, base_tip: str, objects: GitObjects) -> Branch | NoHistory:
    """The branch from its merge base with `base_tip` to `head`, both full commit ids.

    NoHistory where the clone is too shallow to tell, or where the two share no history.
    """
    rows = _walk(root, head, base_tip)
    found = git.attempt(root, "merge-base", "--all", base_tip, head)[1].split()
    if edge := _shallow(root) & {commit for _, commit, _ in rows} or (not found and _shallow(root)):
        return NoHistory(
            f"this clone is shallow ({len(edge)} commits of the branch or its base have parents that are not here)",
            "deepen it: git fetch --unshallow, or fetch-depth: 0 in actions/checkout",
        )
    if not found:
        return NoHistory("the branch shares no history with its base", "name another base with --base REF")
    base = found[0].decode("ascii")
    ids = [commit for side, commit, _ in rows if side == ">"]
    touched = _touched(root, ids)
    objects.read_ahead([*ids, head])
    tree, messages = _read_commits(objects, [*ids, head])
    parents = {commit: above for _, commit, above in rows}
    commits = tuple(Commit(key, parents[key], messages[key], tuple(touched[key])) for key in ids)
    return Branch(
        head=head,
        tree=tree,
        base=base,
        base_tip=base_tip,
        behind=len(rows) - len(ids),
        commits=commits,
        changes=tuple(change for _, change in parse_raw(git.ask(root, "diff-tree", *RAW, base, head))),
    )


def parse_raw(output: bytes) -> Iterator[tuple[str, Change]]:
    """The changes in what `git diff-tree -z --raw --no-abbrev` prints, each with the commit printed before it."""
    commit = ""
    fields = iter(output.split(b"\0"))
    for row in fields:
        if not row.startswith(b":"):
            commit = row.decode("ascii")
            continue
        # A merge has a colon, an old mode and an old id for each parent: `::mode mode mode id id id MM`.
        count = len(row) - len(row.lstrip(b":"))
        words = row[count:].decode("ascii").split(" ")
        modes, ids, status = words[: count + 1], words[count + 1 : -1], words[-1]
        old_path = os.fsdecode(next(fields))
        path = os.fsdecode(next(fields)) if count == 1 and status[0] in "RC" else old_path
        yield commit, Change(path, old_path, status[0], modes[0], modes[-1], _present(ids[0]), _present(ids[-1]))


def _walk(root: str, head: str, base_tip: str) -> list[tuple[str, str, tuple[str, ...]]]:
    """Each commit that only one side has, oldest first: `>` for the branch or `<` for the base, id, parents."""
    listed = git.ask(
        root, "rev-list", "--topo-order", "--reverse", "--left-right", "--parents", f"{base_tip}...{head}", "--"
    )
    rows = (line.split(" ") for line in listed.decode("ascii").splitlines())
    return [(first[0], first[1:], tuple(parents)) for first, *parents in rows]


def _shallow(root: str) -> set[str]:
    """The commits at which a shallow clone ends."""
    path = os.fsdecode(git.ask(root, "rev-parse", "--git-path", "shallow")).rstrip("\n")
    try:
        with open(os.path.join(root, path), encoding="ascii") as file:
            return set(file.read().split())
    except FileNotFoundError:
        return set()


def _touched(root: str, ids: Sequence[str]) -> dict[str, list[Change]]:
    """What each commit changes; a merge only where it differs from all its parents."""
    found: dict[str, list[Change]] = {key: [] for key in ids}
    words = "".join(f"{key}\n" for key in ids).encode("ascii")
    printed = Git(root).ask("diff-tree", "--stdin", "--root", "-c", *RAW, stdin=words)
    for commit, change in parse_raw(printed):
        found[commit].append(change)
    return found


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


def _present(key: str) -> str:
    return key if key.strip("0") else ""
