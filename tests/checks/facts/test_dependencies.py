"""What setup.py, pyproject.toml and the generated table say of dependencies."""

from __future__ import annotations

import json
from typing import TypeVar

import pytest

from checks.extractor import Extractor
from checks.facts.dependencies import PROJECT, SETUP, TABLE, Declared, Requirement, Table
from checks.facts.syntax import Unparsable

T = TypeVar("T")


def read(extractor: Extractor[T], text: str) -> T:
    """The facts of a text, as they come back from the cache."""
    return extractor.load(json.loads(json.dumps(extractor.extract(text))))


def test_a_setup_script_states_requirements_and_the_header_of_the_table_without_being_run() -> None:
    text = """\
raise SystemExit
_deps = [
    "torch>=2.6,!=2.7",  # a comment
    "modelopt[hf] >= 0.33",
    "tool @ git+https://example.org/tool",
]
lines = ["# Header", "# of the table", "deps = {", entries, "}"]
"""
    assert read(SETUP, text) == Declared(
        (
            Requirement("torch", "torch>=2.6,!=2.7", 3),
            Requirement("modelopt[hf]", "modelopt[hf] >= 0.33", 4),
            Requirement("tool", "tool @ git+https://example.org/tool", 5),
        ),
        ("# Header", "# of the table"),
    )


def test_a_requirement_that_is_not_valid_says_why() -> None:
    (found,) = read(SETUP, '_deps = ["torch=2.6"]\n').requirements

    assert (found.name, found.text, found.line, bool(found.fault)) == ("torch", "torch=2.6", 1, True)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("_deps = load()\n", Unparsable(1, "`_deps` is no list of strings")),
        ('_deps = [\n    "a",\n    f"b{version}",\n]\n', Unparsable(3, "an item of `_deps` is no string")),
        ("_deps = [\n", Unparsable(1, "'[' was never closed")),
    ],
)
def test_a_list_that_cannot_be_read_is_a_problem(text: str, problem: Unparsable) -> None:
    assert read(SETUP, text) == Declared(problem=problem)


def test_a_setup_script_without_a_list_declares_nothing() -> None:
    assert read(SETUP, "setup(name='lib')\n") == Declared()


def test_a_project_states_its_dependencies_and_those_of_its_extras_but_not_itself() -> None:
    text = """\
[project]
name = "lib"
dependencies = ["numpy"]

[project.optional-dependencies]
models = ["torch>=2.6"]
all = ["lib[models]"]
"""
    assert read(PROJECT, text) == Declared((Requirement("numpy", "numpy", 3), Requirement("torch", "torch>=2.6", 6)))


@pytest.mark.parametrize("text", ["", "[tool.x]\n", "[project]\ndependencies = 3\n", "[[project]]\n"])
def test_a_project_without_dependencies_declares_nothing(text: str) -> None:
    assert read(PROJECT, text) == Declared()


def test_a_project_file_that_is_no_toml_is_a_problem() -> None:
    assert read(PROJECT, "[project\n").problem is not None


def test_a_table_is_a_dict_of_strings() -> None:
    assert read(TABLE, '# Header\ndeps = {\n    "torch": "torch>=2",\n}\n') == Table(
        (Requirement("torch", "torch>=2", 3),), 2
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", Unparsable(1, "there is no dict `deps`")),
        ("deps = dict()\n", Unparsable(1, "`deps` is no dict of strings")),
        ('deps = {\n    "a": "a",\n    **other,\n}\n', Unparsable(3, "an entry of `deps` is no pair of strings")),
        ("deps = {\n", Unparsable(1, "'{' was never closed")),
    ],
)
def test_a_table_that_cannot_be_read_is_a_problem(text: str, problem: Unparsable) -> None:
    assert read(TABLE, text).problem == problem
