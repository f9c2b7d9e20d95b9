"""Whether commits can be signed: found out before a rebase starts rather than in the middle of it."""

from __future__ import annotations

from tooling.errors import Exit, UserError
from tooling.git.command import Git
from tooling.git.fetch import last_words
from tooling.git.state import Repo
from tooling.process import SilentError

_SECONDS = 10.0


def signs(repo: Repo) -> bool:
    """Whether the user's configuration asks for signed commits."""
    return repo.setting("commit.gpgsign").lower() in ("true", "yes", "on", "1")


def check_signing(repo: Repo, git: Git) -> None:
    """Sign a commit that nothing refers to; UserError where that fails or takes longer than ten seconds."""
    if not signs(repo):
        return
    tree = git.line("rev-parse", f"{repo.head.oid}^{{tree}}")
    try:
        done = git.attempt("commit-tree", "-S", "-m", "mergeready: can this be signed?", tree, timeout=_SECONDS)
    except SilentError:
        said = f"signing took longer than {_SECONDS:g} seconds"
    else:
        if done.status == 0:
            return
        said = last_words(done)
    raise UserError(
        f"commits cannot be signed: {said}",
        hint="unlock your key, or see git config --get-regexp 'gpg|commit.gpgsign'; nothing was changed",
        exit=Exit.ENVIRONMENT,
    )
