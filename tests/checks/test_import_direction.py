"""Directions of imports: what the examples do not show."""

from __future__ import annotations

import pytest

from tests.checks.trees import judge, says, subjects, tree_of

RULE = "import-direction"
FILES = {"core/__init__.py": "", "shell/__init__.py": "", "shell/ls.py": ""}


def table(**options: object) -> dict[str, object]:
    """Settings with a table of directions."""
    return {"rules": {RULE: options}}


def found(texts: dict[str, str], **options: object) -> tuple[str, ...]:
    """What the rule says of a tree, with messages and reasons."""
    findings = judge(RULE, tree_of({**FILES, **texts}), table(**options))
    return tuple(f"{one.path}:{one.line} {one.message} ({one.reason})" for one in findings)


def test_a_finding_says_who_imports_whom_and_which_line_of_the_table_is_against_it() -> None:
    importing = {"core/a.py": "from shell import ls, VERSION\n"}

    assert found(importing, allowed={"core": []}) == (
        "core/a.py:1 core.a imports shell (allowed: core imports nothing else of this repository)",
        "core/a.py:1 core.a imports shell.ls (allowed: core imports nothing else of this repository)",
    )
    assert found(importing, forbidden={"core.*": ["shell.ls"]}) == (
        "core/a.py:1 core.a imports shell.ls (forbidden: core.* never imports shell.ls)",
    )
    assert found(importing, only_from={"shell.ls": ["shell"]}) == (
        "core/a.py:1 core.a imports shell.ls (only_from: shell.ls is imported by shell only)",
    )


def test_what_is_not_ours_is_allowed_until_it_is_forbidden() -> None:
    importing = {"core/a.py": "import torch.nn\n"}

    assert found(importing, allowed={"core": []}) == ()
    assert found(importing, forbidden={"core": ["torch"]}) == (
        "core/a.py:1 core.a imports torch.nn (forbidden: core never imports torch)",
    )


def test_every_name_of_ours_in_the_table_has_to_fit_a_module() -> None:
    assert found({}, forbidden={"core": ["shell.sl", "torch.x"]}, only_from={"shell.ls": ["core.a"]}) == (
        "pyproject.toml:1 forbidden: 'shell.sl' fits no module ()",
        "pyproject.toml:1 only_from: 'core.a' fits no module ()",
    )


def test_a_package_may_import_itself() -> None:
    importing = {"shell/a.py": "from shell import ls\nfrom . import b\nimport shell\n", "shell/b.py": ""}

    assert found(importing, allowed={"shell": []}, only_from={"shell": []}) == ()


def test_imports_for_type_checkers_count_unless_told_otherwise() -> None:
    importing = {"core/a.py": "if TYPE_CHECKING:\n    import shell\n"}

    assert len(found(importing, allowed={"core": []})) == 1
    assert found(importing, allowed={"core": []}, type_checking=False) == ()


def test_the_import_that_leads_back_to_the_topmost_module_of_a_circle_is_reported() -> None:
    importing = {
        "core/a.py": "import core.b\n",
        "core/b.py": "import core.a\nimport core.c\n",
        "core/c.py": "import core.d\n",
        "core/d.py": "import core.b\n",
        "core/e.py": "import core.e\nimport core.a\n",
    }

    assert found(importing, allowed={"core": []}) == (
        "core/b.py:1 a circle of imports: core.a -> core.b -> core.a ()",
        "core/d.py:1 a circle of imports: core.b -> core.c -> core.d -> core.b ()",
    )
    assert found(importing, allowed={"core": []}, circles=False) == ()


def test_an_import_that_closes_several_circles_is_reported_once() -> None:
    importing = {
        "core/__init__.py": "import core.a\nimport core.b\n",
        "core/a.py": "import core.b\n",
        "core/b.py": "import core\n",
    }

    assert says(judge(RULE, tree_of({**FILES, **importing}), table(allowed={"core": []}))) == (
        f"core/b.py:1 {RULE}/circle",
    )


def test_the_subjects_are_the_imports_and_without_a_table_there_are_none() -> None:
    tree = tree_of({**FILES, "core/a.py": "import os, sys\nimport shell\nimport shell\n"})

    assert subjects(RULE, tree, table(allowed={"core": ["shell"]})) == 4
    assert subjects(RULE, tree) == 0
    assert subjects(RULE, tree, table(circles=True)) == 0


@pytest.mark.parametrize("names", ["shell", 3, ["shell", 3], {"shell": True}])
def test_a_table_that_is_not_understood_is_a_finding(names: object) -> None:
    tree = tree_of({**FILES, "pyproject.toml": ""})

    assert says(judge(RULE, tree, table(allowed={"core": names}))) == (f"pyproject.toml:1 {RULE}/table",)
