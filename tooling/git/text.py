"""Names of branches, files and people as they may be shown, and as they may be typed."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Sequence

from checks.text import visible_line

_SECRET = re.compile(r"(?<=://)[^/@\s]*@")


def from_git(output: bytes) -> str:
    r"""What git wrote, as text: bytes that are no text of this system survive as surrogates, on Windows too.

    >>> from_git(b"caf\xe9")
    'caf\udce9'
    """
    return output.decode(sys.getfilesystemencoding(), "surrogateescape")


def to_git(words: str) -> bytes:
    r"""The bytes that a text from git was.

    >>> to_git("caf\udce9")
    b'caf\xe9'
    """
    return words.encode(sys.getfilesystemencoding(), "surrogateescape")


def shown(name: str) -> str:
    r"""A name on one line, control characters visible, and no password of a URL in it.

    >>> shown("https://me:secret@example.org/a")
    'https://***@example.org/a'
    """
    return visible_line(_SECRET.sub("***@", name))


def several(names: Sequence[str], most: int = 10) -> list[str]:
    """Names ready to be shown, the first ones and how many more there are."""
    more = [f"and {len(names) - most} more"] if len(names) > most else []
    return [*map(shown, names[:most]), *more]


def command_line(argv: Sequence[str]) -> str:
    r"""A command as it can be typed at a POSIX shell.

    >>> command_line(["git", "add", "a b"])
    "git add 'a b'"
    """
    return " ".join(_quoted(word) for word in argv)


def count(number: int, noun: str) -> str:
    """A number with its noun.

    >>> count(1, "commit"), count(2, "commit")
    ('1 commit', '2 commits')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def encoded(name: str) -> dict[str, str]:
    """A path for JSON: as text, and exactly (base64 of its bytes) where the text could not be turned back."""
    if shown(name) == name:
        return {"path": name}
    import base64

    exact = to_git(name)
    return {"path": shown(name), "path_b64": base64.b64encode(exact).decode("ascii")}


def short(oid: str) -> str:
    """The first ten digits of an object id, for people; never for git."""
    return oid[:10]


def _quoted(word: str) -> str:
    if visible_line(word) == word:
        return shlex.quote(word)
    parts = (chr(byte) if 32 <= byte < 127 and byte not in b"'\\" else f"\\x{byte:02x}" for byte in to_git(word))
    return "$'" + "".join(parts) + "'"
