"""Read a JUnit report: how many tests ran, how it went, and which.

Source: the `xunit2` family that pytest writes, docs.pytest.org, "Creating JUnitXML format files".
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import NamedTuple


class Report(NamedTuple):
    """Counts, and names of tests as `package.module.Class.test`, without parameters, each once.

    `ran` names tests of which every variant passed, `unrun` those of which one was skipped.
    """

    passed: int
    failed: int
    skipped: int
    ran: tuple[str, ...]
    unrun: tuple[str, ...]


def read_report(path: str) -> Report | None:
    """The report in a file; None where there is none, or it is no report."""
    outcomes: dict[str, set[str]] = {}
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    try:
        for _, element in ET.iterparse(path):  # noqa: S314 - written by the tests that were just run
            if element.tag == "testcase":
                outcome = _outcome(element)
                counts[outcome] += 1
                outcomes.setdefault(_name(element), set()).add(outcome)
                element.clear()
    except (OSError, ET.ParseError):
        return None
    ran = tuple(name for name, found in outcomes.items() if found == {"passed"})
    unrun = tuple(name for name, found in outcomes.items() if "skipped" in found)
    return Report(counts["passed"], counts["failed"], counts["skipped"], ran, unrun)


def _outcome(case: ET.Element) -> str:
    children = {child.tag for child in case}
    if children & {"failure", "error"}:
        return "failed"
    return "skipped" if "skipped" in children else "passed"


def _name(case: ET.Element) -> str:
    name = case.get("name", "").partition("[")[0]
    return f"{case.get('classname', '')}.{name}".strip(".")
