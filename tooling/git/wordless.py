"""A commit without a message: git replays it, but does not go on with it once it had a conflict."""

from __future__ import annotations

from tooling.git.command import Git
from tooling.process import Done


def past_wordless(git: Git, done: Done) -> Done:
    """How going on with a rebase ended; where git would not for want of a message, it is committed as it was first."""
    if done.status == 0 or b"empty commit message" not in done.err:
        return done
    committed = git.attempt("commit", "--quiet", "--allow-empty-message", "--reuse-message=REBASE_HEAD")
    return committed if committed.status else git.attempt("rebase", "--continue")
