"""Plan a rebase: refuse what would lose something or surprise somebody, then name every step by full object ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tooling.git.plan import Move, Plan, Step, Warned
from tooling.git.replay import Difference, Replay
from tooling.git.safety import Wishes, check_content, check_histories
from tooling.git.stacked import UPDATE_REFS, check_stacked, find_stacked, keep_stacked, warn_of_stacked
from tooling.git.state import BACKUPS, EDITS, HEADS, Repo
from tooling.git.text import count, several, short, shown

REBASE = (
    *("rebase", "--merge", "--no-autostash", "--no-autosquash", "--no-fork-point", "--no-rebase-merges"),
    *("--no-reapply-cherry-picks", "--empty=drop", "--quiet"),
)


def plan_rebase(
    repo: Repo, replay: Replay, onto_name: str, wishes: Wishes, *, now: str, stash: str = "", push: Step | None = None
) -> Plan:
    """Replay the branch's own commits on another commit; RefusedError where that would not be safe.

    `stash` is a commit that holds the edits, `push` the last step where the branch should go to the fork too.
    """
    branch = repo.head.branch
    check_histories(replay, branch, onto_name, wishes)
    if replay.base == replay.onto and not replay.foreign:
        return Plan("rebase", f"{shown(branch)} is up to date with {onto_name}")
    check_content(repo, replay, onto_name, wishes)
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
    aside = sorted({*replay.in_the_way, *(replay.in_place_of_edits if stash else ())})
    if aside:
        # What is run is kinder: the files are moved under git's folder, and nothing is deleted.
        clean = ("clean", "-x", "--force", "--", *aside)
        yield Step("set-aside", clean, f"keep {count(len(aside), 'file')} of yours out of the way")
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
