"""Fetch what a clone lacks to judge a branch: its head, and history until the merge base is known. Objects only.

Nothing is checked out and no branch moves. A clone is only ever deepened: `--depth` would cut off what is there.
"""

from __future__ import annotations

from collections.abc import Iterator

from checks import git
from tooling.errors import Exit, UserError
from tooling.git.command import Git
from tooling.pr.event import Request

DEPTHS = (50, 200, 800, 3200, 12800)
"""How many commits further each attempt goes."""
SILENCE = 60.0
"""Seconds that the remote may say nothing."""


def deepen(repository: git.Repository, request: Request) -> Iterator[None]:
    """Fetch more and more; the caller stops once it knows enough. Ends where there is nothing left to fetch.

    UserError where the remote does not answer or refuses.
    """
    for depth in DEPTHS:
        shallow = git.ask(repository.root, "rev-parse", "--is-shallow-repository").strip() == b"true"
        for remote in _remotes(repository, request):
            _fetch(repository, request, remote, depth if shallow else 0)
        yield
        if not shallow:
            return


def _remotes(repository: git.Repository, request: Request) -> tuple[str, ...]:
    """Where the history is: an event's checkout has only origin; at a terminal, upstream may hold the trunk."""
    known = git.ask(repository.root, "remote").decode("utf-8", "replace").split("\n")
    wanted = ("upstream", "origin") if request.event == "local" else ("origin",)
    return tuple(name for name in wanted if name in known)


def _fetch(repository: git.Repository, request: Request, remote: str, depth: int) -> None:
    options = ["--no-tags", "--no-recurse-submodules", "--no-auto-gc", "--quiet"]
    options += [f"--deepen={depth}"] if depth else []
    done = Git(repository.root).speak("fetch", *options, remote, *_wanted(request), silence=SILENCE)
    if done.status:
        said = done.err.decode("utf-8", "replace").strip().partition("\n")[0]
        raise UserError(f"{remote} does not give what this clone lacks: {said}", exit=Exit.ENVIRONMENT)


def _wanted(request: Request) -> tuple[str, ...]:
    """The refs to ask for, in full; those that are configured where the event names none."""
    if request.event == "local":
        return ()
    base = f"+refs/heads/{request.base_ref}:refs/remotes/origin/{request.base_ref}" if request.base_ref else ""
    head = f"refs/pull/{request.number}/head" if request.number and not request.absent else request.head
    return tuple(filter(None, (base, head)))
