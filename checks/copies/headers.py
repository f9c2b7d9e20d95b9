"""Give a copied function the parameters of its original, where that cannot break the module it stands in."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Sequence

from checks.copies import snippet
from checks.copies.compare import Pair
from checks.copies.interface import same
from checks.copies.piece import signature
from checks.facts.strings import without_comments, without_literals
from checks.formatter import Formatter, format_all
from checks.index import Index


def mended_headers(index: Index, formatter: Formatter, pairs: Sequence[Pair]) -> list[Sequence[str] | None]:
    """The lines that each copy's header should be; None where it is right, or where only a person can mend it.

    That is a class, whose bases decide more than its own text; parameters that would break a call; parameters with
    comments among them; and annotations or defaults with names that the copy's file does not have, since they are
    evaluated when the module is imported.
    """
    headers = [_mended(each, index.text(each.copy.path)) for each in pairs]
    asked = [
        None if header is None or _fits(header, formatter) else snippet.wrap_header(each.copy.indent, header)
        for each, header in zip(pairs, headers, strict=True)
    ]
    formatted = iter(format_all(index, formatter, [text for text in asked if text is not None]))
    return [
        (
            (None if header is None else header.rstrip("\n").split("\n"))
            if text is None
            else snippet.unwrap_header(next(formatted))
        )
        for header, text in zip(headers, asked, strict=True)
    ]


def _fits(header: str, formatter: Formatter) -> bool:
    """Whether any formatter leaves a header as it is: it is one line that is not too long."""
    return header.count("\n") == 1 and len(header) <= formatter.line_length


def _mended(pair: Pair, text: str) -> str | None:
    ours, theirs = signature(pair.copy.header), signature(pair.header)
    if same(pair.ours.parameters, pair.theirs.parameters) or pair.theirs.parameters != theirs.parameters:
        return None
    if pair.copy.inline or any(each.lstrip().startswith("class") for each in (pair.copy.header, pair.header)):
        return None
    own = pair.copy.header[slice(*ours.span)]
    if without_comments(own) != own or not _takes_every_call(ours.parameters, theirs.parameters):
        return None
    if not all(_knows(text, name) for name in _new_names(ours.parameters, theirs.parameters)):
        return None
    parameters = without_comments(pair.header[slice(*theirs.span)])
    return pair.copy.header[: ours.span[0]] + parameters + pair.copy.header[ours.span[1] :]


def _knows(text: str, name: str) -> bool:
    """Whether a file has a name that is no attribute of another."""
    return name in text and re.search(rf"(?<![\w.]){name}\b", text) is not None


def _takes_every_call(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    """Whether whatever calls the copy now can go on: all names are in their places, and no call must pass a new one."""
    for our, their in zip(ours, theirs, strict=False):
        if _name(our) != _name(their) or ("=" in our and "=" not in their):
            return False
    return len(ours) <= len(theirs) and all("=" in new or new.startswith("*") for new in theirs[len(ours) :])


def _new_names(ours: Sequence[str], theirs: Sequence[str]) -> set[str]:
    """The names in annotations and defaults that the copy's own parameters do not use."""
    return set().union(*map(_used, theirs)) - set().union(*map(_used, ours)) - _ALWAYS


def _used(parameter: str) -> set[str]:
    return _words(_NAME.sub("", without_literals(parameter)))


def _name(parameter: str) -> str:
    return parameter[: len(parameter) - len(_NAME.sub("", parameter))]


def _words(text: str) -> set[str]:
    """Names that are no attributes of others."""
    return set(re.findall(r"(?<![\w.])[A-Za-z_]\w*", text))


_NAME = re.compile(r"^[*/\s]*\w*")
_ALWAYS = frozenset((*dir(builtins), *keyword.kwlist))
