"""Make one commit of everything that upstream has and the fork has not, without touching the user's checkout.

Squashed syncs conflict with themselves when they are repeated, because the merge base never moves. So what each one
brought is remembered under a ref, and once it has landed in the fork, the next merge starts from there.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from tooling.errors import Exit, UserError
from tooling.git import worktree
from tooling.git.command import Git, failed, text
from tooling.git.conflicts import Conflict, read_conflicts
from tooling.git.plan import RefusedError
from tooling.git.references import Style, find
from tooling.git.replay import differences, holds, is_ancestor
from tooling.git.signing import signs
from tooling.git.state import SYNCS, Repo
from tooling.git.sync import Syncing
from tooling.git.text import shown

_FAR = "20000"
"""How many commits of upstream are searched for contents that the fork once had."""


class Record(NamedTuple):
    """An earlier squashed sync: its commit, the commit of upstream that it brought, and its tree."""

    commit: str
    upstream: str
    tree: str


class Merged(NamedTuple):
    """The tree of a squashed sync, or the worktree in which the user has to resolve it."""

    tree: str = ""
    worktree: str = ""
    conflicts: tuple[Conflict, ...] = ()


def read_records(repo: Repo, git: Git, fork: str) -> tuple[Record, ...]:
    """The squashed syncs of this fork, newest first."""
    refs = sorted((ref for ref in repo.refs if ref.startswith(f"{SYNCS}{fork}/")), reverse=True)
    found = []
    for ref in refs:
        commit, upstream, tree = text(git.ask("log", "--no-walk", "--format=%P %T", repo.refs[ref])).split()
        found.append(Record(commit, upstream, tree))
    return tuple(found)


def landed(repo: Repo, git: Git, record: Record, tip: str) -> bool:
    """Whether a squashed sync is part of a branch: as it was, squashed by its merge, or by what it changed."""
    if is_ancestor(git, record.commit, tip):
        return True
    trees = git.attempt("log", "--first-parent", "--format=%T", f"{record.commit}^..{tip}")
    if record.tree in text(trees.out).split():
        return True
    if repo.version < (2, 38):
        brought = differences(git, f"{record.commit}^", record.commit)
        return holds(differences(git, record.commit, tip), brought)
    merged = git.attempt("merge-tree", "--write-tree", tip, record.commit)
    return merged.status == 0 and text(merged.out) == git.line("rev-parse", f"{tip}^{{tree}}")


def find_base(repo: Repo, git: Git, syncing: Syncing, records: tuple[Record, ...]) -> str:
    """The newest commit of upstream whose contents the fork is known to have taken in."""
    if is_ancestor(git, syncing.old, syncing.new):
        return syncing.old
    found = [git.line("merge-base", syncing.old, syncing.new)]
    found += [record.upstream for record in records if landed(repo, git, record, syncing.old)][:1]
    found.append(_equal_contents(git, syncing))
    counted = [(count_commits(git, oid, syncing.new), oid) for oid in found if oid]
    if not counted:
        raise RefusedError("unrelated", "the fork and upstream have no common history")
    return min(counted)[1]


def count_commits(git: Git, old: str, new: str) -> int:
    """How many commits the new one holds and the old one does not."""
    return int(git.ask("rev-list", "--count", f"{old}..{new}"))


def merge(repo: Repo, git: Git, syncing: Syncing, base: str, name: str) -> Merged:
    """The fork's main branch with all of upstream in it; `name` is for the worktree where it is resolved by hand."""
    old, new, start = (git.line("rev-parse", f"{oid}^{{tree}}") for oid in (syncing.old, syncing.new, base))
    if start == old:
        return Merged(new)
    return _merge_elsewhere(repo, git, syncing, base, tree=old, name=name)


def commit_tree(repo: Repo, git: Git, tree: str, parents: tuple[str, ...], message: bytes) -> str:
    """A commit that no ref holds yet; signed where the user's commits are."""
    sign = ("-S",) if signs(repo) else ()
    flags = [word for parent in parents for word in ("-p", parent)]
    done = git._replace(extra=("i18n.commitEncoding=UTF-8",)).attempt(
        "commit-tree", tree, *flags, *sign, "-F", "-", stdin=message
    )
    if done.status:
        raise failed("commit-tree", done)
    return text(done.out)


def check_message(git: Git, commit: str, style: Style) -> None:
    """Read a commit again; UserError where its message refers to something after all."""
    message = git.ask("cat-file", "commit", commit).partition(b"\n\n")[2]
    if any(found.kind != "advisory" for found in find(message, style)):
        raise UserError("the commit's message refers to something that was put in later", exit=Exit.REFUSED)


def resolved_tree(git: Git, path: str) -> Merged:
    """The tree of a worktree in which the user has resolved a merge, or what is still in conflict there."""
    there = git._replace(folder=path)
    if not Path(path).is_dir():
        raise RefusedError("worktree-gone", f"the worktree {shown(path)} is gone")
    conflicts = read_conflicts(there)
    return Merged(worktree=path, conflicts=conflicts) if conflicts else Merged(text(there.ask("write-tree")))


def _equal_contents(git: Git, syncing: Syncing) -> str:
    """The newest commit of upstream that the fork's main branch was once equal to, whatever its history says."""
    log = ("log", "--first-parent", f"--max-count={_FAR}")
    newest: dict[str, str] = {}
    for line in text(git.ask(*log, "--format=%H %T", syncing.new)).split("\n"):
        oid, _, tree = line.partition(" ")
        newest.setdefault(tree, oid)
    for tree in text(git.ask(*log, "--format=%T", syncing.old)).split():
        if tree in newest:
            return newest[tree]
    return ""


def _merge_elsewhere(repo: Repo, git: Git, syncing: Syncing, base: str, *, tree: str, name: str) -> Merged:
    """Merge in a worktree of its own, from a commit with the fork's contents that descends from the base."""
    start = commit_tree(repo, git, tree, (base,), b"the fork's contents\n")
    there = worktree.add(repo, git, name, start)
    try:
        done = there.attempt("merge", "--no-commit", "--no-ff", "--no-verify-signatures", "--quiet", syncing.new)
        if conflicts := read_conflicts(there):
            return Merged(worktree=there.folder, conflicts=conflicts)
        if done.status:
            raise failed("merge", done)
        merged = Merged(text(there.ask("write-tree")))
    except BaseException:
        worktree.remove(git, there.folder)
        raise
    worktree.remove(git, there.folder)
    return merged
