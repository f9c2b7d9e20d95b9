"""The list of files in conflict that git adds to a commit's message for whoever edits it.

Git counts on its own cleaning to take it out again, which would take other lines of the message for comments too.
Before git 2.46 a rebase does without it.
"""

from __future__ import annotations

import re
from pathlib import Path

from tooling.git.command import Git

# Below a line to cut at where `commit.cleanup` is `scissors`; the character of comments can be any.
_HINT = re.compile(rb"\n(\S+) (?:-+ >8 -+\n(?:\1 [^\n]*\n)*\1\n\1 )?Conflicts:\n(?:\1[\t ][^\n]*\n)+\Z")


def drop_hint(git_dir: str, git: Git) -> None:
    """Make the message of the commit that a rebase stopped at what it was, if git has added to it."""
    path = Path(git_dir, "rebase-merge", "message")
    if not path.is_file():
        return
    message = path.read_bytes()
    own = git.attempt("cat-file", "commit", "REBASE_HEAD").out.partition(b"\n\n")[2]
    if (short := without_hint(message, own)) != message:
        draft = path.with_name("message.draft")
        draft.write_bytes(short)
        draft.replace(path)


def without_hint(message: bytes, own: bytes) -> bytes:
    r"""The message without the list, and with as many line ends as its own; one that ends its `own` message stays.

    >>> without_hint(b"Mend it\n\n# Conflicts:\n#\ta.txt\n", b"Mend it\n")
    b'Mend it\n'
    """
    found = _HINT.search(message)
    if found and not (own.endswith(found[0]) and not message.endswith(found[0] * 2)):
        message = message[: found.start()]
    return own if message.rstrip(b"\n") == own.rstrip(b"\n") else message
