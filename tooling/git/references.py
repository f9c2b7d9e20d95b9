r"""References to issues, people and commits in a message: what GitHub turns into links and notifications.

A message that carries one into a public repository writes a line into somebody else's issue, or rings somebody's bell.
Bytes are searched, so that no encoding hides anything and no digit but 0-9 counts as one.

>>> [found.text for found in find(b"Speed it up (#12), thanks @octocat")]
[b'(#12)', b'@octocat']
>>> strip(b"Speed it up (#12), thanks @octocat")
b'Speed it up, thanks octocat'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

_TRAILERS = (
    *(b"co-authored-by", b"reviewed-by", b"reported-by", b"signed-off-by", b"acked-by", b"tested-by", b"suggested-by"),
    *(b"helped-by", b"link", b"closes", b"fixes", b"resolves", b"see-also", b"refs", b"change-id", b"cc"),
)
_NAME = rb"[A-Za-z0-9][\w.-]*"
_KEYWORD = re.compile(rb"(?<![\w-])(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)(?::[ \t]*|[ \t]+)\Z", re.IGNORECASE)
_CLOSABLE = ("number", "GH", "repository", "url", "link", "glued", "colour")
_GLUED_WORDS = (
    b"issue",
    b"issues",
    b"pr",
    b"prs",
    b"pull",
    b"bug",
    b"ticket",
    b"fix",
    b"fixes",
    b"no",
    b"nr",
    b"number",
)
_LIST = re.compile(rb"\0(?:[ \t]*(?:,|;|&|and|\.\.\.?)*[ \t]*\0)+")
_BRACKETS = re.compile(rb"[(\[<][ \t,;]*\0[ \t,;]*[)\]>]")
_EMPTY_LINE = re.compile(rb"^[ \t*-]*\0[ \t.,;:]*(?:\r?\n|\Z)", re.MULTILINE)
_AT_START = re.compile(rb"(?<=^)[ \t]*\0[ \t]*", re.MULTILINE)
_AT_END = re.compile(rb"[ \t]*\0(?=[ \t]*(?:[.,;:!?)\]\"']|\r?$))[ \t]*", re.MULTILINE)
_BEFORE_WORDS = re.compile(rb"[ \t]*\0[ \t]*")
_ENCLOSED = ((b"(", b")"), (b"[", b"]"), (b"_", b"_"), (b"<", b">"))


class Reference(NamedTuple):
    """A span of a message that refers to something; `certain` is False where it only may, or only warns."""

    start: int
    end: int
    kind: str
    text: bytes
    certain: bool = True


class Style(NamedTuple):
    """What counts as a reference, beyond the forms that always do."""

    host: bytes = b"github.com"
    autolinks: tuple[bytes, ...] = ()
    """Prefixes of numbers in other trackers, such as `JIRA-`."""
    signoff: bytes = b""
    """A sign-off line that is wanted."""
    strict: bool = False
    """Whether ids of security advisories count."""
    resolves: Callable[[bytes], bool] = lambda _: False
    """Says whether a word that may be a commit id is one."""


def find(message: bytes, style: Style = Style()) -> tuple[Reference, ...]:  # noqa: B008 - frozen
    """All references of a message, in order, none inside another."""
    found: list[Reference] = []
    taken = bytearray(len(message))
    for kind, pattern in _patterns(style):
        for match in pattern.finditer(message):
            reference = _reference(message, kind, match, style)
            if reference and not any(taken[reference.start : reference.end]):
                taken[reference.start : reference.end] = b"\1" * (reference.end - reference.start)
                found.append(reference)
    return tuple(sorted(found))


def strip(message: bytes, style: Style = Style()) -> bytes:  # noqa: B008 - frozen
    """The message without its references; doing it twice changes nothing more."""
    while references := [found for found in find(message, style) if found.kind != "advisory" or style.strict]:
        parts, position = [], 0
        for reference in references:
            parts += [message[position : reference.start], _replacement(reference)]
            position = reference.end
        message = _tidy(b"".join([*parts, message[position:]]))
    return message


def lines(message: bytes, references: tuple[Reference, ...]) -> Iterator[tuple[int, int, Reference]]:
    """Each reference with its line and its column, both counted from 1; columns count bytes."""
    for reference in references:
        before = message[: reference.start]
        yield before.count(b"\n") + 1, reference.start - (before.rfind(b"\n") + 1) + 1, reference


def _patterns(style: Style) -> Iterator[tuple[str, re.Pattern[bytes]]]:
    """The forms, those that hold others first."""
    yield "trailer", re.compile(rb"^[ \t]*(?:%s):.*$" % b"|".join(_TRAILERS), re.IGNORECASE | re.MULTILINE)
    yield "merge", re.compile(rb"^Merge pull request #[0-9]+(?: from [^\s]+)?", re.MULTILINE)
    yield "cherry-pick", re.compile(rb"\(cherry[ -]picked from commit [0-9a-f]{7,64}\)", re.IGNORECASE)
    host = rb"(?<![\w.@-])(?:https?://)?(?:www\.)?" + re.escape(style.host)
    path = rb"/%s/[\w.-]+/(?:issues|pull|pulls|discussions|commit|commits|compare)/[^\s<>()\[\]\"'`|]*" % _NAME
    yield "link", re.compile(rb"!?\[[^\]\n]*\]\([ \t]*" + host + path + rb"[^)\n]*\)", re.IGNORECASE)
    yield "url", re.compile(host + path, re.IGNORECASE)
    commit = rb"(?:(?<![\w.@-])|(?<=\.\.))(?:%s(?:/[\w.-]+)?@)?[0-9a-fA-F]{7,40}(?![\w-])(?!\.\w)" % _NAME
    yield "commit", re.compile(commit)
    yield "repository", re.compile(rb"(?<![\w/.-])%s(?:/[\w.-]+)?#[0-9]+(?![0-9A-Za-z])" % _NAME)
    yield "GH", re.compile(rb"(?<![\w-])GH-[0-9]+(?![0-9A-Za-z])", re.IGNORECASE)
    yield "number", re.compile(rb"(?<![0-9A-Za-z&])#[0-9]+(?![0-9A-Za-z])")
    yield "glued", re.compile(rb"(?<=[0-9A-Za-z])#[0-9]+(?![0-9A-Za-z])")
    yield "mention", re.compile(rb"(?<![0-9A-Za-z])@[A-Za-z0-9](?:-?[A-Za-z0-9])*(?:/%s)?" % _NAME)
    yield "advisory", re.compile(rb"(?<!\w)(?:GHSA(?:-[0-9a-z]{4}){3}|CVE-[0-9]{4}-[0-9]{4,})(?!\w)", re.IGNORECASE)
    for prefix in style.autolinks:
        yield "autolink", re.compile(rb"(?<!\w)" + re.escape(prefix) + rb"[0-9]+(?!\w)")


def _reference(message: bytes, kind: str, match: re.Match[bytes], style: Style) -> Reference | None:
    """What a match stands for, with the keyword before it and the brackets around it; None where it is harmless."""
    start, end = match.span()
    if kind == "commit" and not _is_commit(match[0].rpartition(b"@")[2], style):
        return None
    if kind == "trailer" and style.signoff and match[0].strip() == style.signoff.strip():
        return None
    if kind == "url":
        end = start + len(match[0].rstrip(b".,;:!?*_"))
    if kind == "repository" and _is_glued(match[0]):
        kind = "glued"
    if kind == "number" and len(match[0]) in (7, 9):
        kind = "colour"
    if kind in _CLOSABLE and (keyword := _KEYWORD.search(message, max(0, start - 20), start)):
        start = keyword.start()
        kind = "closing"
    if kind not in ("mention", "glued", "colour", "trailer"):
        start, end = _with_brackets(message, start, end)
    return Reference(start, end, kind, message[start:end], kind not in ("glued", "colour", "advisory"))


def _is_commit(word: bytes, style: Style) -> bool:
    mixed = bool(re.search(rb"[0-9]", word) and re.search(rb"[A-Fa-f]", word))
    return len(word) == 40 or mixed or style.resolves(word)


def _is_glued(text: bytes) -> bool:
    name = text.partition(b"#")[0].lower()
    return b"/" not in name and (len(name) == 1 or name in _GLUED_WORDS)


def _with_brackets(message: bytes, start: int, end: int) -> tuple[int, int]:
    for left, right in _ENCLOSED:
        if message[start - 1 : start] == left and message[end : end + 1] == right:
            return start - 1, end + 1
    return start, end


def _replacement(reference: Reference) -> bytes:
    """What is left of a reference: a name without @, a number without #, or a mark to be tidied away."""
    if reference.kind == "mention":
        return reference.text[1:]
    if reference.kind in ("glued", "colour"):
        return reference.text.replace(b"#", b"")
    return b"\0"


def _tidy(marked: bytes) -> bytes:
    """Close the gaps that removed references leave: lists of them, brackets around them, spaces, empty lines."""
    for pattern in (_LIST, _BRACKETS, _LIST, _BRACKETS):
        marked = pattern.sub(b"\0", marked)
    return _BEFORE_WORDS.sub(b" ", _AT_END.sub(b"", _AT_START.sub(b"", _EMPTY_LINE.sub(b"", marked))))
