"""Which modules a tree has, and which of them an import means."""

from __future__ import annotations

import pytest

from checks.facts.imports import Import
from checks.modules import covers, modules_of, target_of

MODULES = modules_of(
    (
        "src/lib/__init__.py",
        "src/lib/a.py",
        "src/lib/sub/__init__.py",
        "src/lib/sub/b.py",
        "src/library/c.py",
        "tests/t.py",
    ),
    {"lib": "src/lib", "tests": "tests"},
)


def test_a_module_belongs_to_the_package_whose_folder_it_is_in() -> None:
    assert MODULES == {
        "lib": "src/lib/__init__.py",
        "lib.a": "src/lib/a.py",
        "lib.sub": "src/lib/sub/__init__.py",
        "lib.sub.b": "src/lib/sub/b.py",
        "tests.t": "tests/t.py",
    }


@pytest.mark.parametrize(
    ("level", "module", "name", "target"),
    [
        (0, "lib.a", "", "lib.a"),
        (0, "lib", "sub", "lib.sub"),
        (0, "lib", "VERSION", "lib"),
        (0, "torch.nn", "Linear", "torch.nn"),
        (1, "", "x", "lib.sub"),
        (1, "b", "f", "lib.sub.b"),
        (2, "", "a", "lib.a"),
        (2, "sub", "b", "lib.sub.b"),
        (4, "", "a", ""),
    ],
)
def test_an_import_means_the_longest_name_that_is_a_module(level: int, module: str, name: str, target: str) -> None:
    found = Import(1, level, module, name, late=False, typing=False)

    assert target_of(found, "lib.sub.b", MODULES["lib.sub.b"], MODULES) == target


def test_dots_in_a_package_start_at_the_package_itself() -> None:
    found = Import(1, 1, "b", "f", late=False, typing=False)

    assert target_of(found, "lib.sub", MODULES["lib.sub"], MODULES) == "lib.sub.b"


@pytest.mark.parametrize(
    ("pattern", "fitting"),
    [
        ("lib", ["lib", "lib.a", "lib.sub", "lib.sub.b"]),
        ("lib.*", ["lib.a", "lib.sub", "lib.sub.b"]),
        ("*.b", ["lib.sub.b"]),
        ("li", []),
        ("*", ["lib", "lib.a", "lib.sub", "lib.sub.b", "tests.t"]),
    ],
)
def test_a_name_fits_what_is_below_it(pattern: str, fitting: list[str]) -> None:
    assert [module for module in MODULES if covers(pattern, module)] == fitting
