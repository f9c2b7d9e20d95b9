"""Write, mend and take out dummy objects; what is right already stays as it is, byte by byte."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from checks.facts.dummies import Dummies, Dummy, rendered
from checks.inits.standins import File, Style
from checks.model import Edit


def create(path: str, file: File, style: Style, backends: str, *, lines: int = 0) -> Edit:
    """The edit that writes a file anew, in place of one with so many lines."""
    texts = [_text(file, name, "", style, backends) for name in file.names]
    return Edit(path, 1, lines, f"{style.header}\n" + "".join(f"\n\n{text}\n" for text in texts))


def add(path: str, file: File, present: Dummies, style: Style, backends: str) -> Mapping[str, tuple[Edit, ...]]:
    """The edits that add each name a file lacks: behind the stand-in of the name before it, where the init says so."""
    by_name = {dummy.name: dummy for dummy in present.objects}
    groups: dict[str, list[str]] = {}
    before = ""
    for name in file.names:
        if name in by_name:
            before = name
        else:
            groups.setdefault(before, []).append(name)
    found: dict[str, tuple[Edit, ...]] = {}
    for before, names in groups.items():
        texts = [_text(file, name, "", style, backends) for name in names]
        if before:
            line = by_name[before].last + 1
            edit = Edit(path, line, line - 1, "".join(f"\n\n{text}\n" for text in texts))
        elif present.objects:
            line = present.objects[0].line
            edit = Edit(path, line, line - 1, "".join(f"{text}\n\n\n" for text in texts))
        else:
            line = present.header.count("\n") + 2
            edit = Edit(path, line, line - 1, "".join(f"\n\n{text}\n" for text in texts))
        found.update((name, (edit,)) for name in names)
    return found


def replace(path: str, file: File, dummy: Dummy, style: Style, backends: str) -> Edit:
    """The edit that writes a stand-in as it should be."""
    return Edit(path, dummy.line, dummy.last, _text(file, dummy.name, dummy.kind, style, backends) + "\n")


def delete(path: str, dummy: Dummy, lines: Sequence[str]) -> Edit:
    """The edit that takes a stand-in out, with the blank lines on one side of it."""
    first, last = dummy.line, dummy.last
    while last < len(lines) and not lines[last].strip():
        last += 1
    if last == len(lines):
        last = dummy.last
        while first > 1 and not lines[first - 2].strip():
            first -= 1
    return Edit(path, first, last, "")


def arrange(path: str, file: File, present: Dummies, last: int) -> Edit:
    """The edit that puts the stand-ins of a pure file into the order of the init; `last` is the file's last line."""
    places = {name: place for place, name in enumerate(file.names)}
    ordered: Iterable[Dummy] = sorted(present.objects, key=lambda dummy: places.get(dummy.name, len(places)))
    first = present.objects[0].line
    return Edit(path, first, last, "\n\n".join(f"{dummy.text}\n" for dummy in ordered))


def _text(file: File, name: str, present: str, style: Style, backends: str) -> str:
    return rendered(style.shapes[style.kind_of(file.names[name], present)], name, backends)
