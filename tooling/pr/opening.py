"""Hand a draft to `gh`, GitHub's command line; repository, base and head are said in full, so that it asks nothing."""

from __future__ import annotations

import os
from typing import NamedTuple

from checks import git
from tooling.errors import Exit, UserError
from tooling.git.read import read_repo
from tooling.git.remotes import address, find_roles
from tooling.pr.draft import Draft
from tooling.process import run


class Target(NamedTuple):
    """Where a pull request goes: `host/owner/name` of the project, its branch, and `owner:branch` of the head."""

    repository: str
    base: str
    head: str


def find_target(repository: git.Repository, branch: str, *, base: str = "") -> Target:
    """The target of a branch that was pushed to the fork, or to the project itself where there is none.

    UserError (refused) where what is pushed is not what is here, or the remotes don't tell who is who.
    """
    repo = read_repo(repository.root)
    roles = find_roles(repo)
    ours = roles.fork or roles.upstream
    pushed = repo.refs.get(f"refs/remotes/{ours.name}/{branch}", "")
    if pushed != repo.head.oid:
        what = "other commits are pushed than are here" if pushed else "the branch is not pushed"
        raise UserError(f"{what}: {branch}", hint="mergeready push", exit=Exit.REFUSED)
    host, path = address(roles.upstream.url)
    owner = address(ours.url)[1].partition("/")[0]
    if not host or path.count("/") != 1:
        hint = f"open it by hand: {roles.upstream.url}"
        raise UserError(f"{roles.upstream.name} is no repository on GitHub", hint=hint, exit=Exit.REFUSED)
    trunk = base.removeprefix(f"{roles.upstream.name}/") or _trunk(repository.root, roles.upstream.name)
    return Target(f"{host}/{path}", trunk, f"{owner}:{branch}")


def open_argv(target: Target, draft: Draft, *, unfinished: bool) -> list[str]:
    """The command that opens it; the description goes to its standard input."""
    return [
        *("gh", "pr", "create", f"--repo={target.repository}", f"--base={target.base}", f"--head={target.head}"),
        *(f"--title={draft.title}", "--body-file=-"),
        *(["--draft"] if unfinished else []),
    ]


def open_pull(argv: list[str], body: str) -> str:
    """Run the command; return what it says, the address of the pull request.

    UserError (environment) where `gh` is not there, (remote refused) with its own words where it fails.
    """
    done = run(argv, env=os.environ, stdin=body.encode("utf-8"))
    if done.status:
        said = done.err.decode("utf-8", "replace").strip()
        raise UserError(f"gh did not open it: {said}", hint="the draft is kept", exit=Exit.REMOTE_REFUSED)
    return done.out.decode("utf-8", "replace").strip()


def _trunk(root: str, remote: str) -> str:
    """The default branch of a remote, as the clone knows it."""
    prefix = f"refs/remotes/{remote}/"
    status, output, _ = git.attempt(root, "symbolic-ref", "--quiet", f"{prefix}HEAD")
    if status == 0:
        return os.fsdecode(output).removesuffix("\n").removeprefix(prefix)
    for name in ("main", "master"):
        if git.attempt(root, "rev-parse", "--verify", "--quiet", f"{prefix}{name}^{{commit}}")[0] == 0:
            return name
    hint = f"git remote set-head {remote} --auto, or name the base with --base"
    raise UserError(f"nothing tells the default branch of {remote}", hint=hint, exit=Exit.REFUSED)
