"""Whether a repository is in a state to begin in: what can be seen without asking a remote."""

from __future__ import annotations

from tooling.errors import Exit, UserError
from tooling.git.command import Git
from tooling.git.fetch import last_words
from tooling.git.plan import Next, RefusedError
from tooling.git.state import HEADS, Repo
from tooling.git.text import several, short, shown


def check_state(repo: Repo) -> None:
    """Refuse where a rebase cannot begin, whatever upstream has."""
    check_idle(repo)
    check_on_branch(repo)
    if place := repo.elsewhere(repo.head.ref):
        raise RefusedError(
            "checked-out-elsewhere",
            f"{shown(repo.head.branch)} is checked out in {shown(place)} too",
            next=[
                Next("let go of it there", ("git", "-C", place, "switch", "--detach")),
                Next("or, if that folder is gone", ("git", "worktree", "prune")),
            ],
        )
    unready = [change for change in repo.changes if change.unmerged]
    if unready:
        raise RefusedError(
            "unmerged", "there are conflicts that are not resolved", details=several([c.path for c in unready])
        )


def check_identity(git: Git) -> None:
    """UserError where git does not know whose name the commits that it makes should bear."""
    done = git.attempt("var", "GIT_COMMITTER_IDENT")
    if done.status:
        raise UserError(
            f"git does not know who you are: {last_words(done)}",
            hint='nothing was changed; tell it: git config user.name "NAME" && git config user.email "ADDRESS"',
            exit=Exit.ENVIRONMENT,
        )


def check_on_branch(repo: Repo) -> None:
    """Refuse where HEAD is no branch with a commit, or one whose name git would take for an option."""
    if not repo.head.oid:
        raise RefusedError("unborn", "there is no commit on this branch yet")
    if not repo.head.ref:
        raise RefusedError(
            "detached",
            f"HEAD is at {short(repo.head.oid)} and on no branch",
            next=[Next("give it a branch", ("git", "switch", "-c", "NAME"))],
        )
    if repo.head.branch.startswith("-"):
        raise RefusedError("unsafe-branch", f"the branch name {shown(repo.head.branch)} reads like an option")


def check_not_main(repo: Repo, mains: tuple[str, ...]) -> None:
    """Refuse to rebase a main branch of upstream or the fork."""
    if repo.head.branch in mains:
        raise RefusedError(
            "on-main",
            f"{shown(repo.head.branch)} is a main branch: work belongs on a branch of its own",
            next=[
                Next("take your commits to a new branch", ("git", "switch", "-c", "NAME")),
                Next("bring the main branch up to date with", ("mergeready", "sync")),
            ],
        )


def check_idle(repo: Repo) -> None:
    """Refuse to start while git is in the middle of something."""
    if operation := repo.operation:
        where = f" of {shown(operation.ref.removeprefix(HEADS))}" if operation.ref else ""
        step = f", at {operation.step} of {operation.total}" if operation.total else ""
        go_on, *give_up = operation.ways_out
        raise RefusedError(
            "in-progress",
            f"{operation.name}{where} is in progress{step}",
            next=[Next("go on with it, or end it", go_on), *(Next("or give it up", argv) for argv in give_up)],
        )
