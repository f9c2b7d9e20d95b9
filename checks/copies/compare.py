"""What a copy should say, and where it says something else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from checks.copies import blocks, snippet
from checks.copies.clause import Clause, apply
from checks.copies.hunks import Hunk, differences
from checks.copies.interface import Interface, interfaces
from checks.copies.lines import Body, read
from checks.copies.piece import Piece
from checks.facts.syntax import Unparsable, parse
from checks.formatter import format_all, formatter_of
from checks.index import Index


class Pair(NamedTuple):
    """A copy and its original, and what the clause makes of the original's header and body.

    `ours` and `theirs` are the interface of the copy and the one expected. `replaced` says that the clause changed
    the body, or that the body had to be moved to another depth; `blank` that blank lines are compared. `judged` names
    what stands in the copy and has findings of its own: it is left out.
    """

    copy: Piece
    original: Piece
    ours: Interface
    theirs: Interface
    header: str
    body: tuple[str, ...]
    replaced: bool
    blank: bool
    judged: frozenset[str] = frozenset()


class Outcome(NamedTuple):
    """Where a body differs, and the same with lines as the formatter would lay them out.

    `parses` is false where what the clause makes of the original does not parse although the original does, and None
    where the original does not parse either.
    """

    hunks: tuple[Hunk, ...] = ()
    mended: tuple[Hunk, ...] = ()
    parses: bool | None = True


class Comparer:
    """Compares pairs in one tree, with the formatter that the tree is configured for.

    Decorators with a name `ignored` are not compared, and blank lines only if `blank`.
    """

    def __init__(self, index: Index, *, ignored: Sequence[str], blank: bool) -> None:
        self.formatter = formatter_of(index)
        self._index = index
        self._ignored = ignored
        self._blank = blank

    def pair(self, copy: Piece, original: Piece, clause: Clause) -> Pair:
        """A copy and what it should be."""
        text = blocks.without_remarks("\n".join(original.body))
        replaced = apply(clause, text)
        body = replaced.split("\n")
        moved = copy.indent != original.indent
        if moved:
            body = [_moved(line, original.indent, copy.indent) for line in body]
        header = apply(clause, original.header)
        above = apply(clause, original.decorators)
        ours, theirs = interfaces(copy, original, header, above, self._ignored)
        return Pair(copy, original, ours, theirs, header, tuple(body), replaced != text or moved, self._blank)

    def compare(self, pairs: Sequence[Pair], *, mending: bool = True) -> list[Outcome]:
        """The outcome for each pair; the formatter is asked only where it decides something, and once for all.

        Without `mending` nobody will use the lines to put in.
        """
        outcomes = [Outcome()] * len(pairs)
        unequal = {number: found for number, each in enumerate(pairs) if (found := _differences(each))}
        layouts = self._lay_out([pairs[number] for number in unequal], list(unequal.values()), mending=mending)
        for (number, (hunks, _)), (copy, expected) in zip(unequal.items(), layouts, strict=True):
            each = pairs[number]
            if copy and expected and _unequal(each, copy, expected) is None:
                continue
            mended = _where_they_meet(hunks, _against(each, expected)) if expected else hunks
            outcomes[number] = Outcome(hunks, mended, _parses(each))
        return outcomes

    def _lay_out(
        self, pairs: Sequence[Pair], found: Sequence[tuple[Hunks, bool]], *, mending: bool
    ) -> list[tuple[Lines | None, Lines | None]]:
        """For each pair the copy and the lines expected of it as the formatter has them, None where nobody asks."""
        asked: list[tuple[Pair, Lines | None]] = []
        for each, (hunks, doubtful) in zip(pairs, found, strict=True):
            needed = doubtful or (mending and each.replaced and not _is_verbatim(each, hunks))
            asked += ((each, each.copy.body if doubtful else None), (each, each.body if needed else None))
        wrapped = [
            snippet.wrap_body(each.copy.indent, each.copy.header, lines) for each, lines in asked if lines is not None
        ]
        formatted = iter(format_all(self._index, self.formatter, wrapped))
        results = [None if lines is None else snippet.unwrap_body(next(formatted)) for _, lines in asked]
        return list(zip(results[::2], results[1::2], strict=True))


Lines = Sequence[str]
Hunks = tuple[Hunk, ...]


def _differences(each: Pair) -> tuple[Hunks, bool] | None:
    """Where the bodies of a pair differ, and whether that may be the formatter's doing; None where they are equal."""
    both = _unequal(each, each.copy.body, each.body)
    return both and (tuple(differences(*both)), each.replaced and _may_be_equal(*both))


def _unequal(each: Pair, copy: Lines, expected: Lines) -> tuple[Body, Body] | None:
    if tuple(copy) == tuple(expected):
        return None
    ours, theirs = _bodies(each, copy, expected)
    return None if ours.keys == theirs.keys else (ours, theirs)


def _against(each: Pair, expected: Lines) -> Hunks:
    return tuple(differences(*_bodies(each, each.copy.body, expected)))


def _where_they_meet(hunks: Hunks, laid_out: Hunks) -> Hunks:
    """The hunks as they are laid out, without those that only the layout makes.

    Another version of the formatter may have laid out the copy: its habits are not the copy's faults.
    """
    found = {other for hunk in hunks for other in laid_out if hunk.meets(other)}
    alone = (hunk for hunk in hunks if not any(hunk.meets(other) for other in found))
    return tuple(sorted((*found, *alone), key=lambda hunk: hunk.at))


def _bodies(each: Pair, copy: Lines, expected: Lines) -> tuple[Body, Body]:
    copy = blocks.before_end(copy)
    ours, theirs = blocks.left_out(copy, expected, each.judged)
    return (
        read(copy, loose=each.replaced, blank=each.blank, left_out=ours),
        read(expected, loose=each.replaced, blank=each.blank, left_out=theirs),
    )


def _may_be_equal(ours: Body, theirs: Body) -> bool:
    """Whether two bodies may differ only in brackets that a formatter puts round what it breaks into lines."""
    brackets = str.maketrans("", "", "()")
    return "".join(ours.keys).translate(brackets) == "".join(theirs.keys).translate(brackets)


def _is_verbatim(each: Pair, hunks: Hunks) -> bool:
    """Whether the lines to put in are lines of the original that the clause has not touched."""
    known = frozenset(each.original.body)
    return all(line in known for hunk in hunks for _, _, lines in hunk.changes for line in lines)


def _parses(each: Pair) -> bool | None:
    if not isinstance(parse(snippet.wrap_body(each.copy.indent, each.copy.header, each.body)), Unparsable):
        return True
    original = each.original
    whole = snippet.wrap_body(original.indent, original.header, original.body)
    return None if isinstance(parse(whole), Unparsable) else False


def _moved(line: str, old: str, new: str) -> str:
    return new + line[len(old) :] if line.startswith(old) and line.strip() else line
