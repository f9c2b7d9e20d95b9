"""Rehearse a rebase: really replay the commits, in a worktree that is gone afterwards, and tell what conflicts.

No hook of the user's runs and no resolution is recorded. Where a commit conflicts, its own side of the files is taken
and the rest is tried on top of that, so that every commit gets its say.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tooling.git import journal, parse, worktree
from tooling.git.command import Git, failed
from tooling.git.conflicts import Conflict, read_conflicts
from tooling.git.outcome import Outcome, planned
from tooling.git.plan import Plan
from tooling.git.read import read_operation
from tooling.git.replay import LOG
from tooling.git.stacked import UPDATE_REFS
from tooling.git.state import Commit, Repo
from tooling.git.text import count, encoded, short, shown, to_git
from tooling.git.wordless import past_wordless
from tooling.process import Done


class Rehearsal(NamedTuple):
    """What a rehearsal showed: conflicts by commit, and the commits that came out."""

    conflicts: tuple[tuple[Commit, tuple[Conflict, ...]], ...]
    commits: tuple[Commit, ...]


def rehearse(repo: Repo, git: Git, plan: Plan) -> Rehearsal:
    """Run the rebase steps of a plan elsewhere; UserError where no worktree can be made."""
    with worktree.for_a_while(repo, git, f"rehearsal-{journal.stamp()}", repo.head.oid) as here:
        # A branch below would really move, wherever the commits are replayed.
        rebases = [
            tuple(word for word in step.argv if word != UPDATE_REFS) for step in plan.steps if step.action == "rebase"
        ]
        found = tuple(item for argv in rebases for item in _replay(here, argv))
        return Rehearsal(found, parse.commits(here.ask(*LOG, "--reverse", f"{plan.onto}..HEAD")))


def _replay(git: Git, argv: tuple[str, ...]) -> Iterator[tuple[Commit, tuple[Conflict, ...]]]:
    folder = git.line("rev-parse", "--absolute-git-dir")
    done = git.attempt(*argv)
    while read_operation(folder) is not None:
        conflicts = read_conflicts(git)
        if not conflicts:
            raise failed("rebase", done)
        yield parse.commits(git.ask(*LOG, "-1", "REBASE_HEAD"))[0], conflicts
        done = _take_their_side(git, conflicts)
    if done.status:
        raise failed("rebase", done)


def _take_their_side(git: Git, conflicts: tuple[Conflict, ...]) -> Done:
    """Go on as if the commit's own version had been kept."""
    lines = []
    for record in parse.records(git.ask("ls-files", "--unmerged", "-z")):
        head, _, path = record.partition("\t")
        mode, oid, stage = head.split(" ")
        if stage == "3":
            lines.append(f"{mode} {oid} 0\t{path}")
    kept = {line.partition("\t")[2] for line in lines}
    zeros = "0" * len(git.line("rev-parse", "HEAD"))
    gone = [f"0 {zeros}\t{conflict.path}" for conflict in conflicts if conflict.path not in kept]
    stdin = to_git("".join(f"{line}\0" for line in (*gone, *lines)))
    git.ask("update-index", "-z", "--index-info", stdin=stdin)
    git.ask("checkout-index", "--all", "--force")
    for path in gone:
        Path(git.folder, path.partition("\t")[2]).unlink(missing_ok=True)
    done = past_wordless(git, git.attempt("rebase", "--continue"))
    if done.status and b"No changes" in done.out + done.err:
        return git.attempt("rebase", "--skip")
    return done


def rehearsed(repo: Repo, git: Git, plan: Plan) -> Outcome:
    """The outcome of a dry run: the plan, and what its rehearsal showed."""
    if not plan.steps:
        return planned(plan)
    rehearsal = rehearse(repo, git, plan)
    lines = [f"rehearsed: {count(len(rehearsal.commits), 'commit')} in the result"]
    for commit, conflicts in rehearsal.conflicts:
        lines.append(f"conflict in {short(commit.oid)} {shown(commit.subject)}")
        lines += [f"  {shown(conflict.path)}: {conflict.kind}" for conflict in conflicts]
    if len(rehearsal.conflicts) > 1:
        lines.append("each commit after the first conflict was tried as if your side had been kept")
    conflicts = tuple(conflict for _, found in rehearsal.conflicts for conflict in found)
    outcome = planned(plan, lines=tuple(lines), conflicts=conflicts)
    by_commit = (
        {"commit": commit.oid, "subject": shown(commit.subject), "conflicts": [encoded(item.path) for item in found]}
        for commit, found in rehearsal.conflicts
    )
    return outcome._replace(items=(*outcome.items, *by_commit))
