"""Ask and fetch from remotes: one ref at a time, with patience that ends, and with the real cause of a failure."""

from __future__ import annotations

import re
import time
from itertools import takewhile
from typing import NamedTuple

from tooling.errors import Exit, UserError
from tooling.git import parse
from tooling.git.command import Git, lock_of, locked, text
from tooling.git.state import Remote, Repo
from tooling.git.text import shown
from tooling.process import Done

PATIENCE = "60"
_TRIES = (0.0, 0.5, 1.5)
_CAUSES = (
    ("auth", r"authentication failed|could not read (username|password)|permission denied|terminal prompts|\b40[13]\b"),
    ("gone", r"not found|does not appear to be a git repository|does not exist|no such file"),
    (
        "network",
        r"could not resolve|connect|timed? ?out|unable to access|early eof|hung up|unreachable|from remote rep",
    ),
)
_ADVICE = {
    "auth": "log in to that host, or change the remote's URL, then run this again",
    "gone": "see where the remote points with: git remote -v",
    "network": "nothing was changed; run this again once the remote can be reached",
    "other": "nothing was changed",
}


class Advertised(NamedTuple):
    """What a remote says it has: ids by full ref name, and the branch that its HEAD stands for."""

    refs: dict[str, str]
    main: str

    @property
    def main_oid(self) -> str:
        """The tip of the main branch."""
        return self.refs.get(self.main) or self.refs.get("HEAD", "")


def patience(repo: Repo) -> float:
    """Seconds for which a remote may say nothing; what is no time at all does not count."""
    try:
        seconds = float(repo.setting("mergeready.timeout", PATIENCE))
    except ValueError:
        seconds = 0.0
    return seconds if seconds > 0 else float(PATIENCE)


def ask_remote(repo: Repo, git: Git, remote: Remote, *refs: str) -> Advertised:
    """What a remote has under HEAD and these full ref names; UserError where it cannot be asked."""
    out = _persist(repo, git, remote, "ls-remote", "--symref", "--end-of-options", remote.name, "HEAD", *refs)
    return Advertised(*parse.advertised(out))


def fetch(repo: Repo, git: Git, remote: Remote, source: str, target: str) -> None:
    """Fetch one ref into one ref, with no tags; history that is here already is never cut."""
    options = ("--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-prune", "--progress")
    _persist(repo, git, remote, "fetch", *options, "--end-of-options", remote.name, f"+{source}:{target}")


def prefetch(repo: Repo, git: Git, base: str, tip: str, onto: str) -> None:
    """Get the contents that a rebase will read, where a partial clone has left them behind; UserError if it cannot."""
    compare = ("--shortstat", "--no-ext-diff", "--no-textconv", "--no-renames")
    for command in (("diff", *compare, tip, onto), ("diff", *compare, base, onto), ("log", *compare, f"{base}..{tip}")):
        done = git.speak(*command, silence=patience(repo))
        if done.status:
            raise unreachable("the remote of this partial clone", done)


def cause(said: str) -> str:
    """Why a remote could not be used: auth, gone, network or other.

    >>> cause("fatal: Authentication failed for 'https://example.org/a'")
    'auth'
    """
    return next((name for name, pattern in _CAUSES if re.search(pattern, said, re.IGNORECASE)), "other")


def unreachable(remote: str, done: Done) -> UserError:
    """What to tell the user of a remote that could not be used."""
    said = last_words(done)
    if lock := lock_of(said):
        return locked(lock)
    advice = _ADVICE[cause(text(done.err))]
    if "git remote prune" in text(done.err):  # as git advises; what it says before that is another in each version
        advice = f"a branch there has taken the name of one that is gone; forget that with: git remote prune {remote}"
    return UserError(f"{remote} cannot be used: {said}", hint=advice, exit=Exit.ENVIRONMENT)


def last_words(done: Done) -> str:
    """The line of an error output that says most, the first fatal one or the last of all, with what it lists."""
    lines = [line.rstrip() for line in text(done.err).replace("\r", "\n").splitlines() if line.strip()]
    fatal = (number for number, line in enumerate(lines) if line.startswith(("fatal:", "error:", "ERROR:")))
    first = next(fatal, len(lines) - 1)
    listed = takewhile(lambda line: line.startswith("\t"), lines[first + 1 :] if first >= 0 else [])
    said = [*lines[first : first + 1], ", ".join(line.strip() for line in listed)]
    return shown(" ".join(filter(None, said)).strip() or f"exit status {done.status}")


def _persist(repo: Repo, git: Git, remote: Remote, *arguments: str) -> bytes:
    """Run a command that changes nothing on the remote, again after a moment where the network failed."""
    done = Done(1, b"", b"")
    for pause in _TRIES:
        time.sleep(pause)
        done = git.speak(*arguments, silence=patience(repo))
        if done.status == 0:
            return done.out
        if cause(text(done.err)) != "network":
            break
    raise unreachable(shown(remote.name), done)
