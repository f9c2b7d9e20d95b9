from __future__ import annotations

from pathlib import Path

import pytest

from tests.tooling.pr.branches import Branch, brief


@pytest.fixture
def branch(tmp_path: Path) -> Branch:
    return Branch(tmp_path / "lib")


SHAPES = '''\
from typing import Protocol, overload


class Shape:
    """A shape."""

    def __init__(self, size): self._size = size

    @property
    def size(self):
        """Its size."""
        return self._size

    @size.setter
    def size(self, value):
        self._size = value

    @overload
    def grow(self, by: int) -> int: ...
    @overload
    def grow(self, by: str) -> str: ...  # of a number
    @overload
    def grow(self, by: None) -> None: ...

    def grow(self, by):
        """Grow."""

        def inner():
            return by

        return inner()

    def _private(self):
        return 1

    def shrink(self, by):
        return -by


class Circle(Shape):
    """A circle."""

    def grow(self, by):
        return by


class Sized(Protocol):
    """What has a size."""

    def size(self) -> int: ...


def _hidden():
    class Public:
        def f(self): return 1
    return Public
'''


def test_s20_of_a_property_overloads_nested_and_private_things_only_the_bare_public_method_is_named(
    branch: Branch,
) -> None:
    branch.commit("Add shapes", {"src/lib/shapes.py": SHAPES})

    assert brief(branch.decide("docstrings")) == (
        "fail",
        "docstrings/new",
        ("src/lib/shapes.py:36 Shape.shrink",),
    )


def test_what_was_bare_before_is_a_warning_once_it_is_edited_and_nothing_until_then(tmp_path: Path) -> None:
    before = "def a(x):\n    return x\n\n\ndef b(x):\n    return x\n"
    branch = Branch(tmp_path / "lib", {"src/lib/__init__.py": "", "src/lib/m.py": before})
    branch.commit("Edit a", {"src/lib/m.py": before.replace("def a(x):\n    return x", "def a(x):\n    return -x")})

    assert brief(branch.decide("docstrings")) == ("warn", "docstrings/touched", ("src/lib/m.py:1 a",))


def test_a_function_that_only_moved_is_not_new(tmp_path: Path) -> None:
    moved = "def a(x):\n    return x\n"
    branch = Branch(tmp_path / "lib", {"src/lib/__init__.py": "", "src/lib/m.py": moved + "\n\nB = 1\n"})
    branch.commit("Move", {"src/lib/m.py": "B = 1\n", "src/lib/n.py": moved})

    assert branch.decide("docstrings").code == "docstrings/none"


def test_a_class_is_not_edited_by_an_edit_of_its_method(tmp_path: Path) -> None:
    before = 'class A:\n    def f(self):\n        """F."""\n        return 1\n'
    branch = Branch(tmp_path / "lib", {"src/lib/__init__.py": "", "src/lib/m.py": before})
    branch.commit("Edit f", {"src/lib/m.py": before.replace("return 1", "return 2")})

    assert branch.decide("docstrings").code == "docstrings/all"


def test_tests_private_modules_and_other_folders_are_not_the_library(branch: Branch) -> None:
    bare = "def f(x):\n    return x\n"
    branch.commit(
        "Add", dict.fromkeys(("src/lib/_impl.py", "tests/test_f.py", "examples/f.py", "src/lib/tests/f.py"), bare)
    )

    assert branch.decide("docstrings").code == "docstrings/none"


def test_an_f_string_is_no_docstring_and_a_raw_one_after_a_comment_is(branch: Branch) -> None:
    text = 'def f(x):\n    f"""Not {x}."""\n\n\ndef g(x):\n    # why\n\n    r"""Doc."""\n'
    branch.commit("Add", {"src/lib/m.py": text})

    assert brief(branch.decide("docstrings")) == ("fail", "docstrings/new", ("src/lib/m.py:1 f",))


def test_a_file_that_does_not_parse_is_unknown(branch: Branch) -> None:
    branch.commit("Add", {"src/lib/m.py": 'def f(x):\n    """Doc."""\n    return (\n'})

    assert brief(branch.decide("docstrings")) == (
        "unknown",
        "docstrings/unreadable",
        ("src/lib/m.py:3 '(' was never closed",),
    )


def test_a_decorator_of_the_library_documents(branch: Branch) -> None:
    text = "from lib.utils import auto_docstring\n\n\n@auto_docstring\nclass A:\n    pass\n"
    branch.commit("Add", {"src/lib/m.py": text})

    assert branch.decide("docstrings").code == "docstrings/none"


def test_a_source_in_another_encoding_is_read(branch: Branch) -> None:
    text = '# coding: latin-1\ndef f():\n    """Grüße."""\n'.encode("latin-1")
    branch.commit("Add", {"src/lib/m.py": text})

    assert branch.decide("docstrings").code == "docstrings/all"


ABOVE = """\
class Block:
    \"\"\"A block.\"\"\"

    def inputs(self):
        \"\"\"What it takes.\"\"\"

    def outputs(self):
        pass
"""
BELOW = """\
from torch import nn

from ..blocks import (
    Block,
)


class Step(Block, nn.Module):
    \"\"\"A step.\"\"\"

    def inputs(self):
        return 1

    def outputs(self):
        return 2

    def forward(self, states):
        return states
"""


def test_a_method_is_documented_where_its_class_takes_it_from_in_another_file_of_the_library(branch: Branch) -> None:
    branch.commit("Add", {"src/lib/blocks.py": ABOVE, "src/lib/steps/step.py": BELOW, "src/lib/steps/__init__.py": ""})

    assert brief(branch.decide("docstrings"))[2] == (
        "src/lib/blocks.py:7 Block.outputs",
        "src/lib/steps/step.py:14 Step.outputs",
    )


def test_classes_that_derive_from_each_other_end(branch: Branch) -> None:
    text = 'class A(B):\n    """A."""\n\n    def f(self):\n        pass\n\n\nclass B(A):\n    """B."""\n'
    branch.commit("Add", {"src/lib/m.py": text})

    assert brief(branch.decide("docstrings"))[2] == ("src/lib/m.py:4 A.f",)


def test_copies_and_files_that_a_tool_writes_are_left_out(branch: Branch) -> None:
    bare = "def f(x):\n    return x\n"
    branch.commit(
        "Add",
        {
            "src/lib/copied.py": f"# Copied from lib.other.f\n{bare}",
            "src/lib/dummies.py": f"# This file is autogenerated by the command `make fix-copies`.\n{bare}",
        },
    )

    assert branch.decide("docstrings").verdict in ("skip", "pass")
