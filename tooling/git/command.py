"""Git's command line, and nothing else: one environment, one set of pins, full object ids and full ref names.

User configuration can flip how almost every git command behaves; what we rely on is pinned here, for all of them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from checks.git import environment
from tooling.errors import Exit, UserError
from tooling.git.text import from_git, shown
from tooling.process import Done, SilentError, Started, run, run_while_it_speaks

if TYPE_CHECKING:
    from tooling.git.plan import RefusedError

PINS = (
    *("color.ui=false", "core.fsmonitor=false", "core.quotePath=false", "submodule.recurse=false"),
    *("fetch.recurseSubmodules=false", "fetch.prune=false", "fetch.writeCommitGraph=false", "log.showSignature=false"),
    *("diff.renames=false", "diff.noprefix=false", "diff.ignoreSubmodules=none", "status.renames=false"),
    *("gc.auto=0", "maintenance.auto=false", "rebase.autoStash=false", "rebase.autoSquash=false"),
    *("rebase.rebaseMerges=false", "rebase.updateRefs=false", "rebase.forkPoint=false", "rebase.backend=merge"),
    *("rebase.abbreviateCommands=false", "rebase.instructionFormat=%s", "merge.ff=true", "push.followTags=false"),
    *("push.gpgSign=false", "push.recurseSubmodules=no", "push.useForceIfIncludes=false", "commit.verbose=false"),
    *("core.commentChar=#", "i18n.logOutputEncoding=UTF-8"),
)
_PINNED = tuple(word for pin in PINS for word in ("-c", pin))
QUIET = ("core.hooksPath=/dev/null", "rerere.enabled=false", "commit.gpgSign=false")
"""Pins of a rehearsal: no hook of the user's runs, nothing is recorded, nobody is asked for a passphrase."""


class Git(NamedTuple):
    """Git in one folder. `extra` are pins and `env` variables beyond those that every command gets.

    `lock` is our own lock: a command that outlives us keeps holding it, so that nobody starts beside it.
    """

    folder: str
    extra: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    lock: tuple[int, ...] = ()

    def argv(self, *arguments: str) -> list[str]:
        """The whole command line."""
        extra = (word for pin in self.extra for word in ("-c", pin))
        return ["git", "-C", self.folder, "--no-pager", *_PINNED, *extra, *arguments]

    def start(self, *arguments: str, stdin: bytes = b"") -> Question:
        """Begin a command that only reads; it takes no lock."""
        argv = self.argv("--no-optional-locks", *arguments)
        return Question(arguments[0], Started(argv, env=self._environment(), stdin=stdin))

    def attempt(self, *arguments: str, stdin: bytes = b"", timeout: float | None = None) -> Done:
        """Run a command and take it as it ends."""
        return run(self.argv(*arguments), env=self._environment(), stdin=stdin, hold=self.lock, timeout=timeout)

    def ask(self, *arguments: str, stdin: bytes = b"") -> bytes:
        """What a command prints; UserError with git's own words where it fails."""
        done = self.attempt(*arguments, stdin=stdin)
        if done.status:
            raise failed(next(word for word in arguments if not word.startswith("-")), done)
        return done.out

    def line(self, *arguments: str) -> str:
        """The one line that a command prints, nothing where it fails."""
        done = self.attempt(*arguments)
        return "" if done.status else text(done.out)

    def speak(self, *arguments: str, silence: float, hear: Callable[[bytes], None] | None = None) -> Done:
        """Run a command that talks to another machine; UserError once that says nothing for `silence` seconds.

        At a terminal git may ask for a password, and waits for as long as that takes. `hear` is given what it says of
        its progress, as it comes.
        """
        if _somebody_can_answer():
            asking = self.with_environment(GIT_TERMINAL_PROMPT="1")
            env = asking._environment()
            return run_while_it_speaks(asking.argv(*arguments), env=env, silence=inf, hear=hear, at_terminal=True)
        try:
            return run_while_it_speaks(self.argv(*arguments), env=self._environment(), silence=silence, hear=hear)
        except SilentError as error:
            raise UserError(
                f"the remote has said nothing for {silence:g} seconds",
                hint="nothing was changed; try again, or allow more time: git config mergeready.timeout SECONDS",
                exit=Exit.ENVIRONMENT,
            ) from error

    def with_environment(self, **variables: str) -> Git:
        """The same git with these variables set."""
        return self._replace(env=(*self.env, *variables.items()))

    def _environment(self) -> Mapping[str, str]:
        fixed = {
            "GIT_EDITOR": "true",
            "GIT_SEQUENCE_EDITOR": "true",
            "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
            # The files of large file storage come later and by themselves: a missing one must not stop a rebase.
            "GIT_LFS_SKIP_SMUDGE": "1",
            "GIT_MERGE_AUTOEDIT": "no",
        }
        return {**environment(), **fixed, **dict(self.env)}


class Question(NamedTuple):
    """A command that runs while we do something else."""

    name: str
    started: Started

    def finish(self) -> Done:
        """How it ended."""
        return self.started.finish()

    def answer(self) -> bytes:
        """What it printed; UserError where it failed."""
        done = self.finish()
        if done.status:
            raise failed(self.name, done)
        return done.out

    def close(self) -> None:
        """End it if nobody has waited for it."""
        self.started.close()


def text(output: bytes) -> str:
    """Output as text without its last line end; bytes that are not UTF-8 survive as surrogates."""
    return from_git(output).removesuffix("\n")


def failed(name: str, done: Done) -> UserError:
    """What to tell the user where a command failed that should not."""
    lines = [line for line in text(done.err).splitlines() if line.strip()]
    said = next((line for line in lines if line.startswith(("fatal:", "error:"))), "".join(lines[:1]))
    if lock := lock_of(said):
        return locked(lock)
    return UserError(f"git {name} failed: {shown(said) or f'exit status {done.status}'}", exit=Exit.ENVIRONMENT)


def lock_of(said: str) -> str:
    """The lock that git could not take, nothing where that is not what it says."""
    lock = next((word for word in said.split("'") if word.endswith(".lock")), "")
    return lock if "unable to create" in said.lower() else ""


def locked(path: str) -> RefusedError:
    """What to tell the user where another git holds a lock, or one that died has left it."""
    from tooling.git.plan import Next, RefusedError

    return RefusedError(
        "locked",
        f"{shown(path)} is there: another git is at work, or was killed",
        next=[Next("if none is at work, remove it", ("rm", path))],
    )


def _somebody_can_answer() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()
