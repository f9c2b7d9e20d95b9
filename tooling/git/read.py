"""Read a repository: a handful of plumbing commands at once, none of which takes a lock or runs a user's program."""

from __future__ import annotations

import os
from typing import NamedTuple

from tooling.errors import Exit, UserError
from tooling.git import parse
from tooling.git.command import Git, Question, failed, text
from tooling.git.state import BACKUPS, HEADS, REMOTES, SYNCS, Operation, Repo
from tooling.process import Done

OLDEST = (2, 30)
_NOT_HERE = "run it inside a checkout"


class Asked(NamedTuple):
    """Questions to git about the repository around a folder, the answers still to come."""

    start: str
    questions: tuple[Question, ...]


def begin_reading(start: str = ".") -> Asked:
    """Ask git all there is to ask, and come back before it has answered."""
    git = Git(start)
    return Asked(start, tuple(git.start(*arguments) for arguments in _QUESTIONS))


def read_repo(start: str = ".") -> Repo:
    """The repository around a folder; UserError where there is none, or git is too old or does not trust it."""
    return finish_reading(begin_reading(start))


def finish_reading(reading: Asked) -> Repo:
    """The repository that git was asked about; UserError as in `read_repo`."""
    start, asked = reading
    ended = {question.name: question.finish() for question in asked}
    version = parse.version(ended.pop("version").out)
    if version < OLDEST:
        found, needed = _dotted(version), _dotted(OLDEST)
        raise UserError(f"git {found} is too old: {needed} or newer is needed", exit=Exit.ENVIRONMENT)
    root, git_dir, common_dir, shallow = _place(start, ended.pop("rev-parse"))
    for name, done in ended.items():
        if done.status:
            raise failed(name, done)
    status, refs, settings, trees = (ended[name].out for name in ("status", "for-each-ref", "config", "worktree"))
    head, changes = parse.status(status)
    refs_found, symbolic = parse.refs(refs)
    config = parse.config(settings)
    return Repo(
        root=root,
        git_dir=git_dir,
        common_dir=common_dir,
        version=version,
        head=head,
        refs=refs_found,
        symbolic=symbolic,
        changes=changes,
        remotes=parse.remotes(config),
        worktrees=parse.worktrees(trees),
        operation=read_operation(git_dir),
        shallow=shallow,
        config=config,
    )


def read_operation(git_dir: str) -> Operation | None:
    """What git has begun and not ended in the worktree of this git folder; the files of its state are all there is."""
    for name in ("rebase-merge", "rebase-apply"):
        folder = os.path.join(git_dir, name)
        if os.path.isdir(folder):
            kind = "am" if os.path.exists(os.path.join(folder, "applying")) else "rebase"
            steps = ("msgnum", "end") if name == "rebase-merge" else ("next", "last")
            step, total = (_number(os.path.join(folder, file)) for file in steps)
            return Operation(kind, _word(os.path.join(folder, "head-name")), step, total)
    for file, kind in _MARKS.items():
        if os.path.exists(os.path.join(git_dir, file)):
            return Operation(kind)
    return None


_PLACE = ("--absolute-git-dir", "--git-common-dir", "--show-toplevel")
# The one that takes longest goes first.
_QUESTIONS = (
    ("status", "--porcelain=v2", "--branch", "--no-renames", "--untracked-files=normal", "-z"),
    ("rev-parse", "--is-bare-repository", "--is-inside-git-dir", "--is-shallow-repository", *_PLACE),
    ("for-each-ref", f"--format={parse.REF_FORMAT}", HEADS, REMOTES, BACKUPS, SYNCS, "refs/tags/"),
    ("config", "--list", "-z"),
    ("worktree", "list", "--porcelain"),
    ("version",),
)
_MARKS = {"MERGE_HEAD": "merge", "CHERRY_PICK_HEAD": "cherry-pick", "REVERT_HEAD": "revert", "BISECT_LOG": "bisect"}


def _place(start: str, done: Done) -> tuple[str, str, str, bool]:
    """Top folder, git folder, the git folder that all worktrees share, and whether history is cut short."""
    lines = text(done.out).split("\n")
    if done.status == 0 and len(lines) == 6:
        common = os.path.normpath(os.path.join(os.path.abspath(start), lines[4]))
        return lines[5], lines[3], common, lines[2] == "true"
    said = text(done.err)
    here = os.path.abspath(start)
    if "dubious ownership" in said:
        raise UserError(
            f"git does not trust {here}: somebody else owns it",
            hint=f"if you trust it: git config --global --add safe.directory {here}",
            exit=Exit.ENVIRONMENT,
        )
    if lines[:1] == ["true"]:
        raise UserError("this is a bare repository: it has no branch to work on", hint=_NOT_HERE, exit=Exit.REFUSED)
    if lines[1:2] == ["true"]:
        raise UserError("this is the inside of a git folder", hint=_NOT_HERE, exit=Exit.REFUSED)
    if "not a git repository" in said:
        raise UserError(f"{here} is not in a git repository", hint=_NOT_HERE, exit=Exit.REFUSED)
    raise failed("rev-parse", done)


def _word(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return os.fsdecode(file.read()).strip()
    except OSError:  # git is writing it, or was killed before it could
        return ""


def _number(path: str) -> int:
    word = _word(path)
    return int(word) if word.isdigit() else 0


def _dotted(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))
