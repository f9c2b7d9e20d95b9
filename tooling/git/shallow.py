"""Shallow clones: whether where two branches part can be known, what the rest of the history costs, and getting it."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from tooling.errors import UserError
from tooling.git import journal
from tooling.git.command import Git, text
from tooling.git.fetch import ask_remote, patience, unreachable
from tooling.git.outcome import Outcome, planned
from tooling.git.plan import Next, Plan, RefusedError, Step
from tooling.git.read import read_repo
from tooling.git.remotes import Roles
from tooling.git.state import HEADS, Remote, Repo
from tooling.git.text import count, shown
from tooling.process import SilentError

_SECONDS = 15.0
"""How long the estimate may take."""
_FETCH = ("fetch", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-prune", "--progress")
_PROGRESS = re.compile(rb"(Receiving objects|Resolving deltas): +(\d+)% \((\d+)/(\d+)\)(?:, ([\d.]+ [KMG]iB))?")


class Source(NamedTuple):
    """A remote, and the full names of what is wanted from it."""

    remote: Remote
    refs: tuple[str, ...]


def is_enough(repo: Repo, git: Git, one: str, other: str) -> bool:
    """Whether all history between two commits and where they part is here; a base found without that may be wrong."""
    if not repo.shallow:
        return True
    if not one or not other:
        return False
    with open(os.path.join(repo.common_dir, "shallow"), encoding="ascii") as file:
        cut = set(file.read().split())
    bases = text(git.attempt("merge-base", "--all", one, other).out).split()
    between = git.attempt("rev-list", one, other, *(f"^{base}" for base in bases))
    return bool(bases) and between.status == 0 and not cut.intersection(text(between.out).split())


def sources(repo: Repo, git: Git, roles: Roles, upstreams: str = "") -> tuple[Source, ...]:
    """Where the rest of the history may be: the fork's main branch and this one, and upstream's main branch.

    `upstreams` is the full name of another branch of upstream that is meant.
    """
    found = []
    if roles.fork:
        there = ask_remote(repo, git, roles.fork, *([repo.head.ref] if repo.head.ref else []))
        wanted = (ref for ref in dict.fromkeys((repo.head.ref, there.main)) if ref in there.refs or ref == there.main)
        found.append(Source(roles.fork, tuple(filter(None, wanted))))
    there = ask_remote(repo, git, roles.upstream)
    found.append(Source(roles.upstream, tuple(filter(None, (upstreams or there.main,)))))
    return tuple(source for source in found if source.refs)


def refusal(command: str, repo: Repo, git: Git, wanted: Sequence[Source]) -> RefusedError:
    """The refusal to work on a history that is cut off, with what the rest of it costs."""
    return RefusedError(
        "shallow",
        "this clone is shallow: where the branches part cannot be known",
        details=_costs(repo, git, wanted),
        next=[
            Next("fetch the rest of the history first", ("mergeready", command, "--unshallow")),
            Next("see what that would fetch", ("mergeready", command, "--unshallow", "--dry-run")),
        ],
    )


def promised(command: str, repo: Repo, git: Git, wanted: Sequence[Source]) -> Outcome:
    """What `--unshallow` would fetch; what comes after it cannot be told before."""
    plan = Plan(
        command,
        f"fetch the rest of the history first; what the {command} would do can be told after that",
        tuple(Step("fetch", _argv(source), f"from {shown(source.remote.name)}") for source in wanted),
    )
    return planned(plan, lines=tuple(_costs(repo, git, wanted)))


def deepen(repo: Repo, git: Git, wanted: Sequence[Source], tell: Callable[[str], None]) -> Repo:
    """Fetch the whole history, from one remote after the other until none is missing; the repository as it is then.

    No branch and no remote-tracking ref moves, so that what was last seen on the fork stays known.
    """
    for source in wanted:
        if read_repo(repo.root).shallow:
            tell(f"fetching the rest of the history from {shown(source.remote.name)}")
            done = git.speak(*_argv(source), silence=patience(repo), hear=_Progress(tell).hear)
            if done.status:
                raise unreachable(shown(source.remote.name), done)
    return read_repo(repo.root)


def check_enough(repo: Repo, git: Git, one: str, other: str) -> None:
    """Refuse where, all fetched, it is still unknown where two commits part."""
    if not is_enough(repo, git, one, other):
        raise RefusedError(
            "shallow",
            "the history is still cut off: neither remote has what comes before it",
            next=[Next("see where it is cut off", ("git", "rev-parse", "--git-path", "shallow"))],
        )


def _argv(source: Source) -> tuple[str, ...]:
    return (*_FETCH, "--unshallow", "--refmap=", "--end-of-options", source.remote.name, *source.refs)


def _costs(repo: Repo, git: Git, wanted: Sequence[Source]) -> Iterator[str]:
    here = set(text(git.ask("rev-list", "--all", "HEAD")).split())
    yield f"here: {count(len(here), 'commit')}, {_size(_packed(git))}"
    for source in wanted:
        name = shown(f"{source.remote.name}/{source.refs[-1].removeprefix(HEADS)}")
        found = _missing(repo, git, source, here)
        if found is None:
            yield f"{name}: it cannot be told how many commits more there are"
        else:
            yield f"{name}: {count(found[0], 'commit')} more, {_size(found[1])} without files and folders"


def _missing(repo: Repo, git: Git, source: Source, here: set[str]) -> tuple[int, int] | None:
    """How many commits a remote has beyond those, and the size of its commits in bytes; None where it does not tell.

    They are fetched without what they hold, into a repository that is gone afterwards.
    """
    with tempfile.TemporaryDirectory(dir=journal.home(repo), prefix="estimate-") as place:
        there = git.with_environment(GIT_DIR=place)
        fetch = ("fetch", "--quiet", "--no-tags", "--filter=tree:0", "--end-of-options", source.remote.url)
        try:
            there.ask("init", "--quiet", "--bare", place)
            done = there.attempt(*fetch, f"{source.refs[-1]}:refs/heads/x", timeout=_SECONDS)
        except (SilentError, UserError):
            return None
        if done.status:
            return None
        all_there = text(there.ask("rev-list", "refs/heads/x")).split()
        return len(set(all_there) - here), _packed(there)


def _packed(git: Git) -> int:
    """Bytes of all objects of a repository."""
    counted = dict(line.split(": ") for line in text(git.ask("count-objects", "-v")).splitlines())
    return 1024 * (int(counted["size"]) + int(counted["size-pack"]))


def _size(octets: int) -> str:
    """A size for people.

    >>> _size(3 * 1024 * 1024), _size(20)
    ('3.0 MiB', '1 KiB')
    """
    return f"{octets / 1048576:.1f} MiB" if octets >= 1048576 else f"{max(1, octets // 1024)} KiB"


class _Progress:
    """Tells of a long fetch at every tenth of it."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._told = ""

    def hear(self, piece: bytes) -> None:
        """Take what git says of its progress."""
        for found in _PROGRESS.finditer(piece):
            what, percent, done, total, size = (group.decode("ascii") if group else "" for group in found.groups())
            tenth = f"{what} {int(percent) // 10}"
            if tenth != self._told:
                self._told = tenth
                self._tell(f"{what.lower()}: {percent}%, {done} of {total}{', ' if size else ''}{size}")
