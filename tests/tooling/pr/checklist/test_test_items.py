"""The items about tests: that there are new ones, and that they were run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from checks import git
from tests.tooling.pr.branches import Branch, brief
from tooling import ledger
from tooling.ledger import Run

GROW = 'def grow(states, by):\n    """Grow the states."""\n    return states + by\n'


@pytest.fixture
def branch(tmp_path: Path) -> Branch:
    return Branch(tmp_path / "lib")


def record(branch: Branch, **fields: Any) -> None:
    """Put a run of the tree at HEAD into the ledger."""
    tree = branch.git("rev-parse", "HEAD^{tree}")
    run = Run(tree, ("pytest",), 0, 3, 0, 0, at="2026-01-02T03:04:05Z")._replace(**fields)
    ledger.record(git.find_repository(str(branch.folder)).common_dir, run)


def test_a_new_module_without_a_test_fails_and_a_new_function_without_one_warns(branch: Branch) -> None:
    branch.commit("Grow", {"src/lib/grow.py": GROW})
    assert brief(branch.decide("new-tests")) == ("fail", "new-tests/module", ("src/lib/grow.py:1 grow",))

    branch.commit("Test it", {"tests/test_other.py": "from lib.grow import grow\n\n\ndef test_it():\n    grow(1, 2)\n"})
    assert branch.decide("new-tests").code == "new-tests/tested"

    scale = (branch.folder / "src/lib/scale.py").read_text(encoding="utf-8")
    branch.commit("Shrink", {"src/lib/scale.py": f"{scale}\n\n{GROW.replace('grow', 'shrink')}"})
    assert brief(branch.decide("new-tests")) == ("warn", "new-tests/untested", ("src/lib/scale.py:6 shrink",))


def test_an_edited_test_counts_and_one_whose_imports_alone_changed_does_not(branch: Branch) -> None:
    branch.commit(
        "Grow",
        {
            "src/lib/grow.py": GROW,
            "tests/test_scale.py": "from lib.grow import grow\nfrom lib.scale import scale\n\n\n"
            "def test_scale():\n    assert scale(2, 3) == 6\n",
        },
    )
    assert branch.decide("new-tests").code == "new-tests/module"

    branch.commit("Test", {"tests/test_scale.py": "def test_scale():\n    assert scale(grow(1, 1), 3) == 6\n"})
    assert branch.decide("new-tests").code == "new-tests/tested"


@pytest.mark.parametrize(
    "test",
    [
        "from lib.grow import (\n    grow,\n)\n\nCASES = [grow]\n",
        "def test_grow_by_two():\n    pass\n",
        "class TestGrowing:\n    def test_it(self):\n        pass\n",
    ],
    ids=["a table", "a name that says less", "the name of the module"],
)
def test_a_table_of_what_is_tested_and_the_name_of_a_test_count(branch: Branch, test: str) -> None:
    branch.commit("Grow", {"src/lib/growing.py": GROW, "tests/test_other.py": test})

    expected = "module" if "grow_by_two" in test else "tested"
    assert branch.decide("new-tests").code == f"new-tests/{expected}"


def test_private_copied_generated_and_moved_code_asks_for_no_test(branch: Branch) -> None:
    branch.commit("Move", {"src/lib/scale.py": None, "src/lib/scaling.py": branch_text(branch, "src/lib/scale.py")})
    branch.commit(
        "Add",
        {
            "src/lib/_impl.py": GROW,
            "src/lib/copy.py": f"# Copied from lib.other.grow\n{GROW}",
            "src/lib/modeling.py": f"#   This file was automatically generated from modular.py\n{GROW}",
        },
    )

    assert branch.decide("new-tests").code == "new-tests/none"


def branch_text(branch: Branch, path: str) -> str:
    return (branch.folder / path).read_text(encoding="utf-8")


def test_a_run_counts_for_its_own_tree_alone(branch: Branch) -> None:
    branch.commit("Grow", {"src/lib/grow.py": GROW})
    assert branch.decide("tests").code == "tests/not-run"

    record(branch)
    assert brief(branch.decide("tests")) == (
        "pass",
        "tests/passed",
        ("pytest: 3 passed, 0 failed, 0 skipped, exit 0, 2026-01-02T03:04:05Z",),
    )

    branch.commit("Go on", {"a.txt": "a\n"})
    assert branch.decide("tests").code == "tests/not-run"


@pytest.mark.parametrize(
    ("fields", "verdict", "code"),
    [
        ({"exit": 1, "failed": 1}, "fail", "tests/failed"),
        ({"partial": True}, "manual", "tests/partial"),
        ({"passed": -1}, "unknown", "tests/empty"),
        ({"passed": 0, "skipped": 3}, "unknown", "tests/empty"),
    ],
)
def test_a_run_that_shows_less_is_no_pass(branch: Branch, fields: dict[str, Any], verdict: str, code: str) -> None:
    record(branch, **fields)

    assert brief(branch.decide("tests"))[:2] == (verdict, code)


def test_the_newest_run_of_a_command_is_the_one_that_counts(branch: Branch) -> None:
    record(branch, exit=1)
    record(branch, at="2026-01-03T00:00:00Z")

    assert branch.decide("tests").code == "tests/passed"


SLOW = """\
import pytest


@pytest.mark.slow
class TestBig:
    def test_all(self):
        assert big()
"""


def test_a_slow_test_counts_as_run_where_it_was_run_slowly_and_not_skipped(branch: Branch) -> None:
    branch.commit("Add a slow test", {"tests/models/test_big.py": SLOW})
    evidence = ("tests/models/test_big.py:6 TestBig.test_all",)
    assert brief(branch.decide("slow-tests")) == ("manual", "slow-tests/not-run", evidence)

    name = "tests.models.test_big.TestBig.test_all"
    record(branch, ran=(name,))
    assert branch.decide("slow-tests").code == "slow-tests/not-run"

    record(branch, environment={"RUN_SLOW": "yes"}, unrun=(name,), command=("pytest", "a"))
    assert brief(branch.decide("slow-tests")) == ("warn", "slow-tests/skipped", evidence)

    record(branch, environment={"RUN_SLOW": "1"}, ran=("models.test_big.TestBig.test_all",), command=("pytest", "b"))
    assert branch.decide("slow-tests").code == "slow-tests/run"


@pytest.mark.parametrize(
    "text",
    [
        "from library.testing import slow\n\n\n@slow\ndef test_a():\n    pass\n",
        "import pytest\n\npytestmark = [pytest.mark.gpu, pytest.mark.slow]\n\n\ndef test_a():\n    pass\n",
        "class TestA:\n    pytestmark = pytest.mark.slow\n\n    def test_a(self):\n        pass\n",
    ],
)
def test_a_test_is_slow_by_its_decorator_or_by_a_mark_around_it(branch: Branch, text: str) -> None:
    branch.commit("Add a slow test", {"tests/test_a.py": text})

    assert branch.decide("slow-tests").code == "slow-tests/not-run"


def test_a_branch_that_touches_no_slow_test_is_skipped(branch: Branch) -> None:
    branch.commit("Add", {"tests/test_a.py": "def test_slow_start():\n    pass\n"})

    assert branch.decide("slow-tests").code == "slow-tests/none"


def test_who_edits_a_model_touches_the_slow_tests_of_its_folder(tmp_path: Path) -> None:
    model = 'class Bert:\n    """A model."""\n'
    branch = Branch(
        tmp_path / "lib",
        {
            "src/lib/__init__.py": "",
            "src/lib/models/bert/modeling_bert.py": model,
            "src/lib/models/gpt/modeling_gpt.py": model,
            "tests/models/bert/test_modeling_bert.py": SLOW,
            "tests/models/gpt/test_modeling_gpt.py": "def test_gpt():\n    pass\n",
        },
    )
    branch.commit(
        "Edit both", {f"src/lib/models/{name}/modeling_{name}.py": f"{model}    size = 1\n" for name in ("bert", "gpt")}
    )
    assert brief(branch.decide("slow-tests")) == (
        "manual",
        "slow-tests/not-run",
        ("tests/models/bert/:0 slow tests of a model that was edited: src/lib/models/bert/modeling_bert.py",),
    )

    record(branch, environment={"RUN_SLOW": "1"}, ran=("tests.models.bert.test_modeling_bert.TestBig.test_all",))
    assert branch.decide("slow-tests").code == "slow-tests/run"
