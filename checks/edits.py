"""Turn edits into what files become: whole lines in, the file's own line ends, encoding and byte order mark kept."""

from __future__ import annotations

import ast
import codecs
import os
import warnings
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from checks.facts.syntax import LARGEST
from checks.model import Edit
from checks.text import encoding_of, line_end_of, split_lines
from checks.tree import Tree


class Change(NamedTuple):
    """One file before and after; None where it does not exist."""

    path: str
    before: bytes | None
    after: bytes | None


class Refusal(NamedTuple):
    """Edits of a file that are not made, and why."""

    path: str
    why: str


def plan_changes(tree: Tree, groups: Iterable[Sequence[Edit]]) -> tuple[tuple[Change, ...], tuple[Refusal, ...]]:
    """What files become when groups of edits are applied, each group wholly or not at all.

    A group that overlaps an earlier one is left for the next pass. Refused are a group whose own edits overlap, a path
    that leaves the tree or leads through a link, text that the file's encoding cannot hold, and a Python file that
    parsed and would no longer.
    """
    apart = _apart(groups)
    changes, refused = _combine(tree, apart)
    if not refused:
        return changes, ()
    # Somebody's edit spoils a file: take the groups that meet there one by one, so that the good ones are kept.
    doubtful = _reached({refusal.path for refusal in refused}, apart)
    kept = [group for group in apart if not _paths(group) & doubtful]
    good: list[Sequence[Edit]] = []
    refusals: list[Refusal] = []
    for group in apart:
        if _paths(group) & doubtful:
            _, refused = _combine(tree, [*good, group])
            refusals.extend(refused)
            if not refused:
                good.append(group)
    return _combine(tree, [*kept, *good])[0], tuple(refusals)


def apply(before: bytes | None, edits: Sequence[Edit]) -> bytes | None:
    r"""The bytes of a file after edits that do not overlap; None if all of its lines are deleted.

    >>> apply(b"a\r\nb\r\n", [Edit("f", 2, 2, "c\nd\n")])
    b'a\r\nc\r\nd\r\n'
    """
    content = before or b""
    mark = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
    lines = split_lines(content[len(mark) :])
    encoding, end = encoding_of(content), line_end_of(lines)
    for edit in sorted(edits, key=lambda edit: (edit.first, edit.last), reverse=True):
        new = edit.text.encode(encoding, "surrogateescape").replace(b"\n", end)
        if new and edit.first > len(lines) and lines and not lines[-1].endswith((b"\n", b"\r")):
            lines[-1] += end
        lines[edit.first - 1 : edit.last] = split_lines(new)
    if not lines:
        return None if content else before
    for place, (line, following) in enumerate(pairwise(lines), 1):
        if line.endswith(b"\r") and following == b"\n":  # together they would be one line end
            lines[place] = b"\r\n"
    return mark + b"".join(lines)


def parses(content: bytes) -> bool:
    """Whether the bytes of a file are Python source that this interpreter can parse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", category=Warning)
            ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _apart(groups: Iterable[Sequence[Edit]]) -> list[Sequence[Edit]]:
    """The groups that overlap none before them."""
    apart: list[Sequence[Edit]] = []
    taken: dict[str, list[Edit]] = {}
    for group in groups:
        if not any(_overlap(edit, other) for edit in group for other in taken.get(edit.path, ())):
            apart.append(group)
            for edit in group:
                taken.setdefault(edit.path, []).append(edit)
    return apart


def _paths(group: Sequence[Edit]) -> set[str]:
    return {edit.path for edit in group}


def _reached(paths: set[str], groups: Sequence[Sequence[Edit]]) -> set[str]:
    """Paths, and all that share a group with one of them, directly or through others."""
    while more := {path for group in groups if _paths(group) & paths for path in _paths(group)} - paths:
        paths = paths | more
    return paths


def _combine(tree: Tree, groups: Iterable[Sequence[Edit]]) -> tuple[tuple[Change, ...], tuple[Refusal, ...]]:
    """What files become with all groups, and the files for which that is refused."""
    by_path: dict[str, list[Edit]] = {}
    for group in groups:
        for edit in group:
            by_path.setdefault(edit.path, []).append(edit)
    changes: list[Change] = []
    refusals: list[Refusal] = []
    for path, edits in sorted(by_path.items()):
        try:
            before = tree.read(path) if path in tree.keys else None
            after = apply(before, edits)
        except UnicodeEncodeError as error:
            refusals.append(Refusal(path, f"its encoding, {error.encoding}, cannot hold the new text"))
        except OSError as error:
            refusals.append(Refusal(path, f"it cannot be read: {error.strerror or error}"))
        else:
            if why := _why_not(tree, path, edits, before, after):
                refusals.append(Refusal(path, why))
            elif after != before:
                changes.append(Change(path, before, after))
    return tuple(changes), tuple(refusals)


def _why_not(tree: Tree, path: str, edits: Sequence[Edit], before: bytes | None, after: bytes | None) -> str:
    """Why edits of a file are not made; empty if they may be."""
    parts = path.replace(os.sep, "/").split("/")
    if {"", ".", ".."} & {*parts} or ".git" in path.lower().split("/") or os.path.splitdrive(path)[0]:
        return "it lies outside of the tree"
    if any(path == other or path.startswith(f"{other}/") for other in tree.others):
        return "it is, or lies in, a symbolic link or a submodule"
    if any(_overlap(*pair) for pair in pairwise(sorted(edits, key=lambda edit: (edit.first, edit.last)))):
        return "edits of one finding overlap"
    if path.endswith((".py", ".pyi")):
        if max(len(before or b""), len(after or b"")) > LARGEST:
            return "it is too large to see whether the result parses"
        if parses(before or b"") and not parses(after or b""):
            return "the result would not parse"
    return ""


def _overlap(one: Edit, other: Edit) -> bool:
    """Whether two edits of one file touch the same lines, or insert where the other one changes something."""
    return one.first <= max(other.last, other.first) and other.first <= max(one.last, one.first)
