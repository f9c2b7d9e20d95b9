"""What to say of a marker itself: one that is misspelt, names nothing, leads in a circle, or has an idle clause."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from checks.copies.clause import Clause, tightened
from checks.copies.resolve import Missing
from checks.copies.survey import Copy, Stray
from checks.index import Index
from checks.model import Edit, Finding

_PLACES = {
    "decorators": "it stands above the decorators, not on the line above the header",
    "apart": "it does not stand on the line above the header",
    "behind": "it stands behind code, not on the line above the header",
}


def line_of(index: Index, each: Copy | Stray) -> int:
    """The line that a marker stands on."""
    return index.text(each.path).count("\n", 0, each.marker.offset) + 1


def stray(index: Index, each: Stray) -> Finding:
    """A marker that stands by no class or function."""
    message = f"no class or function stands below the marker of `{each.claim.dotted}`"
    return _finding(index, each, "near-miss", message, "a marker counts on the line above `class` or `def`")


def near_miss(index: Index, copy: Copy, *, mendable: bool) -> Finding:
    """A comment that is no marker to the library's own tools; mended if that changes no verdict on the code."""
    fault = copy.claim.fault or _PLACES[copy.marker.place]
    message = f"the comment on `{copy.definition.name}` is no marker: {fault}"
    found = _finding(index, copy, "near-miss", message, f"`{copy.claim.dotted}` exists, so it was meant to be one")
    return found._replace(edits=_moved(index, copy)) if mendable else found


def missing(index: Index, copy: Copy, why: Missing) -> Finding:
    """A marker whose path names no class or function."""
    reason = f"{why.why}; did you mean `{why.nearest}`?" if why.nearest else why.why
    return _finding(index, copy, "target", f"`{copy.claim.dotted}` names no class or function", reason)


def unclear(index: Index, copy: Copy, *, mendable: bool) -> Finding:
    """A clause with parts that mean nothing; mended if the code is what the clause must have meant."""
    parts = " and ".join(f"`{part}`" for part in copy.clause.unclear)
    reason = "a replacement is written `old->new` without spaces, and commas stand between several; nothing is compared"
    verb = "is no replacement" if len(copy.clause.unclear) == 1 else "are no replacements"
    found = _finding(index, copy, "clause", f"{parts} {verb}", reason)
    if not mendable:
        return found
    return found._replace(edits=(_rewritten(index, copy, f"{copy.claim.dotted} {tightened(copy.claim.clause)}"),))


def idle(index: Index, copy: Copy, places: Collection[int]) -> Finding:
    """Replacements that change nothing, by their places in the clause."""
    items = copy.clause.items
    named = " and ".join(f"`{items[place]}`" for place in places)
    clause = Clause(tuple(item for place, item in enumerate(items) if place not in places))
    message = f"{named} {'changes' if len(places) == 1 else 'change'} nothing in `{copy.claim.dotted}`"
    found = _finding(index, copy, "no-effect", message, "the original does not hold what is to be replaced")
    return found._replace(edits=(_rewritten(index, copy, f"{copy.claim.dotted} {clause}".rstrip()),))


def of_itself(index: Index, copy: Copy) -> Finding:
    """A marker that names the code it stands above."""
    message = f"`{copy.definition.name}` is marked as a copy of itself"
    return _finding(index, copy, "self", message, f"`{copy.claim.dotted}` is this very definition")


def of_copy(index: Index, copy: Copy, beginning: Copy) -> Finding:
    """A marker that names a copy where it could name the original."""
    message = f"`{copy.claim.dotted}` is itself a copy"
    reason = f"the chain begins at `{beginning.claim.dotted}`: name that, and one fix reaches every copy"
    return _finding(index, copy, "copy-of-copy", message, reason)


def in_circle(index: Index, copy: Copy, members: Sequence[Copy]) -> Finding:
    """A marker on a way that leads back to it."""
    names = " -> ".join(f"`{member.claim.dotted}`" for member in members)
    message = f"`{copy.definition.name}` is, in the end, a copy of itself"
    return _finding(index, copy, "cycle", message, f"{names}: one of them has to be the original")


def _finding(index: Index, each: Copy | Stray, what: str, message: str, reason: str) -> Finding:
    line = line_of(index, each)
    anchors: tuple[int, ...] = ()
    if isinstance(each, Copy):
        text = index.text(each.path)
        anchors = tuple(text.count("\n", 0, place) + 1 for place in (each.definition.first, each.definition.start))
    return Finding(each.path, line, f"copied-code/{what}", message, reason, anchors=anchors, accepted=each.marker.text)


def _rewritten(index: Index, copy: Copy, claim: str) -> Edit:
    """The marker on its line with another claim; a comment behind code keeps the code."""
    text, line = index.text(copy.path), line_of(index, copy)
    start = text.rfind("\n", 0, copy.marker.offset) + 1
    return Edit(copy.path, line, line, f"{text[start:copy.marker.offset]}# Copied from {claim}\n")


def _moved(index: Index, copy: Copy) -> tuple[Edit, ...]:
    """The marker spelt right, on the line above the header."""
    text, line = index.text(copy.path), line_of(index, copy)
    header = text.count("\n", 0, copy.definition.start) + 1
    start = text.rfind("\n", 0, copy.marker.offset) + 1
    code = text[start : copy.marker.offset].rstrip()
    first = text[copy.definition.start : copy.definition.body]
    marker = f"{first[: len(first) - len(first.lstrip())]}{copy.claim.comment}\n"
    if line in (header - 1, header):
        return (Edit(copy.path, line, line, f"{marker}{code}\n" if code else marker),)
    return Edit(copy.path, line, line, f"{code}\n" if code else ""), Edit(copy.path, header, header - 1, marker)
