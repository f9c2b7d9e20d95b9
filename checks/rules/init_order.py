"""The keys of `_import_structure` and the names under each key stand in order.

Two branches that each add a name then add it at different lines, so they merge without a conflict; and a name is found
where one looks for it. Keys are sorted as text, within one dict and within statements that follow each other. Names are
sorted constants first, then classes, then functions, each without regard to case and underscores. The imports under
TYPE_CHECKING are left to isort or ruff.

The fix moves entries together with the comments above them and behind them. Quotes, blank lines and every comment stay;
where comments share lines with several entries, nothing is moved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from checks.facts.inits import INIT
from checks.index import Index
from checks.inits.folders import inits_of
from checks.inits.model import Listing
from checks.inits.moves import reorder
from checks.inits.soundness import key_order, name_order, runs
from checks.model import Example, Finding, Findings

CODES: Mapping[str, str] = {
    "keys": "The keys of `_import_structure` do not stand in alphabetical order.",
    "names": "The names of a list do not stand in order: constants, classes, functions.",
}
FIXABLE: tuple[str, ...] = ("keys", "names")
OPTIONS: Mapping[str, object] = {}


def check(index: Index) -> Findings:
    """Report each list of names, and each row of keys, that is out of order."""
    subjects = 0
    for path in inits_of(index):
        init = index.facts(INIT, path)
        rows = runs(init.listings)
        subjects += len(rows) + len(init.listings)
        for run in () if init.orderly else rows:
            yield from _keys(index, path, run)
        for listing in () if init.orderly else init.listings:
            yield from _names(index, path, listing)
    return subjects


def _keys(index: Index, path: str, run: Sequence[Listing]) -> Iterator[Finding]:
    order = key_order(run)
    place = next((place for place, source in enumerate(order) if place != source), None)
    if place is not None:
        late, early = run[order[place]], run[place]
        message = f"the key `{late.module[1:]}` belongs before `{early.module[1:]}`"
        edits = reorder(path, index.text(path).split("\n"), [listing.entry for listing in run], order)
        yield Finding(path, late.entry.line, "init-order/keys", message, "keys are sorted", late.entry.start + 1, edits)


def _names(index: Index, path: str, listing: Listing) -> Iterator[Finding]:
    names = listing.names
    order = name_order(names)
    place = next((place for place, source in enumerate(order) if place != source), None)
    if place is not None and not listing.opaque:
        spot = listing.items[order[place]].spot
        message = f"`{names[order[place]]}` belongs before `{names[place]}` under the key `{listing.module[1:]}`"
        reason = "constants come first, then classes, then functions, each without case and underscores"
        edits = reorder(path, index.text(path).split("\n"), [item.spot for item in listing.items], order)
        yield Finding(path, spot.line, "init-order/names", message, reason, spot.start + 1, edits)


_SORTED = """\
_import_structure = {
    # The oldest one.
    "albert": ["AlbertModel"],  # kept for old checkpoints
    "bert": [
        "BERT_START",
        "Bert_Config",
        "BertModel",
        "load_bert",
    ],
}
"""

EXAMPLES: tuple[Example, ...] = (
    Example("constants, classes, functions", tree={"lib/__init__.py": _SORTED}),
    Example(
        "a key that comes too late, and its comments",
        tree={
            "lib/__init__.py": "_import_structure = {\n"
            '    "bert": [\n        "BERT_START",\n        "Bert_Config",\n        "BertModel",\n        "load_bert",\n'
            '    ],\n    # The oldest one.\n    "albert": ["AlbertModel"],  # kept for old checkpoints\n}\n'
        },
        says=("lib/__init__.py:9 init-order/keys",),
        mended={"lib/__init__.py": _SORTED},
    ),
    Example(
        "statements of one block",
        tree={
            "lib/__init__.py": "_import_structure = {}\n\nif is_torch_available():\n"
            "    _import_structure['bert'] = ['BertModel']\n\n    _import_structure['albert'] = ['AlbertModel']\n"
        },
        says=("lib/__init__.py:6 init-order/keys",),
        mended={
            "lib/__init__.py": "_import_structure = {}\n\nif is_torch_available():\n"
            "    _import_structure['albert'] = ['AlbertModel']\n\n    _import_structure['bert'] = ['BertModel']\n"
        },
    ),
    Example(
        "names with comments, and names on one line",
        tree={
            "lib/__init__.py": "_import_structure = {\n"
            '    "albert": ["AlbertModel", "AlbertConfig", "ALBERT_START"],  # old\n'
            '    "bert": [\n        "load_bert",  # slow\n        # The public one.\n        "BertModel",\n    ],\n}\n'
        },
        says=("lib/__init__.py:2 init-order/names", "lib/__init__.py:6 init-order/names"),
        mended={
            "lib/__init__.py": "_import_structure = {\n"
            '    "albert": ["ALBERT_START", "AlbertConfig", "AlbertModel"],  # old\n'
            '    "bert": [\n        # The public one.\n        "BertModel",\n        "load_bert",  # slow\n    ],\n}\n'
        },
    ),
    Example(
        "a comment that belongs to two names: nothing is moved",
        tree={"lib/__init__.py": '_import_structure = {"bert": [\n    "load_bert", "BertModel",  # public\n]}\n'},
        says=("lib/__init__.py:2 init-order/names",),
    ),
    Example(
        "a block between two statements: their order may matter",
        tree={
            "lib/__init__.py": "_import_structure = {}\n"
            '_import_structure["bert"] = ["BertModel"]\nprepare()\n_import_structure["albert"] = ["AlbertModel"]\n'
        },
    ),
)
