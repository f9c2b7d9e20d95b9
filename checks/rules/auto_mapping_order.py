"""The auto mappings are in alphabetical order, and no key stands in one twice.

The constants of a library's auto modules map model types to classes, `OrderedDict([("albert", "AlbertModel"), ...])`.
Two branches that each add a model then add it at different lines, so they merge without a conflict. Of a key that
stands there twice the second one wins, silently.

Every constant whose name contains `MAPPING` is looked at where it holds literal pairs, in a dict as well. Keys are
compared as text, upper case first. Entries that are no literal pair (`**other`, `*other.items()`) stay where they
are, and the entries between two of them are sorted for themselves.

The fix moves whole entries together with the comments above them; a comment above the first entry belongs to the
list and stays. A key that is there twice with the same value loses its second entry. Which files hold auto mappings
is the setting `layout.auto_mappings`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from checks.facts.mappings import MAPPINGS, Entry, Mapping
from checks.model import Edit, Example, Finding
from checks.reorder import Block, reorder

if TYPE_CHECKING:
    from checks.index import Index
    from checks.model import Findings

CODES = {
    "order": "An entry stands after one that it should stand before.",
    "duplicate": "A key stands in the mapping twice.",
    "unparsable": "The file is not Python, so its mappings were not looked at.",
}
FIXABLE = ("order", "duplicate")
OPTIONS: dict[str, object] = {}


def check(index: Index) -> Findings:
    """Report each run of entries that is out of order and each key that is there twice.

    Subjects are the entries, and the files that could not be looked at.
    """
    profile = index.settings.profile
    entries = 0
    for path in index.matching(*(profile.pattern(template) for template in profile.auto_mappings)):
        found = index.facts(MAPPINGS, path)
        if found.problem:
            entries += 1
            line, why = found.problem
            yield Finding(path, line, "auto-mapping-order/unparsable", "mappings not checked: not valid Python", why)
        lines = index.text(path).split("\n") if found.mappings else []
        for mapping in found.mappings:
            entries += sum(map(len, mapping.runs))
            yield from _duplicates(path, mapping, lines)
            for run in mapping.runs:
                yield from _disorder(path, mapping, run, lines)
    return entries


def _duplicates(path: str, mapping: Mapping, lines: list[str]) -> Iterator[Finding]:
    seen: dict[str, Entry] = {}
    for run in mapping.runs:
        for place, entry in enumerate(run):
            earlier = seen.setdefault(entry.key, entry)
            if earlier is entry:
                continue
            same = bool(entry.last) and _source(entry, lines) == _source(earlier, lines)
            # A comment above the entry may say why it is there: then a person has to look.
            alone = place > 0 and run[place - 1].last == entry.line - 1
            yield Finding(
                path,
                entry.line,
                "auto-mapping-order/duplicate",
                f"{mapping.name}: {entry.key!r} is there twice",
                (
                    "both entries are the same"
                    if same
                    else "the second entry replaces the first one when the file is read"
                ),
                edits=(Edit(path, entry.line, entry.last, ""),) if same and alone else (),
                source=(path, earlier.line),
            )


def _source(entry: Entry, lines: list[str]) -> str:
    return "".join(line.strip() for line in lines[entry.line - 1 : entry.last])


def _disorder(path: str, mapping: Mapping, run: tuple[Entry, ...], lines: list[str]) -> Iterator[Finding]:
    for earlier, entry in pairwise(run):
        if entry.key < earlier.key:
            yield Finding(
                path,
                entry.line,
                "auto-mapping-order/order",
                f"{mapping.name}: {entry.key!r} stands after {earlier.key!r}",
                "entries are sorted by their keys, compared as text",
                edits=_sorted(path, run, lines),
                anchors=(mapping.line,),
            )
            return


def _sorted(path: str, run: tuple[Entry, ...], lines: list[str]) -> tuple[Edit, ...]:
    firsts = [run[0].line, *(entry.last + 1 for entry in run[:-1])]  # what stands above an entry goes with it
    blocks = [Block(first, entry.last) for first, entry in zip(firsts, run, strict=True)]
    return reorder(path, blocks, sorted(range(len(run)), key=lambda place: run[place].key), lines)


_PATH = "src/lib/models/auto/modeling_auto.py"
_TREE = {"src/lib/__init__.py": ""}

EXAMPLES = (
    Example(
        "an entry that stands too late takes the comment above it along",
        tree={
            **_TREE,
            _PATH: """\
MODEL_MAPPING_NAMES = OrderedDict(
    [
        # Base model mapping
        ("bert", "BertModel"),
        ("clip", "CLIPModel"),  # vision and text
        # Listed on request
        (
            "albert",
            ("AlbertModel", None),
        ),
        ("dpt", "DPTModel"),
    ]
)
""",
        },
        says=(f"{_PATH}:7 auto-mapping-order/order",),
        mended={_PATH: """\
MODEL_MAPPING_NAMES = OrderedDict(
    [
        # Base model mapping
        # Listed on request
        (
            "albert",
            ("AlbertModel", None),
        ),
        ("bert", "BertModel"),
        ("clip", "CLIPModel"),  # vision and text
        ("dpt", "DPTModel"),
    ]
)
"""},
    ),
    Example(
        "a key twice: the same entry goes, another value is for a person to decide",
        tree={
            **_TREE,
            _PATH: """\
CONFIG_MAPPING = {
    "bert": "BertConfig",
    "bert": "BertConfig",
    "clip": "CLIPConfig",
    "clip": "CLIPTextConfig",
}
""",
        },
        says=(f"{_PATH}:3 auto-mapping-order/duplicate", f"{_PATH}:5 auto-mapping-order/duplicate"),
        mended={_PATH: """\
CONFIG_MAPPING = {
    "bert": "BertConfig",
    "clip": "CLIPConfig",
    "clip": "CLIPTextConfig",
}
"""},
    ),
    Example(
        "entries that share a line are reported and left alone",
        tree={**_TREE, _PATH: 'X_MAPPING = OrderedDict([("b", "B"), ("a", "A")])\n'},
        says=(f"{_PATH}:1 auto-mapping-order/order",),
        mended={},
    ),
    Example(
        "a mapping in a file that does not parse",
        tree={**_TREE, _PATH: "X_MAPPING = OrderedDict([\n"},
        says=(f"{_PATH}:1 auto-mapping-order/unparsable",),
    ),
    Example(
        "entries around another mapping are sorted on each side of it",
        tree={
            **_TREE,
            _PATH: """\
X_MAPPING = OrderedDict(
    [
        ("m", "M"),
        *list(OTHER_MAPPING.items()),
        ("a", "A"),
        ("b", "B"),
    ]
)
Y_MAPPING = OrderedDict((name, load(name)) for name in NAMES)
ORDER = {"z": 1, "a": 2}
""",
        },
    ),
)
