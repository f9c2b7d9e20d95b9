"""Tell markers from comments that were meant to be one, and both from prose."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from checks.copies.clause import parse, tightened


class Claim(NamedTuple):
    """What a comment says: the dotted path of the original, and the text of the replacement clause.

    `fault` says why the comment is no marker to anybody's tools although it was meant to be; empty for a marker.
    """

    dotted: str
    clause: str
    fault: str = ""

    @property
    def comment(self) -> str:
        """The marker as it has to be spelt."""
        return f"# Copied from {self.dotted} {self.clause}".rstrip()


def read(comment: str, packages: Collection[str], exists: Callable[[str], bool]) -> Claim | None:
    """What a comment claims, or None for one that credits something else.

    A marker names a module of one of `packages`, whether or not that exists. Any other spelling counts only where it
    leaves no doubt: the path, perhaps with its package added, has to name something that exists.

    >>> read("# Copied from lib.a.f with x->y", ["lib"], lambda dotted: True)
    Claim(dotted='lib.a.f', clause='with x->y', fault='')
    >>> read("# copied from lib.a.f", ["lib"], lambda dotted: True).fault
    'it says `copied from`, not `Copied from`'
    """
    exact = _EXACT.fullmatch(comment)
    if exact and _package(exact[1]) in packages:
        return Claim(exact[1], exact[2] or "")
    loose = _LOOSE.fullmatch(comment)
    if loose is None or any("->" not in part for part in parse(loose["clause"] or "").unclear):
        return None
    clause = " ".join(tightened(loose["clause"] or "").split())
    for dotted in _readings(loose["path"], packages):
        if exists(dotted):
            return Claim(dotted, clause, _fault(loose, dotted))
    return None


def _package(path: str) -> str:
    return re.split(r"[./]", path, maxsplit=1)[0]


_EXACT = re.compile(r"#[ \t]*Copied from[ \t]+([A-Za-z_]\w*(?:[./]\w+){2,})(?:[ \t]+(.*))?")
_LOOSE = re.compile(
    r"#[#!: \t]*(?P<words>copied[ \t]+from):?[ \t]+[`'\"(<\[]*(?P<path>\w+(?:[./]\w+)+)"
    r"[`'\")>\].,;:]*(?:[ \t]+(?P<clause>.*))?",
    re.IGNORECASE,
)


def _readings(path: str, packages: Collection[str]) -> Iterator[str]:
    """The path as it stands, with the package put right, and with one put in front."""
    dotted = path.replace("/", ".")
    _, _, rest = dotted.partition(".")
    if _package(dotted) in packages:
        yield dotted
    else:
        yield from (rest for package in packages if rest.startswith(f"{package}."))
        yield from (f"{package}.{rest}" for package in packages)
        yield from (f"{package}.{dotted}" for package in packages)


def _fault(loose: re.Match[str], dotted: str) -> str:
    if loose["words"] != "Copied from":
        return f"it says `{loose['words']}`, not `Copied from`"
    if loose["path"] != dotted:
        return f"its path should be `{dotted}`"
    return "it holds more than `# Copied from`, the path and a clause"
