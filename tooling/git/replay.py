"""The facts of a rebase: what would be replayed, where it would land, and what stands in the way."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tooling.git import parse
from tooling.git.command import Git, Question, text
from tooling.git.lineends import only_line_ends
from tooling.git.obstacles import in_place_of_edits, in_the_way, read_unfit
from tooling.git.state import Commit, Repo

LOG = ("log", "--no-show-signature", "--encoding=UTF-8", f"--format={parse.COMMIT_FORMAT}")

# What commits bring in, also what a later one takes out again: it is on the disk for a while.
_ADDED = ("log", "--format=", "--name-only", "-z", "--diff-filter=A", "--no-renames")


class Difference(NamedTuple):
    """A path that differs between two commits; a mode of 160000 is a submodule."""

    path: str
    status: str
    modes: tuple[str, str]


class Replay(NamedTuple):
    """A branch, the commit that it goes onto, and what lies between; `base` is empty for unrelated histories."""

    tip: str
    onto: str
    base: str
    adopted: str = ""
    """The tip of the branch on the fork, where it has commits that were never here."""
    adopted_bases: tuple[str, str] = ("", "")
    """Where that tip and the branch part, and where that tip and what the branch goes onto part."""
    foreign: tuple[Commit, ...] = ()
    commits: tuple[Commit, ...] = ()
    behind: int = 0
    rewritten: bool = False
    merged: bool = False
    incoming: tuple[Difference, ...] = ()
    in_the_way: tuple[str, ...] = ()
    in_place_of_edits: tuple[str, ...] = ()
    """Files that git does not track where the user has deleted what it does track."""
    roots: tuple[Commit, ...] = ()
    """Where the branch and the other side begin, if they have nothing in common."""
    unfit: tuple[str, ...] = ()
    """Paths that this file system cannot hold, with the reason."""
    hidden: tuple[str, ...] = ()
    line_ends: tuple[str, ...] = ()
    """Files that git calls changed although only the attributes ask for other line ends."""

    @property
    def merges(self) -> tuple[Commit, ...]:
        """The merge commits among those to be replayed."""
        return tuple(commit for commit in self.commits if len(commit.parents) > 1)


def read_replay(repo: Repo, git: Git, onto: str, *, ref: str = "", known: str = "", tracking: str = "") -> Replay:
    """Compare the branch with what it goes onto.

    `ref` follows upstream's branch, `known` is its tip as it was before the fetch, and `tracking` is the fork's
    branch as it was last seen.
    """
    tip = repo.head.oid
    base, rewritten = _base(git, tip, onto, known, ref)
    foreign = foreign_commits(git, repo.head.ref, tip, tracking)
    adopted = tracking if foreign else ""
    bases = (git.line("merge-base", tip, adopted), git.line("merge-base", onto, adopted)) if adopted else ("", "")
    if not base or (adopted and not all(bases)):
        return Replay(tip, onto, "", adopted, foreign=foreign, roots=read_roots(git, tip, onto))
    merges = repo.version >= (2, 38)
    trees = ("rev-parse", f"{onto}^{{tree}}", f"{base}^{{tree}}", f"{tip}^{{tree}}")
    merged = (git.start(*trees), git.start("merge-tree", "--write-tree", onto, tip)) if merges else None
    commits = git.start(*LOG, "--reverse", "--topo-order", f"{base}..{tip}")
    behind = git.start("rev-list", "--count", f"{tip}..{onto}")
    flags = git.start("ls-files", "-v", "-z")
    passing = [git.start(*_ADDED, f"{base}..{end}") for end in (tip, adopted) if end]
    incoming = differences(git, tip, onto)
    changed = differences(git, base, tip) if merged is None else ()
    ahead = differences(git, tip, adopted) if adopted else ()
    added = {change.path for change in (*incoming, *ahead) if change.status == "A"}
    added.update(path for question in passing for path in parse.records(question.answer()))
    return Replay(
        tip=tip,
        onto=onto,
        base=base,
        adopted=adopted,
        adopted_bases=bases,
        foreign=foreign,
        commits=parse.commits(commits.answer()),
        behind=int(behind.answer()),
        rewritten=rewritten,
        merged=_adds_nothing(*merged) if merged else holds(incoming, changed),
        incoming=incoming,
        in_the_way=tuple(in_the_way(repo, git, added)),
        in_place_of_edits=in_place_of_edits(repo),
        unfit=read_unfit(repo, git, {change.path for change in incoming if change.status == "A"}, onto),
        hidden=tuple(_hidden(repo, git, flags.answer(), incoming)),
        line_ends=only_line_ends(repo, git),
    )


def read_roots(git: Git, *tips: str) -> tuple[Commit, ...]:
    """The first commit of each of these histories."""
    return tuple(parse.commits(git.ask(*LOG, "--max-parents=0", "-1", tip))[0] for tip in tips)


def foreign_commits(git: Git, ref: str, tip: str, tracking: str) -> tuple[Commit, ...]:
    """Commits below the fork's tip that the branch neither holds nor ever held: somebody else pushed them.

    The branch's own log counts, so that what an amend or a rebase left behind is not taken for another's.
    """
    if not tracking or tracking == tip:
        return ()
    ours = {tip, *text(git.attempt("reflog", "show", "--format=%H", ref).out).split()}
    wanted = "".join(f"{line}\n" for line in (tracking, *(f"^{oid}" for oid in sorted(ours))))
    return parse.commits(git.ask(*LOG, "--ignore-missing", "--stdin", stdin=wanted.encode("ascii")))


def differences(git: Git, old: str, new: str) -> tuple[Difference, ...]:
    """What differs between two commits."""
    return tuple(_differences(git.ask("diff-tree", "-r", "--raw", "-z", "--no-renames", old, new)))


def _differences(output: bytes) -> Iterator[Difference]:
    fields = iter(parse.records(output))
    for head in fields:
        before, after, _, _, status = head.removeprefix(":").split(" ")
        yield Difference(next(fields), status[:1], (before, after))


def holds(left: Sequence[Difference], changed: Sequence[Difference]) -> bool:
    """Whether something was changed, and no file that was is among the differences that are left.

    That is what can be told without merging, by a git before 2.38: a file that both sides changed is not held.
    """
    return bool(changed) and not {change.path for change in left}.intersection(change.path for change in changed)


def _base(git: Git, tip: str, onto: str, known: str, ref: str) -> tuple[str, bool]:
    """Where the branch forked off, from the old history where upstream was rewritten since, and whether it was.

    The log of the ref that follows upstream knows the old history, if somebody fetched before us.
    """
    asked = [git.start("merge-base", onto, tip)]
    asked += [git.start("merge-base", known, tip)] if known and known != onto else []
    asked += [git.start("merge-base", "--fork-point", ref, tip)] if ref else []
    base, *found = [text(done.out) if done.status == 0 else "" for done in [question.finish() for question in asked]]
    old = [oid for oid in found if oid and oid != base and not is_ancestor(git, oid, onto)]
    if not base or not old:
        return base, False
    above = [(int(git.ask("rev-list", "--count", f"{oid}..{tip}")), oid) for oid in (base, *old)]
    return min(above)[1], True


def is_ancestor(git: Git, old: str, new: str) -> bool:
    """Whether a commit is here and is held by another."""
    return git.attempt("merge-base", "--is-ancestor", old, new).status == 0


def _adds_nothing(trees: Question, merged: Question) -> bool:
    """Whether merging the branch would leave the other side as it is, although the branch changed something."""
    done = merged.finish()
    onto, base, tip = text(trees.answer()).split()
    return done.status == 0 and text(done.out) == onto and base != tip


def _hidden(repo: Repo, git: Git, flags: bytes, incoming: Sequence[Difference]) -> Iterator[str]:
    """Edited files that git was told not to look at, and that the other side changes."""
    touched = {difference.path for difference in incoming}
    for record in parse.records(flags):
        flag, path = record[:1], record[2:]
        if (flag == "S" or flag.islower()) and path in touched and Path(repo.root, path).is_file():
            staged = text(git.ask("--literal-pathspecs", "ls-files", "--stage", "-z", "--", path)).split(" ")[1]
            if git.line("hash-object", "--", os.path.join(repo.root, path)) != staged:
                yield path
