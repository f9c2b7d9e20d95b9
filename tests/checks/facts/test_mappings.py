"""Which entries of which mappings are found, and on which lines."""

from __future__ import annotations

import json

import pytest

from checks.facts.mappings import MAPPINGS, Entry, Mapping, Mappings
from checks.facts.syntax import Unparsable


def read(text: str) -> Mappings:
    """The facts of a text, as they come back from the cache."""
    return MAPPINGS.load(json.loads(json.dumps(MAPPINGS.extract(text))))


def test_entries_have_the_lines_up_to_their_comma() -> None:
    text = """\
A_MAPPING = OrderedDict(
    [
        ("a", "A"),  # why
        (
            "é", ("é" if x else None),
        )
        ,
    ]
)
"""
    assert read(text).mappings == (Mapping("A_MAPPING", 1, ((Entry("a", 3, 3), Entry("é", 4, 7)),)),)


@pytest.mark.parametrize(
    "value",
    [
        'OrderedDict([("k", 1),])',
        'OrderedDict[str, int]([("k", 1),])',
        'collections.OrderedDict((("k", 1),))',
        'dict([["k", 1]])',
        '{"k": 1}',
        'OrderedDict({"k": 1})',
    ],
)
def test_a_mapping_may_be_written_in_many_ways(value: str) -> None:
    assert read(f"M_MAPPING_NAMES = {value}\n").mappings == (Mapping("M_MAPPING_NAMES", 1, ((Entry("k", 1, 0),),)),)


@pytest.mark.parametrize(
    "text",
    [
        "MAPPING = {}\n",
        "MAPPING = OrderedDict()\n",
        "MAPPING = OrderedDict([(name, f(name)) for name in NAMES])\n",
        "MAPPING = OrderedDict([*other, (1, 2), name])\n",
        "MAPPING = _LazyAutoMapping(CONFIG, NAMES)\n",
        'MAPPING["a"] = 1\n',
        "MAPPING: dict[str, str]\n",
        'OTHER = {"a": 1}  # no MAPPING\n',
    ],
)
def test_what_has_no_literal_keys_has_no_entries(text: str) -> None:
    assert [run for mapping in read(text).mappings for run in mapping.runs] == []


def test_mappings_are_found_in_branches_and_handlers_in_the_order_of_their_lines() -> None:
    text = """\
if TYPE_CHECKING:
    A_MAPPING: OrderedDict[str, str] = OrderedDict()
else:
    B_MAPPING = {
        "b": 1,
    }
try:
    C_MAPPING = D_MAPPING = {
        "c": 1,
        **B_MAPPING,
        "d": 2,
    }
except ImportError:
    E_MAPPING = {"e": 1}
"""
    both = ((Entry("c", 9, 9),), (Entry("d", 11, 11),))

    assert read(text).mappings == (
        Mapping("B_MAPPING", 4, ((Entry("b", 5, 5),),)),
        Mapping("C_MAPPING", 8, both),
        Mapping("D_MAPPING", 8, both),
        Mapping("E_MAPPING", 14, ((Entry("e", 14, 0),),)),
    )


def test_a_line_of_thousands_of_entries_is_read_and_moved_by_nobody() -> None:
    entries = ", ".join(f"'é{number}': 1" for number in range(20_000))
    text = f"MAPPING = {{{entries}}}\n"

    assert {entry.last for entry in read(text).mappings[0].runs[0]} == {0}


def test_a_file_that_does_not_parse_is_a_problem_where_it_speaks_of_mappings() -> None:
    assert read("MAPPING = (\n") == Mappings((), Unparsable(1, "'(' was never closed"))
    assert read("x = (\n") == Mappings((), None)
