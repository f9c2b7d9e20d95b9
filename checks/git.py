"""Ask git, by plumbing, in an environment that nothing outside can bend."""

from __future__ import annotations

import os
import subprocess
import time
from typing import NamedTuple

from checks.errors import CheckError

# What `git rev-parse --local-env-vars` prints: a hook runs with some of these set, and `git commit -a` even points
# GIT_INDEX_FILE at a temporary index. The tree that the user sees is what we check, so none of them may leak in.
_LOCAL = (
    *("GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT"),
    *("GIT_OBJECT_DIRECTORY", "GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE"),
    *("GIT_INDEX_FILE", "GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_PREFIX", "GIT_SHALLOW_FILE"),
    *("GIT_COMMON_DIR", "GIT_INTERNAL_SUPER_PREFIX"),
    # Not of that list either: one hides the refs of a remote, the other keeps refs from being written.
    *("GIT_NAMESPACE", "GIT_QUARANTINE_PATH"),
    # Not of that list, but they change what a path or an attribute means.
    *("GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS", "GIT_ATTR_SOURCE"),
)
_SAFE = ("-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "--no-optional-locks")


class Repository(NamedTuple):
    """Where a checkout is: its top folder and the git folder that all its worktrees share."""

    root: str
    common_dir: str


def environment() -> dict[str, str]:
    """The process environment without what would point git elsewhere, in the C locale."""
    kept = {name: value for name, value in os.environ.items() if name not in _LOCAL}
    return {**kept, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"}


def command(root: str, *arguments: str) -> list[str]:
    """The argv of a git command that runs in `root` and runs nothing that its configuration names."""
    return ["git", "-C", root, *_SAFE, *arguments]


class Started:
    """A git command that runs while we go on; `output` waits for it. `began` is in nanoseconds since 1970."""

    def __init__(self, root: str, *arguments: str) -> None:
        self.began = time.time_ns()
        self._name = arguments[0]
        self._result: tuple[int, bytes, bytes] | None = None
        try:
            self._process = subprocess.Popen(
                command(root, *arguments),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment(),
            )
        except OSError as error:
            raise _not_started(error) from error

    def result(self) -> tuple[int, bytes, bytes]:
        """Exit status, output and errors."""
        if self._result is None:
            output, errors = self._process.communicate()
            self._result = self._process.returncode, output, errors
        return self._result

    def close(self) -> None:
        """End it if nobody has waited for it."""
        if self._result is None:
            self._process.kill()
            self.result()

    def output(self) -> bytes:
        """What it printed; CheckError with git's own first line where it failed."""
        status, output, errors = self.result()
        if status:
            said = errors.decode("utf-8", "replace").strip().partition("\n")[0]
            raise CheckError(f"git {self._name} failed: {said or status}", environment=True)
        return output


def ask(root: str, *arguments: str) -> bytes:
    """What a git command prints; CheckError with git's own first line where it fails."""
    return Started(root, *arguments).output()


def attempt(root: str, *arguments: str) -> tuple[int, bytes, bytes]:
    """Exit status, output and errors of a git command; CheckError only where git itself cannot be started."""
    return Started(root, *arguments).result()


_WHERE = ("--show-toplevel", "--git-common-dir")


def start_looking(start: str) -> Started:
    """Have git look for the checkout that holds a folder, while the caller goes on; CheckError if it is no folder."""
    if not os.path.isdir(start):
        raise CheckError(f"{start} is not a folder")
    return Started(start, "rev-parse", *_WHERE)


def find_repository(start: str, looking: Started | None = None) -> Repository:
    """The checkout that holds the folder `start`, an absolute path; CheckError that says what is there instead."""
    status, output, errors = (looking or start_looking(start)).result()
    if status == 0:
        lines = os.fsdecode(output).removesuffix("\n").split("\n")
        if len(lines) != 2:  # there is a line end in the name of a folder
            lines = [os.fsdecode(ask(start, "rev-parse", what)).removesuffix("\n") for what in _WHERE]
        return Repository(os.path.normpath(lines[0]), os.path.normpath(os.path.join(start, lines[1])))
    raise _no_repository(start, errors.decode("utf-8", "replace").strip())


def _no_repository(start: str, said: str) -> CheckError:
    if "dubious ownership" in said:
        from shlex import quote

        hint = f"if you trust it: git config --global --add safe.directory {quote(start)}"
        return CheckError("git does not trust this folder: somebody else owns it", hint=hint, environment=True)
    if "must be run in a work tree" in said:
        return CheckError("this is a bare repository: it has no files to look at", environment=True)
    if "not a git repository" in said:
        hint = "run it inside a checkout, or look at every file below a folder with --no-git"
        return CheckError(f"{start} is not in a git repository", hint=hint, environment=True)
    return CheckError(f"git cannot read {start}: {said.partition(chr(10))[0]}", environment=True)


def _not_started(error: OSError) -> CheckError:
    if isinstance(error, FileNotFoundError):
        return CheckError("git is not installed", hint="install git 2.30 or newer", environment=True)
    return CheckError(f"git cannot be started: {error.strerror}", environment=True)
