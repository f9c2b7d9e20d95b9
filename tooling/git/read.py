"""Read a repository: a handful of plumbing commands at once, none of which takes a lock or runs a user's program."""

from __future__ import annotations

import os
from collections.abc import Mapping

from tooling.errors import Exit, UserError
from tooling.git import parse
from tooling.git.asking import Asked, asking
from tooling.git.command import Git, failed, text
from tooling.git.state import Head, Operation, Repo, Worktree
from tooling.process import Done

OLDEST = (2, 30)
_NOT_HERE = "run it inside a checkout"


def read_repo(start: str = ".") -> Repo:
    """The repository around a folder; UserError where there is none, or git is too old or does not trust it."""
    with asking(start) as asked:
        version = parse.version(Git(start).ask("version"))
        if version < OLDEST:
            found, needed = (".".join(map(str, numbers)) for numbers in (version, OLDEST))
            raise UserError(f"git {found} is too old: {needed} or newer is needed", exit=Exit.ENVIRONMENT)
        return read_changes(asked, read_refs(asked))._replace(version=version)


def read_refs(asked: Asked) -> Repo:
    """What is known before git has looked at every file: no changes, worktrees or version; HEAD as its file says."""
    root, git_dir, common_dir, shallow = _place(asked.start, asked.questions["rev-parse"].finish())
    refs, symbolic = parse.refs(asked.output("for-each-ref"))
    config = parse.config(asked.output("config"))
    return Repo(
        root=root,
        git_dir=git_dir,
        common_dir=common_dir,
        version=(0, 0),
        head=_head(git_dir, refs),
        refs=refs,
        symbolic=symbolic,
        changes=(),
        remotes=parse.remotes(config),
        worktrees=(),
        operation=read_operation(git_dir),
        shallow=shallow,
        config=config,
        here=_inside(root, asked.start),
    )


def read_changes(asked: Asked, repo: Repo) -> Repo:
    """The same repository with its HEAD, its changes and its worktrees."""
    head, changes = parse.status(asked.output("status"))
    if os.path.isdir(os.path.join(repo.common_dir, "worktrees")):
        worktrees = _worktrees(repo)
    else:
        worktrees = (Worktree(repo.root, head.oid, head.ref),)
    return repo._replace(head=head, changes=changes, worktrees=worktrees)


def _worktrees(repo: Repo) -> tuple[Worktree, ...]:
    """All worktrees, the main one first; in a submodule, or with its git folder elsewhere, git names that folder."""
    listed = Git(repo.root).attempt("worktree", "list", "--porcelain", "-z")
    output = Git(repo.root).ask("worktree", "list", "--porcelain") if listed.status else listed.out
    found = parse.worktrees(output, "\n" if listed.status else "\0")
    if repo.git_dir == repo.common_dir:
        return (found[0]._replace(path=repo.root), *found[1:])
    return found


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
    # Between two commits of a sequence there is only what is still to be done.
    todo = _word(os.path.join(git_dir, "sequencer", "todo"))
    if todo:
        return Operation("revert" if todo.startswith("revert") else "cherry-pick")
    return None


_MARKS = {"MERGE_HEAD": "merge", "CHERRY_PICK_HEAD": "cherry-pick", "REVERT_HEAD": "revert", "BISECT_LOG": "bisect"}


def _place(start: str, done: Done) -> tuple[str, str, str, bool]:
    """Top folder, git folder, the git folder that all worktrees share, and whether history is cut short."""
    lines = text(done.out).split("\n")
    if done.status == 0:
        if len(lines) != 6:  # there is a line end in the name of a folder
            lines[3:] = [Git(start).line("rev-parse", what) for what in parse.QUESTIONS[0][-3:]]
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


def _inside(root: str, start: str) -> str:
    """A folder as a path below the top folder; the top folder where it is reached in another way."""
    inside = os.path.relpath(os.path.realpath(start), os.path.realpath(root)).replace(os.sep, "/")
    return "." if inside.startswith("..") else inside


def _head(git_dir: str, refs: Mapping[str, str]) -> Head:
    """Where HEAD points by its file, which names no branch of ours where git keeps refs in another way."""
    word = _word(os.path.join(git_dir, "HEAD"))
    ref = word.removeprefix("ref: ")
    return Head(word, "") if ref == word else Head(refs.get(ref, ""), ref)


def _word(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return text(file.read()).strip()
    except OSError:  # git is writing it, or was killed before it could
        return ""


def _number(path: str) -> int:
    word = _word(path)
    return int(word) if word.isdigit() else 0
