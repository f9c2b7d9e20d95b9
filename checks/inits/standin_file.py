"""What is wrong with one file of dummy objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from checks.facts.dummies import Dummies, Dummy
from checks.index import Index
from checks.inits.standin_edits import add, arrange, create, delete, replace
from checks.inits.standins import File, Style, backends_of
from checks.model import Edit, Finding


class StandInFile:
    """One file that an init needs, compared with what is there."""

    def __init__(self, index: Index, init: str, path: str, file: File, style: Style) -> None:
        self._index = index
        self._init = init
        self._path = path
        self._file = file
        self._style = style

    def judge(self, present: Dummies | None, homes: Mapping[str, str]) -> Iterator[Finding]:
        """Everything that is wrong with it; `homes` are the files where names have their dummies."""
        backends = backends_of(self._file.backends, present)
        if present is not None and present.problem is not None:
            edit = create(self._path, self._file, self._style, backends, lines=len(self._lines()))
            line, why = present.problem
            yield self._at(line, "unparsable", "this file of dummy objects does not parse", why, edit)
            return
        yield from self._missing(present, backends)
        if present is not None:
            yield from self._wrong(present, backends, homes)
            yield from self._order(present)

    def _missing(self, present: Dummies | None, backends: str) -> Iterator[Finding]:
        if present is None:
            whole = (create(self._path, self._file, self._style, backends),)
            edits: Mapping[str, tuple[Edit, ...]] = dict.fromkeys(self._file.names, whole)
        else:
            edits = add(self._path, self._file, present, self._style, backends)
        for name, own in edits.items():
            message = f"`{name}` has no dummy in {self._path}"
            reason = f"the block that exports it needs {' and '.join(self._file.backends)}, and falls back to that file"
            line = self._file.names[name].line
            yield Finding(self._init, line, "dummy-objects/missing", message, reason, edits=own)

    def _wrong(self, present: Dummies, backends: str, homes: Mapping[str, str]) -> Iterator[Finding]:
        seen: set[str] = set()
        for dummy in present.objects:
            name = dummy.name
            if name in seen or not (name in self._file.names or self._file.open):
                yield self._superfluous(dummy, homes)
            elif name in self._file.names and (finding := self._unlike(dummy, backends)):
                yield finding
            seen.add(name)

    def _superfluous(self, dummy: Dummy, homes: Mapping[str, str]) -> Finding:
        edit = delete(self._path, dummy, self._lines())
        home = homes.get(dummy.name)
        if home is None:
            reason = f"{self._init} exports it under no optional backend"
            return self._at(dummy.line, "orphan", f"`{dummy.name}` is a dummy of nothing", reason, edit)
        what = "has a dummy twice in this file" if home == self._path else f"has its dummy in {home}"
        return self._at(dummy.line, "extra", f"`{dummy.name}` {what}", f"as {self._init} exports it", edit)

    def _unlike(self, dummy: Dummy, backends: str) -> Finding | None:
        kind = self._style.kind_of(self._file.names[dummy.name], dummy.kind)
        if kind != dummy.kind:
            what, message = "wrong-kind", f"is a {dummy.kind}, the real one a {kind}"
            reason = "a name is what its definition says, not what its letters look like"
        elif kind != "constant" and dummy.backends != backends:
            what, message = "stale", f"does not ask for {backends}"
            reason = f"it asks for {dummy.backends or 'several things'}"
        elif dummy.shape != self._style.shapes[kind]:
            what, message, reason = (
                "stale",
                "is not written like the others",
                f"most dummies of a {kind} read otherwise",
            )
        else:
            return None
        edit = replace(self._path, self._file, dummy, self._style, backends)
        found = self._at(dummy.line, what, f"the dummy of `{dummy.name}` {message}", reason, edit)
        return found._replace(accepted=dummy.text)

    def _order(self, present: Dummies) -> Iterator[Finding]:
        ours = list(dict.fromkeys(dummy.name for dummy in present.objects if dummy.name in self._file.names))
        theirs = [name for name in self._file.names if name in set(ours)]
        if ours == theirs:
            return
        name, other = next((one, two) for one, two in zip(theirs, ours, strict=True) if one != two)
        line = next(dummy.line for dummy in present.objects if dummy.name == name)
        message = f"the dummy of `{name}` belongs before that of `{other}`"
        edits = (arrange(self._path, self._file, present, len(self._lines())),) if present.pure else ()
        yield self._at(line, "order", message, f"{self._init} exports them in that order", *edits)

    def _lines(self) -> list[str]:
        return self._index.text(self._path).removesuffix("\n").split("\n")

    def _at(self, line: int, what: str, message: str, reason: str, *edits: Edit) -> Finding:
        return Finding(self._path, line, f"dummy-objects/{what}", message, reason, edits=edits)
