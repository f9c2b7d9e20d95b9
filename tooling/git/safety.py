"""What stands against a rebase, in words: the things by name, and the commands that lead out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tooling.git.plan import Next, RefusedError
from tooling.git.replay import Replay
from tooling.git.state import HEADS, Change, Commit, Repo
from tooling.git.text import count, several, short, shown


class Wishes(NamedTuple):
    """What the user asked for."""

    autostash: bool = False
    flatten: bool = False
    adopt: bool = False
    backup_ignored: bool = False
    update_refs: bool = False
    ignore_line_ends: bool = False


def check_histories(replay: Replay, branch: str, onto_name: str, wishes: Wishes) -> None:
    """Refuse where the histories have nothing in common, or the fork has commits that the branch never held."""
    if not replay.base:
        raise RefusedError(
            "unrelated",
            f"{shown(branch)} and {onto_name} have no common history: is it the right remote?",
            details=begin_apart((branch, onto_name), replay.roots),
            next=[Next("see where they point", ("git", "remote", "-v"))],
        )
    if replay.foreign and not wishes.adopt:
        raise _foreign(replay, branch)


def check_content(repo: Repo, replay: Replay, onto_name: str, wishes: Wishes) -> None:
    """Refuse where commits, edits or files of the user could get lost, or git would stop half way."""
    branch = repo.head.branch
    if replay.merged and replay.commits:
        raise _merged(repo, branch, onto_name)
    if replay.merges and not wishes.flatten:
        raise RefusedError(
            "merges",
            f"{shown(branch)} has {count(len(replay.merges), 'merge commit')}: a rebase drops what is only in them",
            details=_listed(replay.merges),
            next=[Next("replay the other commits in a line", ("mergeready", "rebase", "--flatten"))],
        )
    if replay.line_ends and not wishes.ignore_line_ends:
        raise _line_ends(replay.line_ends)
    edits = tuple(change for change in repo.edits if change.path not in replay.line_ends)
    if edits and (replay.line_ends or not wishes.autostash):
        raise _dirty(repo, edits, may_be_stashed=not replay.line_ends)
    if replay.unfit and repo.setting("core.sparsecheckout") != "true":
        raise _unfit(replay, onto_name)
    if replay.in_the_way and not wishes.backup_ignored:
        raise _in_the_way(repo, replay.in_the_way, onto_name)
    if replay.hidden:
        raise _hidden(repo, replay.hidden, onto_name)


def begin_apart(names: Sequence[str], roots: Sequence[Commit]) -> Iterator[str]:
    """Where histories that have nothing in common begin, a line each."""
    for name, root in zip(names, roots, strict=False):
        yield shown(f"{name} begins with {short(root.oid)} {root.subject} ({root.author})")


def _merged(repo: Repo, branch: str, onto_name: str) -> RefusedError:
    return RefusedError(
        "already-merged",
        f"all that {shown(branch)} changes is in {onto_name} already",
        next=[
            Next("go back to main", _to_main(repo, onto_name)),
            Next("then delete it", ("git", "branch", "-D", "--", branch)),
        ],
    )


def _to_main(repo: Repo, onto_name: str) -> tuple[str, ...]:
    """How to leave the branch: for the local branch of the same name, where there is one."""
    prefixes = (f"{shown(remote.name)}/" for remote in repo.remotes)
    name = next((onto_name.removeprefix(prefix) for prefix in prefixes if onto_name.startswith(prefix)), "")
    return ("git", "switch", name) if f"{HEADS}{name}" in repo.refs else ("git", "switch", "--detach", onto_name)


def _in_the_way(repo: Repo, paths: tuple[str, ...], onto_name: str) -> RefusedError:
    first = repo.from_here(paths[0])
    return RefusedError(
        "in-the-way",
        f"{onto_name} has files where yours are, and git does not track yours",
        details=several(paths),
        next=[
            Next("move them away", ("mv", "--", first, f"{first}.mine")),
            Next("or have them kept under git's folder", ("mergeready", "rebase", "--backup-ignored")),
        ],
    )


def _hidden(repo: Repo, paths: tuple[str, ...], onto_name: str) -> RefusedError:
    flags = ("git", "update-index", "--no-skip-worktree", "--no-assume-unchanged", "--", repo.from_here(paths[0]))
    return RefusedError(
        "hidden-edits",
        f"git was told not to look at files that you have edited and {onto_name} changes",
        details=several(paths),
        next=[Next("let git see them", flags)],
    )


def _dirty(repo: Repo, edits: tuple[Change, ...], *, may_be_stashed: bool) -> RefusedError:
    stash = Next("put them away for the while", ("mergeready", "rebase", "--autostash"))
    commit = ("git", "commit", "-a") if may_be_stashed else ("git", "commit", "--", repo.from_here(edits[0].path))
    return RefusedError(
        "dirty",
        f"{count(len(edits), 'file')} with changes that are not committed",
        details=several([f"{change.code.replace('.', ' ')} {change.path}" for change in edits]),
        next=[
            *([stash] if may_be_stashed else []),
            Next("or commit them" if may_be_stashed else "commit them", commit),
        ],
    )


def _line_ends(paths: tuple[str, ...]) -> RefusedError:
    return RefusedError(
        "line-ends",
        "files differ from their commit only in line ends: that is git's normalisation, not an edit of yours",
        details=several(paths),
        next=[
            Next("rebase with these files taken as they are", ("mergeready", "rebase", "--ignore-line-ends")),
            Next("or commit the line ends that the attributes ask for", ("git", "add", "--renormalize", ":/")),
            Next("in a commit of its own", ("git", "commit", "-m", "Normalise line ends")),
        ],
    )


def _unfit(replay: Replay, onto_name: str) -> RefusedError:
    first = replay.unfit[0].partition(": ")[0]
    too_long = any(reason.endswith("the path is too long") for reason in replay.unfit)
    leave_out = ("git", "sparse-checkout", "set", "--no-cone", "/*", f"!/{first}")
    return RefusedError(
        "unfit-names",
        f"{onto_name} has files whose names this file system cannot hold",
        details=several(replay.unfit),
        next=[
            *(
                [Next("let paths be longer on Windows", ("git", "config", "core.longPaths", "true"))]
                if too_long
                else []
            ),
            Next("leave such a file out of your checkout", leave_out),
        ],
    )


def _foreign(replay: Replay, branch: str) -> RefusedError:
    return RefusedError(
        "foreign-commits",
        f"the fork's {shown(branch)} has {count(len(replay.foreign), 'commit')} that you do not have",
        details=_listed(replay.foreign),
        next=[
            Next("take them in, then rebase", ("mergeready", "rebase", "--adopt")),
            Next("look at them", ("git", "show", replay.foreign[0].oid)),
        ],
    )


def _listed(commits: tuple[Commit, ...]) -> list[str]:
    return several([f"{short(commit.oid)} {commit.subject} ({commit.author})" for commit in commits])
