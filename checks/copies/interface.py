"""What stands round a body and is compared too: parameters or bases, and decorators."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from checks.copies.piece import Piece, decorators, signature


class Interface(NamedTuple):
    """Parameters of a function or bases of a class, and decorators."""

    parameters: tuple[str, ...]
    decorators: tuple[str, ...]


def interfaces(copy: Piece, original: Piece, header: str, above: str, ignored: Sequence[str]) -> tuple[Interface, ...]:
    """That of a copy, and what it should be; `header` and `above` are what the clause makes of the original's.

    Decorators with one of the names `ignored` are left out on both sides, as they only document.
    """
    ours = Interface(signature(copy.header).parameters, _kept(decorators(copy.decorators), ignored))
    theirs = Interface(signature(header).parameters, _kept(decorators(above), ignored))
    if header.lstrip().startswith("class"):
        return ours, theirs
    # A clause such as `width->self.config.width` takes a parameter away.
    theirs = theirs._replace(parameters=tuple(each for each in theirs.parameters if _PARAMETER.match(each)))
    own = signature(original.header).parameters[:1]
    bound = own in (("self",), ("cls",))
    if bound and own == ours.parameters[:1]:
        return ours, theirs
    loose = bound or "." not in original.name  # a method that takes no object is a static one, or broken
    if loose and "staticmethod" in ours.decorators and "staticmethod" not in theirs.decorators:
        theirs = theirs._replace(decorators=("staticmethod", *theirs.decorators))
    elif "." in copy.name:
        return ours, theirs
    if bound:
        theirs = theirs._replace(parameters=_standalone(ours.parameters, theirs.parameters))
    return ours, theirs


def same(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether parameters or decorators are equal but for white space."""
    return one == other or ["".join(each.split()) for each in one] == ["".join(each.split()) for each in other]


_PARAMETER = re.compile(r"\*{0,2}\w*\s*(?:[:=]|$)|/|\[")


def _kept(found: tuple[str, ...], ignored: Sequence[str]) -> tuple[str, ...]:
    return tuple(each for each in found if not any(fnmatchcase(each.partition("(")[0], name) for name in ignored))


def _standalone(ours: tuple[str, ...], theirs: tuple[str, ...]) -> tuple[str, ...]:
    """What is expected of a method that was copied as a function: its object under any name, or not at all."""
    return theirs[1:] if same(ours, theirs[1:]) else (*ours[:1], *theirs[1:])
