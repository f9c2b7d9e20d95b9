"""The replacement clause of a marker: `with Bert->Roberta, BERT->ROBERTA all-casing`."""

from __future__ import annotations

import re
from typing import NamedTuple


class Item(NamedTuple):
    """One replacement. `left` is a regular expression, as the model libraries' own scripts take it."""

    left: str
    right: str
    all_casing: bool

    def __str__(self) -> str:
        return f"{self.left}->{self.right}" + " all-casing" * self.all_casing


class Clause(NamedTuple):
    """What a clause asks for: replacements in order, and the parts of it that mean nothing."""

    items: tuple[Item, ...] = ()
    unclear: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"with {', '.join(map(str, self.items))}" if self.items else ""


def parse(text: str) -> Clause:
    """The clause that follows the path in a marker; the word `with` may be missing or stand before every item.

    >>> parse("with Bert->Roberta, with a -> b")
    Clause(items=(Item(left='Bert', right='Roberta', all_casing=False),), unclear=('a -> b',))
    """
    if not text:
        return _NOTHING
    items: list[Item] = []
    unclear: list[str] = []
    for part in text.split(","):
        words = part.split()
        if words[:1] == ["with"]:
            del words[0]
        item = _item(words)
        if item is not None:
            items.append(item)
        elif words:
            unclear.append(" ".join(words))
    return Clause(tuple(items), tuple(unclear))


def tightened(part: str) -> str:
    """A part that is not understood, with the white space round its arrow taken out.

    >>> tightened("a -> b")
    'a->b'
    """
    return re.sub(r"\s*->\s*", "->", part)


def apply(clause: Clause, text: str) -> str:
    """The text after every replacement, each one on what the one before it left.

    >>> apply(parse("with Vit->Swin all-casing"), "VitModel(vit, VIT)")
    'SwinModel(swin, SWIN)'
    """
    for item in clause.items:
        if len(text) > _LONGEST:
            break
        text = _replace(item, text)[0]
    return text


def steps(clause: Clause, text: str) -> list[tuple[Item, int]]:
    """Each item and in how many places it changes the text that the items before it left.

    >>> [(str(item), count) for item, count in steps(parse("with a->b, b->c, a->d"), "a b")]
    [('a->b', 1), ('b->c', 2), ('a->d', 0)]
    """
    found = []
    for item in clause.items:
        count = 1
        if len(text) <= _LONGEST:
            text, count = _replace(item, text)
        found.append((item, count))
    return found


_NOTHING = Clause()
_LONGEST = 8 << 20  # characters; items that each double a text would soon fill the memory
_QUANTIFIER = re.compile(r"[*+?{]")


def _item(words: list[str]) -> Item | None:
    all_casing = words[1:] == ["all-casing"]
    if len(words) != 1 + all_casing:
        return None
    left, _, right = words[0].partition("->")
    item = Item(left, right, all_casing)
    return item if left and right and "->" not in right and _is_usable(item) else None


def _is_usable(item: Item) -> bool:
    """Whether a left side is a regular expression, and one whose cost no text can blow up: it comes from a comment."""
    quantifiers = [found.start() for found in _QUANTIFIER.finditer(item.left)]
    if len(quantifiers) > 1 or any(item.left[place - 1 : place] == ")" for place in quantifiers):
        return False
    try:
        _replace(item, "")
    except (re.error, IndexError, OverflowError):
        return False
    return True


def _replace(item: Item, text: str) -> tuple[str, int]:
    """The text after one item, and how many places it changed."""
    pairs = [(item.left, item.right)]
    if item.all_casing:
        pairs += [(item.left.lower(), item.right.lower()), (item.left.upper(), item.right.upper())]
    count = 0
    for left, right in pairs:
        text, changed = re.subn(left, right, text)
        count += changed
    return text, count
