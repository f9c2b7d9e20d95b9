"""Which remote is upstream, and which is the fork: by configuration, by name, by URL, and never by guess."""

from __future__ import annotations

import re
from typing import NamedTuple

from tooling.git.plan import Next, RefusedError
from tooling.git.state import Remote, Repo
from tooling.git.text import shown

UPSTREAM_KEY = "mergeready.upstreamRemote"
FORK_KEY = "mergeready.forkRemote"
_ALLOWED = ("https", "http", "ssh", "git", "file", "git+ssh", "ssh+git")
# The longer ones are compiled when they are first needed, which `status` does not.
_HELPER = re.compile(r"[A-Za-z0-9+.-]+::")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_SCP = r"(?:[^@/:]+@)?(?P<host>\[[^\]]+\]|[^/:]+):(?P<path>(?!/?/).*)\Z"
_URL = r"[A-Za-z][A-Za-z0-9+.-]*://(?:[^@/]*@)?(?P<host>[^/]*)(?P<path>/.*)?\Z"


class Roles(NamedTuple):
    """The remote that the project lives in, and the one that is ours; the same one where there is no fork."""

    upstream: Remote
    fork: Remote | None

    @property
    def forked(self) -> bool:
        """Whether the fork is a repository of its own, and no push to it goes to upstream as well."""
        if self.fork is None:
            return False
        return address(self.upstream.url) not in map(address, (self.fork.url, *self.fork.pushes))


def find_roles(repo: Repo) -> Roles:
    """Who is who among the remotes; RefusedError where that cannot be known."""
    upstream = _upstream(repo)
    chosen = repo.setting(FORK_KEY.lower())
    fork = _named(repo, chosen, FORK_KEY) if chosen else _fork(repo, upstream)
    for remote in (upstream, fork):
        if remote:
            _check(remote)
    return Roles(upstream, fork)


def address(url: str) -> tuple[str, str]:
    """Host and path of a repository, equal for two URLs of the same one, whatever the protocol.

    >>> address("git@GitHub.com:octo/Cat.git") == address("https://github.com/octo/cat/")
    True
    """
    if found := re.match(_URL, url) or re.match(_SCP, url):
        host = found["host"].lower().removesuffix(":443").removesuffix(":22").replace("ssh.github.com", "github.com")
        path = (found["path"] or "").strip("/").removesuffix(".git")
        return host, path.lower() if host else path
    return "", url.rstrip("/").removesuffix(".git").strip("/")


def _upstream(repo: Repo) -> Remote:
    if chosen := repo.setting(UPSTREAM_KEY.lower()):
        return _named(repo, chosen, UPSTREAM_KEY)
    if remote := repo.remote("upstream"):
        return remote
    others = [remote for remote in repo.remotes if remote.name != "origin"]
    if len(others) == 1:
        return others[0]
    if others:
        raise RefusedError(
            "upstream-ambiguous",
            "several remotes could be upstream",
            details=[f"{shown(remote.name)}  {shown(remote.url)}" for remote in others],
            next=[Next("say which one it is", ("git", "config", UPSTREAM_KEY, "NAME"))],
        )
    raise RefusedError(
        "no-upstream",
        "there is no remote for the project that this repository is a fork of",
        next=[
            Next("add it", ("git", "remote", "add", "upstream", "URL")),
            Next("or, if origin is the project itself", ("git", "config", UPSTREAM_KEY, "origin")),
        ],
    )


def _fork(repo: Repo, upstream: Remote) -> Remote | None:
    if origin := repo.remote("origin"):
        return origin
    others = [remote for remote in repo.remotes if remote != upstream]
    return others[0] if len(others) == 1 else None


def _named(repo: Repo, name: str, key: str) -> Remote:
    if remote := repo.remote(name):
        return remote
    raise RefusedError(
        "no-such-remote",
        f"{key} names the remote {shown(name)}, which does not exist",
        next=[Next("see the remotes", ("git", "remote", "-v")), Next("change it", ("git", "config", key, "NAME"))],
    )


def _check(remote: Remote) -> None:
    """Refuse a name that git would take for an option, and a URL that would start a program."""
    if remote.name.startswith("-") or remote.url.startswith("-") or _HELPER.match(remote.url):
        raise RefusedError("unsafe-remote", f"the remote {shown(remote.name)} ({shown(remote.url)}) is not safe to use")
    found = _SCHEME.match(remote.url)
    if found and found[1].lower() not in _ALLOWED:
        raise RefusedError("unsafe-remote", f"{shown(remote.name)} uses {shown(found[1])}, which is not allowed")
