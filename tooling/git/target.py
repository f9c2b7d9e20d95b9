"""What a rebase goes onto: upstream's main branch, another branch of upstream, or a commit that is here."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tooling.git.command import Git
from tooling.git.fetch import ask_remote, fetch
from tooling.git.plan import Next, RefusedError, Warned
from tooling.git.ready import check_not_main
from tooling.git.remotes import Roles
from tooling.git.state import HEADS, REMOTES, Repo, tracking_ref
from tooling.git.text import shown

NOT_ASKED = Warned("not-asked", "no remote was asked: this is as of the last fetch; --fetch asks first")
"""What to know of a dry run that asked nobody."""


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
            "no-such-branch",
            f"{shown(upstream.name)} has no branch {shown(named) or 'that its HEAD names'}",
            next=[
                Next("see which ones it has", ("git", "ls-remote", "--heads", upstream.name)),
                Next("and name one", ("mergeready", "rebase", "--onto", f"{upstream.name}/NAME")),
            ],
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
    return Target(target.removeprefix(REMOTES), oid, known, target)


def known_target(repo: Repo, git: Git, roles: Roles, onto: str) -> Target:
    """The same without asking anybody: upstream as it was last fetched; RefusedError where it never was."""
    upstream = roles.upstream.name
    named = branch_of_upstream(roles, onto).removeprefix(HEADS)
    if onto and not named:
        return find_target(repo, git, roles, onto, lambda _: None)
    target = tracking_ref(upstream, named) if named else repo.main_ref(upstream)
    if target not in repo.refs:
        raise not_fetched(shown(f"{upstream}/{named}" if named else upstream), "rebase")
    if not named:
        check_not_main(repo, (target.removeprefix(tracking_ref(upstream, "")),))
    return Target(target.removeprefix(REMOTES), repo.refs[target], ref=target)


def not_fetched(name: str, command: str) -> RefusedError:
    """The refusal of a dry run to tell what would come of something that is not known here."""
    ask = Next("ask, and tell then", ("mergeready", command, "--dry-run", "--fetch"))
    return RefusedError("not-fetched", f"{name} was never fetched, and a dry run asks no remote", next=[ask])


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
