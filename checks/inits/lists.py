"""Put names into a list of names, or take one out, in the style that the list is written in."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from checks.inits.model import Item, Spot
from checks.inits.order import places
from checks.model import Edit

WIDTH = 119
"""What the model libraries format to."""

_REST = re.compile(r",?\s*(#.*)?")


def alone(spot: Spot, lines: Sequence[str]) -> bool:
    """Whether nothing but a comma and a comment shares the lines of a piece of source."""
    before, after = lines[spot.line - 1][: spot.start], lines[spot.last - 1][spot.end :]
    return not before.strip() and _REST.fullmatch(after) is not None


def insert(
    path: str, lines: Sequence[str], items: Sequence[Item], new: Sequence[str], within: Spot
) -> tuple[Edit, ...]:
    """The edits that add names to a list of strings, or to an import, whose names stand `within` a piece of source.

    A list with one name a line stays one; a line that becomes too long is broken up.
    """
    if items and within.line < items[0].spot.line and all(alone(item.spot, lines) for item in items):
        return tuple(_new_lines(path, lines, items, new, _quote(lines, within, items)))
    return (_new_line(path, lines, items, new, within),)


def remove(path: str, lines: Sequence[str], items: Sequence[Item], name: str) -> tuple[Edit, ...]:
    """The edits that take the last place of a name out of a list of several, none where a comment would go with it."""
    position = max(place for place, item in enumerate(items) if item.name == name)
    spot, line = items[position].spot, lines[items[position].spot.line - 1]
    if alone(spot, lines):
        return () if "#" in line[spot.end :] else (Edit(path, spot.line, spot.line, ""),)
    beside = items[position - 1].spot if position else items[1].spot
    if beside.line != spot.line:
        return ()
    cut = (beside.end, spot.end) if position else (spot.start, beside.start)
    return (Edit(path, spot.line, spot.line, f"{line[: cut[0]]}{line[cut[1] :]}\n"),)


def _new_lines(
    path: str, lines: Sequence[str], items: Sequence[Item], new: Sequence[str], quote: Callable[[str], str]
) -> list[Edit]:
    edits: list[Edit] = []
    for position, names in places([item.name for item in items], new).items():
        indent = " " * items[0].spot.start
        text = "".join(f"{indent}{quote(name)},\n" for name in names)
        # After the name before it rather than before the name after it, whose comment may stand between them.
        spot = items[position - 1].spot if position else None
        if spot is None:
            edits.append(Edit(path, items[0].spot.line, items[0].spot.line - 1, text))
        elif (line := lines[spot.line - 1])[spot.end :].startswith(","):
            edits.append(Edit(path, spot.line + 1, spot.line, text))
        else:
            edits.append(Edit(path, spot.line, spot.line, f"{line[: spot.end]},{line[spot.end :]}\n{text}"))
    return edits


def _new_line(path: str, lines: Sequence[str], items: Sequence[Item], new: Sequence[str], within: Spot) -> Edit:
    """The edit of a list that is not one name a line: on one line, empty over several, or of no particular layout."""
    quote = _quote(lines, within, items)
    line = lines[within.line - 1]
    if within.line < within.last and not items:
        indent = " " * (len(line) - len(line.lstrip()) + 4)
        return Edit(path, within.line + 1, within.line, "".join(f"{indent}{quote(name)},\n" for name in new))
    if within.line < within.last:
        last = items[-1].spot
        line = lines[last.line - 1]
        added = "".join(f", {quote(name)}" for name in new)
        return Edit(path, last.line, last.line, f"{line[: last.end]}{added}{line[last.end :]}\n")
    first, end = (items[0].spot.start, items[-1].spot.end) if items else (within.start + 1, within.end - 1)
    texts = [line[item.spot.start : item.spot.end] for item in items]
    for position, names in sorted(places([item.name for item in items], new).items(), reverse=True):
        texts[position:position] = [quote(name) for name in names]
    text = f"{line[:first]}{', '.join(texts)}{line[end:]}"
    return Edit(path, within.line, within.last, f"{text if len(text) <= WIDTH else _broken(line, first, end, texts)}\n")


def _broken(line: str, first: int, end: int, texts: Sequence[str]) -> str:
    """The same line with each name on a line of its own, in the brackets it has or in parentheses."""
    indent = " " * (len(line) - len(line.lstrip()))
    bare = line[:first].rstrip()[-1:] not in ("[", "(")
    opening, closing = (f"{line[:first]}(", f"){line[end:]}") if bare else (line[:first], line[end:].lstrip(", "))
    return "\n".join([opening, *(f"{indent}    {text}," for text in texts), f"{indent}{closing}"])


def _quote(lines: Sequence[str], within: Spot, items: Sequence[Item]) -> Callable[[str], str]:
    """How a new name is written beside the others: bare in an import, else in their quotes."""
    spot = items[0].spot if items else within
    mark = lines[spot.line - 1][spot.start]
    if mark in "\"'":
        return lambda name: f"{mark}{name}{mark}"
    return (lambda name: name) if items else (lambda name: f'"{name}"')
