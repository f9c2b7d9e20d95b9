"""The dependency table: what the examples do not show, and what the fix writes."""

from __future__ import annotations

import ast
import re

from hypothesis import given
from hypothesis import strategies as st

from tests.checks.mending import mended
from tests.checks.trees import judge, says, subjects, tree_of

RULE = "dependency-table"
TABLE = "src/lib/dependency_versions_table.py"
LIBRARY = {"src/lib/__init__.py": ""}
NAMES = ("torch", "numpy", "modelopt[hf]", "Jinja2", "python")
LISTS = st.lists(st.builds(str.__add__, st.sampled_from(NAMES), st.sampled_from(["", ">=1.0", "!=2,<3"])), min_size=1)
HEADER = st.sampled_from(["", "# By hand.\n", "# é\n# two\n"])


def setup(requirements: list[str]) -> str:
    """A setup script with these requirements."""
    return f"_deps = {requirements!r}\n"


def table(requirements: list[str], header: str = "") -> str:
    """A table with these requirements."""
    entries = "".join(f'    "{re.split("[!=<>]", one)[0]}": "{one}",\n' for one in requirements)
    return f"{header}deps = {{\n{entries}}}\n"


@given(LISTS, LISTS, HEADER)
def test_after_the_fix_the_table_says_what_setup_says_under_its_own_header(
    declared: list[str], present: list[str], header: str
) -> None:
    texts = {**LIBRARY, "setup.py": setup(declared), TABLE: table(present, header)}

    after = mended(RULE, texts)[TABLE]

    assert after.startswith(f"{header}deps = {{\n")
    assert ast.literal_eval(after[len(header) + len("deps = ") :]) == ast.literal_eval(
        table(declared)[len("deps = ") :]
    )
    assert [found for found in judge(RULE, tree_of({**texts, TABLE: after})) if found.edits] == []


def test_a_library_without_a_table_is_not_asked_for_one() -> None:
    assert subjects(RULE, tree_of({**LIBRARY, "setup.py": setup(["torch"])})) == 0


def test_a_table_without_a_source_is_compared_with_nothing() -> None:
    assert subjects(RULE, tree_of({**LIBRARY, TABLE: table(["torch"])})) == 0


def test_setup_counts_before_the_project_file() -> None:
    project = '[project]\nname = "lib"\ndependencies = ["numpy"]\n'
    texts = {**LIBRARY, "setup.py": setup(["torch"]), "pyproject.toml": project, TABLE: table(["torch"])}

    assert judge(RULE, tree_of(texts)) == ()


def test_an_order_that_no_script_writes_is_nobodys_fault() -> None:
    project = '[project]\nname = "lib"\ndependencies = ["numpy", "torch"]\n'

    assert judge(RULE, tree_of({**LIBRARY, "pyproject.toml": project, TABLE: table(["torch", "numpy"])})) == ()


def test_a_table_that_cannot_be_read_is_a_finding_and_so_is_a_script() -> None:
    texts = {**LIBRARY, "setup.py": setup(["torch"]), TABLE: "deps = {\n"}
    assert says(judge(RULE, tree_of(texts))) == (f"{TABLE}:1 {RULE}/unparsable",)

    texts = {**LIBRARY, "setup.py": "_deps = [\n", TABLE: table(["torch"])}
    assert says(judge(RULE, tree_of(texts))) == (f"setup.py:1 {RULE}/unparsable",)


def test_only_the_lines_that_differ_are_written() -> None:
    before = table(["torch", "numpy", "Jinja2"]).replace("\n", "\r\n").replace('"numpy",\r\n', '"numpy",\n')
    texts = {**LIBRARY, "setup.py": setup(["torch>=1.0", "numpy", "Jinja2"]), TABLE: before}

    assert mended(RULE, texts)[TABLE] == before.replace(': "torch"', ': "torch>=1.0"')
