"""The classes and functions of a Python file as the checklist sees them; the file is neither imported nor parsed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from checks.facts.python import Definition, definitions

_DOCSTRING = re.compile(r"""(?:[ \t\f]*(?:\#[^\n]*)?\n)*[ \t\f]*[rRuU]?["']""")
_DECORATOR = re.compile(r"^[ \t]*@[ \t]*([\w.]+)", re.MULTILINE)


class Symbol(NamedTuple):
    """One class or function.

    `name` is qualified: `Outer.method`. `line` counts from 1 and is that of its `class` or `def`, `first` that of
    its first decorator. `decorators` are their dotted names. `text` is all of it, `own` the same without the
    definitions inside it, so that a class is only changed by what is its own. `inside` is the symbol it stands in, None
    at the top level.
    """

    name: str
    line: int
    first: int
    is_class: bool
    decorators: tuple[str, ...]
    documented: bool
    text: str
    own: str
    inside: Symbol | None

    @property
    def is_public(self) -> bool:
        """Whether no part of its name starts with an underscore, and no function encloses it."""
        return not self.name.startswith("_") and "._" not in self.name and not self.is_local

    @property
    def is_local(self) -> bool:
        """Whether it stands in a function."""
        return self.inside is not None and (not self.inside.is_class or self.inside.is_local)

    @property
    def short(self) -> str:
        """The last part of its name."""
        return self.name.rpartition(".")[2]


def symbols(text: str) -> tuple[Symbol, ...]:
    r"""All of a text, in order, however broken the rest of it is.

    >>> [(each.name, each.line, each.documented) for each in symbols("class A:\n  'Doc.'\n  def f(self): pass\n")]
    [('A', 1, True), ('A.f', 3, False)]
    """
    found: list[Symbol] = []
    around: list[tuple[Definition, Symbol]] = []
    spans = definitions(text)
    line, position = 1, 0
    for number, span in enumerate(spans):
        while around and around[-1][0].end <= span.start:
            around.pop()
        line, position = line + text.count("\n", position, span.start), span.start
        found.append(_symbol(text, span, spans[number + 1 :], line, around[-1][1] if around else None))
        around.append((span, found[-1]))
    return tuple(found)


def _symbol(text: str, span: Definition, later: Sequence[Definition], line: int, inside: Symbol | None) -> Symbol:
    header = text[span.start : span.body]
    return Symbol(
        name=span.name,
        line=line,
        first=line - text.count("\n", span.first, span.start),
        is_class=header.lstrip().startswith("class"),
        decorators=tuple(_DECORATOR.findall(text[span.first : span.start])),
        documented=_DOCSTRING.match(text, span.body) is not None,
        text=text[span.first : span.end],
        own=_own(text, span, later),
        inside=inside,
    )


def _own(text: str, span: Definition, later: Sequence[Definition]) -> str:
    parts, position = [], span.first
    for inner in later:
        if inner.start >= span.end:
            break
        if inner.first >= position:
            parts.append(text[position : inner.first])
            position = inner.end
    return "".join((*parts, text[position : span.end]))
