"""What a rebase came to, in words and figures: done, stopped with the user's turn, or taken back."""

from __future__ import annotations

from collections.abc import Iterator

from tooling.errors import Exit, UserError
from tooling.git import journal, parse
from tooling.git.aside import still_there
from tooling.git.command import Git, text
from tooling.git.execute import Ended, Stop
from tooling.git.journal import Entry, aside_folder
from tooling.git.matching import Matched, match
from tooling.git.outcome import Outcome
from tooling.git.plan import Next, RefusedError, Warned
from tooling.git.pushing import look_at
from tooling.git.read import read_repo
from tooling.git.rebase import edits_ref, submodules_follow
from tooling.git.replay import LOG, differences
from tooling.git.restore import restore
from tooling.git.state import HEADS, Commit, Repo
from tooling.git.text import count, several, short, shown, to_git

_SHOWN = 20
UNDO = Next("take it back", ("mergeready", "undo"))
WAYS_ON = (
    Next("resolve the files and add them, then", ("mergeready", "continue")),
    Next("leave this commit out", ("mergeready", "skip")),
    Next("or take all of it back", ("mergeready", "abort")),
)


def rebase_outcome(repo: Repo, git: Git, command: str, ended: Ended) -> Outcome:
    """The outcome of a rebase that has just run; one that git refused to start is taken back, then RefusedError."""
    entry, stop = ended.entry, ended.stop
    if stop and stop.reason in ("refused", "failed", "signing"):
        _take_back(repo, git, entry)
        if stop.reason == "refused":
            raise RefusedError("git-refused", f"git did not start the rebase: {stop.message}")
        raise UserError(stop.message, hint="everything is as it was before", exit=Exit.ENVIRONMENT)
    if stop and stop.reason != "push":
        return _stopped(command, entry, stop)
    done = _done(repo, git, command, entry)
    if stop is None:
        return done
    return done._replace(
        status="remote refused",
        exit=Exit.REMOTE_REFUSED,
        summary=f"{done.summary}; the push was refused: {stop.message}",
        next=(*(look_at(step.argv[-2], entry.ref) for step in entry.remaining[:1]), UNDO),
    )


def _take_back(repo: Repo, git: Git, entry: Entry) -> None:
    """Take back a run that came to nothing; where that is refused, say how it is done later, if it changed anything."""
    now = read_repo(repo.root)
    try:
        restore(now, git, entry, "abandoned")
    except RefusedError as refused:
        if (now.head, now.changes, entry.aside) == (repo.head, repo.changes, ()):
            journal.write(repo, entry._replace(state="abandoned"))
            raise
        raise RefusedError(
            refused.code,
            f"the rebase came to nothing, and cannot be taken back yet: {refused}",
            details=refused.details,
            next=(*refused.next, WAYS_ON[-1]._replace(why="then take it back")),
            exit=Exit.ENVIRONMENT,
        ) from refused


def _stopped(command: str, entry: Entry, stop: Stop) -> Outcome:
    edits = stop.reason == "edits"
    ways = (WAYS_ON[0], UNDO) if edits else WAYS_ON
    if not stop.conflicts and stop.reason != "remembered":
        ways = (ways[0]._replace(why="once that is mended, go on"), *ways[1:])
    lines = [f"your edits are kept in {shown(edits_ref(entry.backup))}"] if entry.stash else []
    if stop.conflicts and not edits:
        lines.append("between <<<<<<< and ======= is upstream, below it is your commit")
    return Outcome(
        command=command,
        status="stopped",
        exit=Exit.STOPPED,
        summary=stop.message,
        lines=tuple(lines),
        refs=entry.moves,
        backup=entry.backup,
        stash=entry.stash,
        conflicts=stop.conflicts,
        next=ways,
    )


def _done(repo: Repo, git: Git, command: str, entry: Entry) -> Outcome:
    new = next(move.new for move in entry.moves if move.ref == entry.ref)
    bases = [step.argv[-1] for step in entry.steps if step.action == "rebase"]
    before = git.start(*LOG, "--reverse", f"{bases[-1]}..{entry.old}")
    after = parse.commits(git.ask(*LOG, "--reverse", f"{entry.onto}..{new}"))
    replayed = parse.commits(before.answer())
    merges = [commit for commit in replayed if len(commit.parents) > 1]
    matched = match([commit for commit in replayed if commit not in merges], after)
    return Outcome(
        command=command,
        status="done",
        exit=Exit.DONE,
        summary=f"{shown(entry.ref.removeprefix(HEADS))} is rebased: {_figures(matched)}",
        lines=tuple(_lines(git, entry, matched)),
        refs=entry.moves,
        pushed=entry.pushed,
        backup=entry.backup,
        stash=entry.stash,
        dropped=matched.dropped,
        warnings=tuple(_warnings(repo, git, entry, new, has_merges=bool(merges))),
        next=(UNDO,),
    )


def _figures(matched: Matched) -> str:
    dropped = f", {len(matched.dropped)} dropped" if matched.dropped else ""
    made = f", {len(matched.made)} made by hand" if matched.made else ""
    return f"{count(len(matched.kept), 'commit')} replayed{dropped}{made}"


def _lines(git: Git, entry: Entry, matched: Matched) -> Iterator[str]:
    changed = _changed(git, matched) if entry.conflicted else set()
    for old, new in matched.kept[:_SHOWN]:
        sign = "!" if new.oid in changed else "="
        yield f"{short(old.oid)} {sign} {short(new.oid)} {shown(new.subject)}"
    if len(matched.kept) > _SHOWN:
        yield f"and {len(matched.kept) - _SHOWN} more"
    for commit in matched.made[:_SHOWN]:
        yield f"made by hand: {short(commit.oid)} {shown(commit.subject)}"
    for move in entry.moves:
        if move.ref != entry.ref:
            yield f"{shown(move.ref.removeprefix(HEADS))} moved along: {short(move.old)} to {short(move.new)}"


def _changed(git: Git, matched: Matched) -> set[str]:
    """The new commits whose patch is not the old one's."""
    ids = _patch_ids(git, [commit for pair in matched.kept for commit in pair])
    return {new.oid for old, new in matched.kept if ids.get(old.oid) != ids.get(new.oid)}


def _patch_ids(git: Git, commits: list[Commit]) -> dict[str, str]:
    wanted = "".join(f"{commit.oid}\n" for commit in commits).encode("ascii")
    patches = git.ask("diff-tree", "--stdin", "-p", "--no-ext-diff", "--no-textconv", stdin=wanted)
    pairs = (line.split(" ") for line in text(git.ask("patch-id", "--stable", stdin=patches)).splitlines())
    return {oid: patch for patch, oid in pairs}


def _warnings(repo: Repo, git: Git, entry: Entry, new: str, *, has_merges: bool) -> Iterator[Warned]:
    if has_merges:
        merged = git.attempt("merge-tree", "--write-tree", entry.onto, entry.old)
        if merged.status or text(merged.out) != git.line("rev-parse", f"{new}^{{tree}}"):
            lost = "what only a merge commit held is not in the result; compare it with the backup"
            yield Warned("merge-content-lost", f"{lost}: git diff {shown(entry.backup)} HEAD")
    if away := sorted(set(entry.aside) - still_there(repo, entry)):
        place, paths = shown(aside_folder(repo, entry)), ", ".join(several(away))
        yield Warned("set-aside", f"upstream has files where yours were; yours are kept in {place}: {paths}")
    changed = differences(git, entry.old, new)
    if any("160000" in difference.modes for difference in changed):
        yield Warned("submodule-moved", f"submodules have moved; run: {submodules_follow(changed)}")
    if any(key.startswith("filter.lfs.") for key in repo.config):
        paths = "".join(f"{difference.path}\0" for difference in changed if difference.status != "D")
        filters = parse.records(git.ask("check-attr", "-z", "--stdin", "filter", stdin=to_git(paths)))
        if "lfs" in filters[2::3]:
            yield Warned("lfs", "large files came as pointers; get their contents with: git lfs pull upstream")
