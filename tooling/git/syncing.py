"""The facts of a sync: ask both remotes for their main branch, fetch them, and compare."""

from __future__ import annotations

from tooling.git import parse
from tooling.git.beside import free_to_move
from tooling.git.command import Git
from tooling.git.fetch import ask_remote, fetch
from tooling.git.obstacles import in_the_way, read_unfit
from tooling.git.plan import RefusedError
from tooling.git.remotes import Roles
from tooling.git.replay import LOG, differences, is_ancestor, read_roots
from tooling.git.squash import Record, count_commits
from tooling.git.state import HEADS, Remote, Repo, tracking_ref
from tooling.git.sync import Syncing
from tooling.git.target import not_fetched
from tooling.git.text import shown


def fetch_mains(repo: Repo, git: Git, roles: Roles) -> tuple[str, str, str, str]:
    """Names and tips of the main branches: upstream's name and tip, the fork's name and tip."""
    assert roles.fork
    return (*_main(repo, git, roles.upstream), *_main(repo, git, roles.fork))


def known_mains(repo: Repo, roles: Roles) -> tuple[str, str, str, str]:
    """The same without asking anybody, as they were last fetched; RefusedError where one never was."""
    assert roles.fork
    return (*_known_main(repo, roles.upstream), *_known_main(repo, roles.fork))


def read_syncing(
    repo: Repo, git: Git, roles: Roles, mains: tuple[str, str, str, str], records: tuple[Record, ...]
) -> Syncing:
    """What lies between the main branches that were fetched."""
    assert roles.fork
    upstream_main, new, fork_main, old = mains
    related = bool(git.line("merge-base", old, new))
    only_fork = parse.commits(git.ask(*LOG, f"{new}..{old}")) if related else ()
    ours = {record.commit for record in records} if only_fork else set()
    ours_trees = {record.tree for record in records}
    own = tuple(
        commit for commit in only_fork if commit.oid not in ours and not _is_landing(git, commit.oid, ours_trees)
    )
    added = (
        [change.path for change in differences(git, repo.head.oid, new) if change.status == "A"]
        if repo.head.oid
        else []
    )
    trees = {git.line("rev-parse", f"{oid}^{{tree}}") for oid in (old, new)}
    return Syncing(
        upstream=roles.upstream.name,
        fork=roles.fork.name,
        upstream_main=upstream_main,
        fork_main=fork_main,
        new=new,
        old=old,
        roots=() if related else read_roots(git, old, new),
        missing=count_commits(git, old, new),
        own=own,
        synced=len(only_fork) - len(own),
        same_tree=len(trees) == 1,
        in_the_way=tuple(in_the_way(repo, git, added)),
        unfit=read_unfit(repo, git, added, new),
        local_follows=is_ancestor(git, repo.refs.get(f"{HEADS}{fork_main}", new), new),
        movable_elsewhere=free_to_move(repo, git, f"{HEADS}{fork_main}", new),
    )


def _main(repo: Repo, git: Git, remote: Remote) -> tuple[str, str]:
    there = ask_remote(repo, git, remote)
    if not there.main or not there.main_oid:
        raise RefusedError("no-main", f"{shown(remote.name)} has no main branch that its HEAD names")
    name = there.main.removeprefix(HEADS)
    target = tracking_ref(remote.name, name)
    if repo.refs.get(target) != there.main_oid:
        fetch(repo, git, remote, there.main, target)
    return name, git.line("rev-parse", "--verify", target)


def _known_main(repo: Repo, remote: Remote) -> tuple[str, str]:
    ref = repo.main_ref(remote.name)
    if ref not in repo.refs:
        raise not_fetched(shown(remote.name), "sync")
    return ref.removeprefix(tracking_ref(remote.name, "")), repo.refs[ref]


def _is_landing(git: Git, commit: str, trees: set[str]) -> bool:
    """Whether a commit is what a merge made of a squashed sync of ours: it has the same contents."""
    return bool(trees) and git.line("rev-parse", f"{commit}^{{tree}}") in trees
