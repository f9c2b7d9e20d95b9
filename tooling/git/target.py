"""What a rebase goes onto: upstream's main branch, another branch of upstream, or a commit that is here."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tooling.git.command import Git
from tooling.git.fetch import ask_remote, fetch
from tooling.git.plan import RefusedError
from tooling.git.ready import check_not_main
from tooling.git.remotes import Roles
from tooling.git.state import HEADS, Repo, tracking_ref
from tooling.git.text import shown


class Target(NamedTuple):
    """What to rebase on: a name for people, a commit, and for upstream's where it stood and which ref follows it."""

    name: str
    oid: str
    known: str = ""
    ref: str = ""


def find_target(repo: Repo, git: Git, roles: Roles, onto: str, tell: Callable[[str], None]) -> Target:
    """What to rebase on, fetched where it is upstream's; the main branch is what upstream says it is."""
    upstream = roles.upstream
    named = branch_of_upstream(roles, onto).removeprefix(HEADS)
    if onto and not named:
        oid = _commit(git, onto)
        if not oid:
            raise RefusedError("no-such-commit", f"there is no commit {shown(onto)}")
        return Target(shown(onto), oid)
    tell(f"asking {upstream.name}")
    there = ask_remote(repo, git, upstream, *([HEADS + named] if named else []))
    source = HEADS + named if named else there.main
    oid = there.refs.get(source, "") if named else there.main_oid
    if not oid or not source:
        raise RefusedError(
            "no-such-branch", f"{shown(upstream.name)} has no branch {shown(named) or 'that its HEAD names'}"
        )
    if not named:
        check_not_main(repo, (source.removeprefix(HEADS),))
    target = tracking_ref(upstream.name, source.removeprefix(HEADS))
    known = repo.refs.get(target, "")
    if known != oid:
        tell(f"fetching {upstream.name}")
        fetch(repo, git, upstream, source, target)
        oid = git.line("rev-parse", "--verify", target)
    if not named and repo.symbolic.get(tracking_ref(upstream.name, "HEAD")) != target:
        git.attempt("symbolic-ref", tracking_ref(upstream.name, "HEAD"), target)
    return Target(target.removeprefix("refs/remotes/"), oid, known, target)


def branch_of_upstream(roles: Roles, onto: str) -> str:
    """The full name that a branch of upstream has there, where `onto` names one; nothing where it names none."""
    prefix = f"{roles.upstream.name}/"
    return HEADS + onto.removeprefix(prefix) if onto.startswith(prefix) else ""


def known_tip(repo: Repo, git: Git, roles: Roles, onto: str) -> str:
    """Where that stood when upstream was last asked; nothing where it was not."""
    if named := branch_of_upstream(roles, onto):
        return repo.refs.get(tracking_ref(roles.upstream.name, named.removeprefix(HEADS)), "")
    return _commit(git, onto) if onto else repo.refs.get(repo.main_ref(roles.upstream.name), "")


def _commit(git: Git, name: str) -> str:
    return git.line("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
