"""Where a branch stands: between upstream and the fork, what is open, and what to run next. Asks no remote."""

from __future__ import annotations

from contextlib import closing
from typing import NamedTuple

from tooling.errors import Exit, UserError
from tooling.git import journal
from tooling.git.asking import Asked
from tooling.git.command import Git
from tooling.git.journal import Entry
from tooling.git.lock import only_one
from tooling.git.outcome import Outcome
from tooling.git.places import Counts, Place, branch_of
from tooling.git.plan import Next, RefusedError
from tooling.git.read import read_changes, read_refs
from tooling.git.settle import settle
from tooling.git.state import HEADS, REMOTES, Repo, tracking_ref
from tooling.git.text import count, short, shown


class Standing(NamedTuple):
    """All that `status` shows."""

    upstream: Place | None
    fork: Place | None
    entry: Entry | None
    busy: str
    conflicts: int
    last: Entry | None = None
    """What `undo` would take back."""


def read_standing(asked: Asked) -> tuple[Repo, Standing]:
    """The repository that git was asked about, and the standing of its branch."""
    repo = read_refs(asked)
    git = Git(repo.root)
    with closing(Counts(git)) as counts:
        # Git takes long to look at every file; the refs are known before that, and commits are counted meanwhile.
        counts.begin(repo)
        repo = read_changes(asked, repo)
        upstream, fork = counts.places(repo)
    entry, busy = _open_entry(repo, git)
    conflicts = _count_conflicts(git) if any(change.unmerged for change in repo.changes) else 0
    return repo, Standing(upstream, fork, entry, busy, conflicts, journal.last_entry(repo))


def _open_entry(repo: Repo, git: Git) -> tuple[Entry | None, str]:
    """The run that has not ended, and who is at work on it; where nothing can be written, nothing is closed."""
    try:
        with only_one(repo, "status", patience=0):
            return settle(repo, git), ""
    except RefusedError as busy:
        return journal.open_entry(repo), str(busy)
    except UserError:
        return journal.open_entry(repo), ""


def _count_conflicts(git: Git) -> int:
    from tooling.git.conflicts import read_conflicts

    return len(read_conflicts(git))


def standing_outcome(repo: Repo, standing: Standing) -> Outcome:
    """The picture, in words and figures."""
    branch = shown(branch_of(repo).removeprefix(HEADS)) or f"detached at {short(repo.head.oid)}"
    return Outcome(
        command="status",
        status="stopped" if standing.entry else "done",
        exit=Exit.DONE,
        summary=_summary(repo, standing, branch),
        lines=tuple(_picture(repo, standing, branch)),
        backup=standing.last.backup if standing.last else "",
        stash=standing.last.stash if standing.last else "",
        next=_next(repo, standing),
        items=(_facts(repo, standing),),
    )


def _summary(repo: Repo, standing: Standing, branch: str) -> str:
    if standing.busy:
        return standing.busy
    where = (
        f", at commit {repo.operation.step} of {repo.operation.total}"
        if repo.operation and repo.operation.total
        else ""
    )
    if entry := standing.entry:
        conflicts = f", {count(standing.conflicts, 'file')} in conflict" if standing.conflicts else ""
        what = (
            "being taken back" if entry.state == "undoing" else "stopped" if entry.state == "stopped" else "was cut off"
        )
        return f"a {entry.command} of {shown(entry.ref.removeprefix(HEADS))} {what}{where}{conflicts}"
    if repo.operation:
        return f"{repo.operation.name} is in progress{where}"
    if standing.upstream and standing.upstream.ahead:
        return f"{branch} is {count(standing.upstream.ahead, 'commit')} behind {shown(standing.upstream.name)}"
    return f"{branch} is up to date" if standing.upstream else f"{branch}; upstream was never asked where it stands"


def _picture(repo: Repo, standing: Standing, branch: str) -> list[str]:
    rows = []
    if upstream := standing.upstream:
        rows.append(
            (shown(upstream.name), short(upstream.oid), f"{count(upstream.ahead, 'commit')} that you do not have")
        )
    if fork := standing.fork:
        rows.append((shown(fork.name), short(fork.oid), _against(fork)))
    own = f"{count(standing.upstream.behind, 'commit')} of its own" if standing.upstream else ""
    rows.append((branch, short(repo.refs.get(branch_of(repo), repo.head.oid)), own))
    width = max(len(name) for name, _, _ in rows)
    signs = ["┌", *["├"] * (len(rows) - 2), "└"] if len(rows) > 1 else ["─"]
    lines = [
        f"{sign} {name:<{width}}  {oid}  {what}".rstrip() for sign, (name, oid, what) in zip(signs, rows, strict=True)
    ]
    edited, untracked = len(repo.edits), sum(change.untracked for change in repo.changes)
    if edited or untracked:
        lines.append(f"  {count(edited, 'file')} with edits, {untracked} untracked")
    if last := standing.last:
        kept = f", kept as {shown(last.backup)}" if last.backup else ""
        lines.append(f"  before the {last.command}{kept}; back with: mergeready undo")
    return lines


def _against(fork: Place) -> str:
    if fork.ahead and fork.behind:
        return f"differs: {count(fork.ahead, 'commit')} there, {fork.behind} here"
    if fork.ahead or fork.behind:
        return f"{count(fork.ahead or fork.behind, 'commit')} {'ahead of you' if fork.ahead else 'behind you'}"
    return "the same as here"


def _next(repo: Repo, standing: Standing) -> tuple[Next, ...]:
    if standing.busy:
        return ()
    if entry := standing.entry:
        if entry.state == "undoing":
            return (Next("finish taking it back", ("mergeready", "undo")),)
        return (Next("go on", ("mergeready", "continue")), Next("or take it back", ("mergeready", "abort")))
    if repo.operation:
        return tuple(Next("end it", argv) for argv in repo.operation.ways_out)
    if standing.upstream is None:
        return (Next("ask upstream, and see what a rebase would do", ("mergeready", "rebase", "--dry-run", "--fetch")),)
    mains = {tracking_ref(remote.name, repo.head.branch) for remote in repo.remotes}
    if standing.upstream.ahead and f"{REMOTES}{standing.upstream.name}" in mains:
        return (Next("bring it up to date", ("mergeready", "sync")),)
    if standing.upstream.ahead:
        return (Next("replay your commits on upstream", ("mergeready", "rebase")),)
    if standing.fork is None or standing.fork.behind:
        return (Next("bring it to your fork", ("mergeready", "push")),) if standing.upstream.behind else ()
    return ()


def _facts(repo: Repo, standing: Standing) -> dict[str, object]:
    return {
        "branch": shown(repo.head.branch),
        "oid": repo.head.oid,
        "upstream": standing.upstream._asdict() if standing.upstream else None,
        "fork": standing.fork._asdict() if standing.fork else None,
        "operation": repo.operation.kind if repo.operation else None,
        "open": {"command": standing.entry.command, "state": standing.entry.state} if standing.entry else None,
        "conflicts": standing.conflicts,
        "edits": len(repo.edits),
        "untracked": sum(change.untracked for change in repo.changes),
    }
