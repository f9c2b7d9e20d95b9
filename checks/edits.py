"""Turn edits into files: whole lines in, the file's own line ends, encoding and mode kept, nothing half-written."""

from __future__ import annotations

import ast
import os
import tempfile
import warnings
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from checks.errors import CheckError
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

    A group that overlaps an earlier one is left for the next pass. A file that parsed as Python and would no longer
    parse is refused, and so is text that the file's encoding cannot hold.
    """
    apart: list[Sequence[Edit]] = []
    for group in groups:
        if not any(_overlaps(edit, other) for edit in group for taken in apart for other in taken):
            apart.append(group)
    changes, refused = _combine(tree, apart)
    if not refused:
        return changes, ()
    # Somebody's edit spoils a file: take the groups one by one, so that it does not take the good ones with it.
    kept: list[Sequence[Edit]] = []
    refusals: list[Refusal] = []
    for group in apart:
        _, refused = _combine(tree, [*kept, group])
        refusals.extend(refused)
        if not refused:
            kept.append(group)
    return _combine(tree, kept)[0], tuple(refusals)


def _combine(tree: Tree, groups: Iterable[Sequence[Edit]]) -> tuple[tuple[Change, ...], tuple[Refusal, ...]]:
    by_path: dict[str, list[Edit]] = {}
    for group in groups:
        for edit in group:
            by_path.setdefault(edit.path, []).append(edit)
    changes: list[Change] = []
    refusals: list[Refusal] = []
    for path, edits in sorted(by_path.items()):
        before = tree.read(path) if path in tree.keys else None
        if any(path == other or path.startswith(f"{other}/") for other in tree.others):
            refusals.append(Refusal(path, "it is, or lies in, a symbolic link or a submodule"))
            continue
        try:
            after = apply(before, edits)
        except UnicodeEncodeError as error:
            refusals.append(Refusal(path, f"its encoding, {error.encoding}, cannot hold the new text"))
            continue
        if path.endswith(".py") and parses(before or b"") and not parses(after or b""):
            refusals.append(Refusal(path, "the result would not parse"))
        elif after != before:
            changes.append(Change(path, before, after))
    return tuple(changes), tuple(refusals)


def apply(before: bytes | None, edits: Sequence[Edit]) -> bytes | None:
    r"""The bytes of a file after edits that do not overlap; None if nothing is left of a file.

    >>> apply(b"a\r\nb\r\n", [Edit("f", 2, 2, "c\nd\n")])
    b'a\r\nc\r\nd\r\n'
    """
    content = before or b""
    lines = split_lines(content)
    encoding, end = encoding_of(content), line_end_of(lines)
    for edit in sorted(edits, key=lambda edit: (edit.first, edit.last), reverse=True):
        new = edit.text.encode(encoding, "surrogateescape").replace(b"\n", end)
        if new and edit.first > len(lines) and lines and not lines[-1].endswith((b"\n", b"\r")):
            lines[-1] += end
        lines[edit.first - 1 : edit.last] = split_lines(new)
    return b"".join(lines) or None


def parses(content: bytes) -> bool:
    """Whether the bytes of a file are Python source that this interpreter can parse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", category=Warning)
            ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def write(folder: str, changes: Sequence[Change]) -> None:
    """Write all changes to disk: each file whole or not at all, and none if one was edited by somebody meanwhile.

    Every new text is on the disk before the first file is replaced, so a full disk changes nothing. CheckError where
    a file may not be written or is no longer what the plan was made from.
    """
    staged: list[tuple[str, str]] = []
    try:
        for change in changes:
            full = f"{folder}/{change.path}"
            if _content(full) != change.before:
                raise CheckError(f"{change.path} was changed while we ran", hint="run it again", environment=True)
            if change.after is not None:
                staged.append((_stage(full, change.after), full))
        while staged:
            os.replace(*staged[0])
            del staged[0]
        for change in changes:
            if change.after is None:
                os.unlink(f"{folder}/{change.path}")
    except OSError as error:
        name = os.path.relpath(str(error.filename or folder), folder)
        raise CheckError(f"cannot write {name}: {error.strerror}", environment=True) from error
    finally:
        for temporary, _ in staged:
            os.unlink(temporary)


def _stage(full: str, content: bytes) -> str:
    """A file beside `full` with its mode, on the disk, ready to take its place."""
    folder = os.path.dirname(full)
    os.makedirs(folder, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=".mergeready-")
    try:
        with open(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, os.stat(full).st_mode & 0o7777 if os.path.exists(full) else 0o666 & ~_umask())
    except BaseException:
        os.unlink(temporary)
        raise
    return temporary


def _content(full: str) -> bytes | None:
    try:
        with open(full, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _overlaps(one: Edit, other: Edit) -> bool:
    if one.path != other.path:
        return False
    # An insertion covers no line; two edits that touch at one line are ambiguous, so they wait for the next pass too.
    return one.first <= max(other.last, other.first) and other.first <= max(one.last, one.first)
