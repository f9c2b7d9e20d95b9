"""Every row of the failure matrix, and every scenario, has a test that carries its number."""

from __future__ import annotations

import re
from pathlib import Path

ROWS = set(range(1, 63))
BY_SCENARIO = {4: "s03", 13: "s32", 15: "s39", 19: "s31", 31: "s13", 55: "s41", 57: "s25"}
"""Rows that the specification tells as a scenario too; that is where they are tested."""
BY_FAULTS = 47
"""The row on kills: all of `test_faults`."""
SCENARIOS = {
    *("s01", "s02", "s03", "s04", "s06", "s08", "s09", "s11", "s13", "s14", "s15", "s17", "s18", "s20", "s22", "s23"),
    *("s24", "s25", "s26", "s27", "s28", "s30", "s31", "s32", "s34", "s35", "s36", "s38", "s39", "s40", "s41"),
}


def numbered() -> set[str]:
    """The numbers of all tests, such as `row_05` and `s03`."""
    files = Path(__file__).parents[1].rglob("test_*.py")
    return {
        number
        for file in files
        for number in re.findall(r"^def test_(row_\d\d|s\d\d)_", file.read_text(encoding="utf-8"), re.MULTILINE)
    }


def test_every_row_of_the_matrix_has_a_test() -> None:
    found = numbered()
    rows = {int(number.removeprefix("row_")) for number in found if number.startswith("row_")}
    rows |= {row for row, scenario in BY_SCENARIO.items() if scenario in found}

    assert ROWS - rows == {BY_FAULTS}


def test_every_scenario_has_a_test() -> None:
    assert numbered() >= SCENARIOS
