"""The order in which an init lists names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def rank(name: str) -> tuple[int, str]:
    """What names are sorted by: constants, then classes, then the rest, each without case and underscores.

    The spelling decides what a name is, as it does for those who read the list.

    >>> sorted(["load_bert", "BertModel", "BERT_START", "_hidden"], key=rank)
    ['BERT_START', 'BertModel', '_hidden', 'load_bert']
    """
    kind = 0 if name.isupper() else 1 if name[:1].isupper() else 2
    return kind, name.lower().replace("_", "")


def places(names: Sequence[str], new: Iterable[str]) -> dict[int, list[str]]:
    """Before which of `names` each new name goes, by position; at the end where `names` are in no order.

    >>> places(["Albert", "Bert", "load"], ["Zero", "Aloe"])
    {1: ['Aloe'], 2: ['Zero']}
    """
    ranks = [rank(name) for name in names]
    ordered = ranks == sorted(ranks)
    found: dict[int, list[str]] = {}
    for name in sorted(new, key=rank):
        later = (position for position, other in enumerate(ranks) if ordered and other > rank(name))
        found.setdefault(next(later, len(names)), []).append(name)
    return found
