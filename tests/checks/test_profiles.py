"""Which layout a tree has, told from small stand-ins of the real ones."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from checks.profiles import LAYOUTS, Profile, build, find_packages
from checks.settings import parse

LAZY = "_import_structure = {}\n"
DEFINED = "_import_structure = define_import_structure(Path(__file__).parent)\n"


def profile_of(files: Mapping[str, str], **table: object) -> Profile:
    return parse(table, tuple(sorted(files)), lambda path: files.get(path, ""), source="mergeready.toml").profile


@pytest.mark.parametrize(
    ("files", "name", "packages"),
    [
        (
            {"src/transformers/__init__.py": LAZY, "src/transformers/a.py": "", "tests/test_a.py": "", "setup.py": ""},
            "transformers-4",
            {"transformers": "src/transformers", "tests": "tests"},
        ),
        (
            {"src/transformers/__init__.py": DEFINED, "utils/__init__.py": "", "utils/check_repo.py": ""},
            "transformers-5",
            {"transformers": "src/transformers"},
        ),
        (
            {"transformers/__init__.py": DEFINED, "transformers/a.py": ""},
            "transformers-5",
            {"transformers": "transformers"},
        ),
        (
            {"src/diffusers/__init__.py": LAZY, "tests/__init__.py": "", "examples/__init__.py": ""},
            "diffusers",
            {"diffusers": "src/diffusers", "tests": "tests"},
        ),
        (
            {
                "optimum/graphcore/__init__.py": "",
                "optimum/graphcore/modeling.py": "",
                "examples/a/b.py": "",
                "setup.py": "",
            },
            "optimum",
            {"optimum": "optimum"},
        ),
        (
            {"src/optimum/intel/__init__.py": "", "tests/a/__init__.py": ""},
            "optimum",
            {"optimum": "src/optimum", "tests": "tests"},
        ),
        ({"optimum_neuron/__init__.py": ""}, "optimum", {"optimum_neuron": "optimum_neuron"}),
        (
            {"small/__init__.py": "", "large/__init__.py": "", "large/a.py": "", "scripts/__init__.py": ""},
            "generic",
            {"large": "large", "small": "small"},
        ),
        (
            {"large/__init__.py": "", "large/a.py": "", "src/small/__init__.py": ""},
            "generic",
            {"small": "src/small", "large": "large"},
        ),
        ({"setup.py": "", "docs/a.md": ""}, "generic", {}),
        ({}, "generic", {}),
    ],
)
def test_a_layout_is_recognised_by_its_package_and_its_init(
    files: Mapping[str, str], name: str, packages: Mapping[str, str]
) -> None:
    profile = profile_of(files)

    assert (profile.name, list(profile.packages.items())) == (name, list(packages.items()))
    assert profile == build(name, packages)


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_settings_may_name_the_layout(name: str) -> None:
    assert profile_of({"lib/__init__.py": ""}, profile=name) == build(name, {"lib": "lib"})


def test_the_settings_may_name_the_packages_and_any_part_of_the_layout() -> None:
    profile = profile_of(
        {"src/diffusers/__init__.py": ""},
        packages={"mine": "code/mine"},
        layout={
            "dummies_sorted": True,
            "tocs": ["a.yml", "b.yml"],
            "tocs_sorted": [],
            "dummy_short_names": {"torch": "t"},
        },
    )

    assert profile == build("generic", {"mine": "code/mine"})._replace(
        dummies_sorted=True, tocs=("a.yml", "b.yml"), tocs_sorted=(), dummy_short_names={"torch": "t"}
    )


@pytest.mark.parametrize(
    ("packages", "pattern"),
    [({"a": "src/a", "b": "b"}, "src/a/models/*.py"), ({"a": "."}, "models/*.py"), ({}, "models/*.py")],
)
def test_patterns_are_put_below_the_library(packages: Mapping[str, str], pattern: str) -> None:
    assert build("generic", packages).pattern("{package}/models/*.py") == pattern


def test_a_hundred_thousand_paths_are_no_trouble() -> None:
    paths = tuple(f"src/lib/a{number}/b/c/d.py" for number in range(100_000))

    assert find_packages(("src/lib/__init__.py", *paths)) == {"lib": "src/lib"}
