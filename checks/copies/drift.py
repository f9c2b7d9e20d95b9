"""What to say of a copy that differs from its original, and how to mend it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import unified_diff
from textwrap import shorten

from checks.copies.clause import steps
from checks.copies.compare import Outcome, Pair
from checks.copies.hunks import Change
from checks.copies.interface import same
from checks.copies.piece import Piece
from checks.copies.survey import Copy
from checks.model import Edit, Finding


def drifts(copy: Copy, pair: Pair, outcome: Outcome, header: Sequence[str] | None) -> Iterator[Finding]:
    """The findings about the code of one copy; `header` is what its header should be, None where nobody can tell."""
    piece = pair.copy
    if outcome.hunks:
        yield _body(copy, pair, outcome)
    ours, theirs = pair.ours, pair.theirs
    if not same(ours.parameters, theirs.parameters):
        what = "bases" if piece.header.lstrip().startswith("class") else "parameters"
        edits = () if header is None else (Edit(copy.path, piece.line, piece.body_line - 1, _text(header)),)
        message = f"the {what} of `{piece.name}` are not those of `{copy.claim.dotted}`"
        found = _listed(copy, pair, "signature", message, ours=ours.parameters, theirs=theirs.parameters)
        yield found._replace(edits=edits)
    if not same(ours.decorators, theirs.decorators):
        message = f"the decorators of `{piece.name}` are not those of `{copy.claim.dotted}`"
        yield _listed(copy, pair, "decorators", message, ours=ours.decorators, theirs=theirs.decorators)


def _body(copy: Copy, pair: Pair, outcome: Outcome) -> Finding:
    piece, first = pair.copy, outcome.hunks[0]
    changes = [change for hunk in outcome.mended for change in hunk.changes]
    if outcome.parses is False:
        code, message = "unparsable", f"`{copy.claim.dotted}` {copy.clause} is no valid Python"
    else:
        code, message = "body", f"`{piece.name}` differs from `{copy.claim.dotted}`"
    source = (pair.original.path, pair.original.body_line + first.there)
    return Finding(
        path=copy.path,
        line=piece.body_line + first.at,
        code=f"copied-code/{code}",
        message=message,
        reason=_contrast(f"{source[0]}:{source[1]}", first.ours, first.theirs, str(copy.clause)),
        edits=tuple(
            Edit(copy.path, piece.body_line + start, piece.body_line + last, _text(lines))
            for start, last, lines in changes
            if outcome.parses and not piece.inline
        ),
        anchors=_anchors(copy, piece),
        accepted="\n".join(
            sign + key
            for hunk in outcome.hunks
            for sign, keys in (("-", hunk.gone), ("+", hunk.wanted))
            for key in keys
        ),
        source=source,
        detail="\n".join((*_steps(copy, pair), *_diff(copy, pair, changes))),
    )


def _listed(
    copy: Copy, pair: Pair, what: str, message: str, *, ours: tuple[str, ...], theirs: tuple[str, ...]
) -> Finding:
    """A finding about parameters or decorators."""
    at, there = ((piece.line if what == "signature" else piece.first) for piece in (pair.copy, pair.original))
    source = (pair.original.path, there)
    lacking = ", ".join(f"`{each}`" for each in theirs if each not in ours)
    own = ", ".join(f"`{each}`" for each in ours if each not in theirs)
    sides = (f"{source[0]}:{source[1]} has {lacking}" if lacking else "", f"this has {own}" if own else "")
    return Finding(
        path=pair.copy.path,
        line=at,
        anchors=_anchors(copy, pair.copy),
        code=f"copied-code/{what}",
        message=message,
        reason=", ".join(side for side in sides if side) or f"they stand in another order at {source[0]}:{source[1]}",
        accepted="\n".join((*ours, "->", *theirs)),
        source=source,
        detail="\n".join((*_steps(copy, pair), *(f"- {each}" for each in ours), *(f"+ {each}" for each in theirs))),
    )


def _anchors(copy: Copy, piece: Piece) -> tuple[int, ...]:
    """The lines of the marker, of the first decorator and of the header: a comment there may silence the finding."""
    marker = piece.file.count("\n", 0, copy.marker.offset) + 1
    return tuple(sorted({marker, piece.first, piece.line}))


def _contrast(where: str, ours: str, theirs: str, clause: str) -> str:
    ours, theirs = shorten(ours, 90, placeholder=" …"), shorten(theirs, 90, placeholder=" …")
    after = f" {clause}" if clause else ""
    if not ours and not theirs:
        return f"there are other blank lines at {where}"
    if ours and theirs:
        return f"{where} has `{theirs}`{after}, this has `{ours}`"
    return f"{where} has `{theirs}`{after}, which is missing here" if theirs else f"{where} has no `{ours}`{after}"


def _diff(copy: Copy, pair: Pair, changes: Sequence[Change]) -> Iterator[str]:
    """A unified diff of the body, with the line numbers of the file."""
    after = list(pair.copy.body)
    for start, last, lines in reversed(changes):
        after[start : last + 1] = lines
    shift = pair.copy.body_line - 1
    diff = unified_diff(pair.copy.body, after, copy.path, f"{copy.path} as {copy.claim.dotted}", lineterm="")
    return (_AT.sub(lambda at: f"@@ -{int(at[1]) + shift}{at[2]} +{int(at[3]) + shift}", line) for line in diff)


def _steps(copy: Copy, pair: Pair) -> Iterator[str]:
    """What each part of the clause does to the original."""
    for item, count in steps(copy.clause, pair.original.text):
        yield f"{item} in {count} place{'s' * (count != 1)} of {copy.claim.dotted}"


_AT = re.compile(r"^@@ -(\d+)(\S*) \+(\d+)")


def _text(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
