"""Plan a rebase: refuse what would lose something or surprise somebody, then name every step by full object ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tooling.git.plan import Move, Next, Plan, RefusedError, Step, Warned
from tooling.git.replay import Difference, Replay
from tooling.git.stacked import UPDATE_REFS, check_stacked, find_stacked, keep_stacked, warn_of_stacked
from tooling.git.state import BACKUPS, EDITS, HEADS, Change, Commit, Repo
from tooling.git.text import count, several, short, shown

REBASE = (
    *("rebase", "--merge", "--no-autostash", "--no-autosquash", "--no-fork-point", "--no-rebase-merges"),
    *("--no-reapply-cherry-picks", "--empty=drop", "--quiet"),
)


class Wishes(NamedTuple):
    """What the user asked for."""

    autostash: bool = False
    flatten: bool = False
    adopt: bool = False
    backup_ignored: bool = False
    update_refs: bool = False
    ignore_line_ends: bool = False


def plan_rebase(
    repo: Repo, replay: Replay, onto_name: str, wishes: Wishes, *, now: str, stash: str = "", push: Step | None = None
) -> Plan:
    """Replay the branch's own commits on another commit; RefusedError where that would not be safe.

    `stash` is a commit that holds the edits, `push` the last step where the branch should go to the fork too.
    """
    branch = repo.head.branch
    if not replay.base:
        raise RefusedError(
            "unrelated", f"{shown(branch)} and {onto_name} have no common history: is it the right remote?"
        )
    if replay.foreign and not wishes.adopt:
        raise _foreign(replay, branch)
    if replay.base == replay.onto and not replay.foreign:
        return Plan("rebase", f"{shown(branch)} is up to date with {onto_name}")
    _check_content(repo, replay, branch, onto_name, wishes)
    stacked = find_stacked(repo, replay)
    if wishes.update_refs:
        check_stacked(repo, stacked)
    moved = stacked if wishes.update_refs else ()
    backup = f"{BACKUPS}{branch}/{now}"
    warnings = (*_warnings(repo, replay, onto_name), *warn_of_stacked(replay, stacked, moves=wishes.update_refs))
    return Plan(
        command="rebase",
        summary=_summary(replay, branch, onto_name),
        steps=(*keep_stacked(moved, now), *_steps(replay, backup, onto_name, stash, moved), *([push] if push else [])),
        moves=(Move(repo.head.ref, replay.tip), *moved),
        backup=backup,
        onto=replay.onto,
        warnings=warnings,
    )


def _steps(replay: Replay, backup: str, onto_name: str, stash: str, moved: tuple[Move, ...]) -> Iterator[Step]:
    rebase = (*REBASE, UPDATE_REFS) if moved else REBASE
    yield Step("back-up", ("update-ref", backup, replay.tip), "keep the branch as it is now")
    if replay.in_the_way:
        # What is run is kinder: the files are moved under git's folder, and nothing is deleted.
        clean = ("clean", "-x", "--force", "--", *replay.in_the_way)
        yield Step("set-aside", clean, f"keep {count(len(replay.in_the_way), 'file')} of yours out of the way")
    if replay.line_ends:
        # What is run writes the attribute first, and takes it back in the end.
        why = f"take the line ends of {count(len(replay.line_ends), 'file')} as they are until the rebase has ended"
        yield Step("line-ends", ("check-attr", "text", "--", *replay.line_ends), why)
    if stash:
        yield Step("back-up", ("update-ref", edits_ref(backup), stash), "keep your edits as they are now")
        yield Step("put-away", ("restore", "--source=HEAD", "--staged", "--worktree"), "put your edits away")
    base = replay.base
    if replay.adopted:
        # From where the two part: a commit that is on the fork already may have been reverted there.
        own, base = replay.adopted_bases
        adopt = ("--onto", replay.adopted, own)
        yield Step("rebase", (*rebase, *adopt), f"onto the fork's {short(replay.adopted)}, with what others pushed")
    yield Step("rebase", (*rebase, "--onto", replay.onto, base), f"onto {onto_name} at {short(replay.onto)}")
    if stash:
        yield Step("put-back", ("stash", "apply", "--index", stash), "put your edits back")


def submodules_follow(differences: Iterable[Difference]) -> str:
    """The command after which submodules are what the commit says; their addresses first, where those changed."""
    update = "git submodule update --init"
    moved = any(difference.path == ".gitmodules" for difference in differences)
    return f"git submodule sync && {update}" if moved else update


def edits_ref(backup: str) -> str:
    """The ref that keeps the edits of a run, beside the one that keeps its branch."""
    return backup.replace(BACKUPS, EDITS, 1)


def _check_content(repo: Repo, replay: Replay, branch: str, onto_name: str, wishes: Wishes) -> None:
    if replay.merged and replay.commits:
        raise RefusedError(
            "already-merged",
            f"all that {shown(branch)} changes is in {onto_name} already",
            next=[Next("go back to main and delete it", ("git", "branch", "-D", branch))],
        )
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
        raise _dirty(edits, may_be_stashed=not replay.line_ends)
    if replay.unfit and repo.setting("core.sparsecheckout") != "true":
        raise _unfit(replay, onto_name)
    if replay.in_the_way and not wishes.backup_ignored:
        first = replay.in_the_way[0]
        raise RefusedError(
            "in-the-way",
            f"{onto_name} has files where yours are, and git does not track yours",
            details=several(replay.in_the_way),
            next=[
                Next("move them away", ("mv", "--", first, f"{first}.mine")),
                Next("or have them kept under git's folder", ("mergeready", "rebase", "--backup-ignored")),
            ],
        )
    if replay.hidden:
        flags = ("git", "update-index", "--no-skip-worktree", "--no-assume-unchanged", "--", replay.hidden[0])
        raise RefusedError(
            "hidden-edits",
            f"git was told not to look at files that you have edited and {onto_name} changes",
            details=several(replay.hidden),
            next=[Next("let git see them", flags)],
        )


def _warnings(repo: Repo, replay: Replay, onto_name: str) -> Iterator[Warned]:
    if replay.rewritten:
        yield Warned("upstream-rewritten", f"{onto_name} was rewritten; only commits of yours are replayed")
    for prefix in (HEADS, "refs/tags/"):
        if f"{prefix}{onto_name}" in repo.refs:
            yield Warned("same-name", f"{prefix}{shown(onto_name)} exists here too; the remote's branch is meant")
    moved = [change.path for change in repo.changes if change.inside_submodule]
    if moved:
        yield Warned("submodule", f"submodules are left as they are: {', '.join(several(moved))}")
    if any("160000" in difference.modes for difference in replay.incoming):
        yield Warned("submodule-moved", f"submodules move; afterwards run: {submodules_follow(replay.incoming)}")
    if repo.setting("core.symlinks") == "false" and any(new.modes[1] == "120000" for new in replay.incoming):
        yield Warned("links-as-files", "symbolic links come as files with the name of their target in them")
    if replay.merges:
        yield Warned("flatten", "merge commits are dropped; compare the result with the backup")


def _summary(replay: Replay, branch: str, onto_name: str) -> str:
    own = len(replay.commits) - len(replay.merges)
    return f"replay {count(own, 'commit')} of {shown(branch)} on {onto_name}, {count(replay.behind, 'commit')} ahead"


def _dirty(edits: tuple[Change, ...], *, may_be_stashed: bool) -> RefusedError:
    stash = Next("put them away for the while", ("mergeready", "rebase", "--autostash"))
    commit = ("git", "commit", "-a") if may_be_stashed else ("git", "commit", "--", edits[0].path)
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
            Next("or commit the line ends that the attributes ask for", ("git", "add", "--renormalize", ".")),
            Next("in a commit of its own", ("git", "commit", "-m", "Normalise line ends")),
        ],
    )


def _unfit(replay: Replay, onto_name: str) -> RefusedError:
    first = replay.unfit[0].partition(": ")[0]
    leave_out = ("git", "sparse-checkout", "set", "--no-cone", "/*", f"!/{first}")
    return RefusedError(
        "unfit-names",
        f"{onto_name} has files whose names this file system cannot hold",
        details=several(replay.unfit),
        next=[
            Next("if a path is too long for Windows", ("git", "config", "core.longPaths", "true")),
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
