"""`mergeready tests`: a command runs, and what it showed is on record for the tree it ran on."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from checks import git
from tests.tooling.pr.branches import Branch
from tooling import ledger
from tooling.cli import main
from tooling.ledger import Run
from tooling.trees import tree_now

TESTS = """\
import pytest


@pytest.mark.parametrize("number", [1, 2])
def test_both(number):
    assert number


class TestAll:
    def test_one(self):
        pass

    @pytest.mark.skip(reason="no accelerator")
    def test_big(self):
        pass
"""
PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")


@pytest.fixture
def branch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Branch:
    files = {"tests/test_a.py": TESTS, "pytest.ini": "[pytest]\n", ".gitignore": "__pycache__\n"}
    branch = Branch(tmp_path / "lib", files)
    monkeypatch.chdir(branch.folder)
    return branch


def recorded(branch: Branch) -> tuple[Run, ...]:
    """The runs of the tree at HEAD, without what no test can foresee."""
    repository = git.find_repository(str(branch.folder))
    runs = ledger.runs_of(repository.common_dir, branch.git("rev-parse", "HEAD^{tree}"))
    return tuple(run._replace(seconds=0, at="") for run in runs)


def test_a_run_of_pytest_is_recorded_with_its_counts_and_the_names_of_its_tests(
    branch: Branch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUN_SLOW", "1")

    assert main(["tests", "--", *PYTEST]) == 0

    assert recorded(branch) == (
        Run(
            tree=branch.git("rev-parse", "HEAD^{tree}"),
            command=PYTEST,
            exit=0,
            passed=3,
            failed=0,
            skipped=1,
            environment={"RUN_SLOW": "1"},
            ran=("tests.test_a.test_both", "tests.test_a.TestAll.test_one"),
            unrun=("tests.test_a.TestAll.test_big",),
        ),
    )


def test_a_failure_keeps_its_exit_code_and_is_recorded(branch: Branch) -> None:
    branch.commit("Fail", {"tests/test_a.py": "def test_a():\n    assert False\n"})

    status = main(["tests", "--", *PYTEST])

    assert (status, [(run.exit, run.failed, run.ran) for run in recorded(branch)]) == (1, [(1, 1, ())])


def test_what_was_tested_before_the_commit_counts_for_the_commit(branch: Branch) -> None:
    (branch.folder / "new.txt").write_text("new\n", encoding="utf-8")
    main(["tests", "--", *PYTEST])
    assert recorded(branch) == ()

    branch.commit("Add what was tested", {})
    assert [run.passed for run in recorded(branch)] == [3]


def test_a_run_that_changes_the_files_is_not_recorded(branch: Branch, capsys: pytest.CaptureFixture[str]) -> None:
    script = "open('left.txt', 'w').close()"

    status = main(["tests", "--", sys.executable, "-c", script])

    assert (status, recorded(branch)) == (0, ())
    assert capsys.readouterr().err == "the files changed while the tests ran, so this run is not recorded\n"


def test_another_command_is_recorded_without_counts_and_its_own_report_is_read(branch: Branch) -> None:
    report = str(branch.folder.parent / "report.xml")
    suite = '<testsuites><testsuite><testcase classname="a.B" name="test_c"/></testsuite></testsuites>'
    write = f"open({report!r}, 'w').write({suite!r})"
    main(["tests", "--", sys.executable, "-c", "pass"])
    main(["tests", "--report", report, "--", sys.executable, "-c", write])
    main(["tests", "--report", report, "--", sys.executable, "-c", "'the report is the one of before'"])

    assert [(run.passed, run.ran) for run in recorded(branch)] == [(-1, ()), (1, ("a.B.test_c",)), (-1, ())]


def test_a_command_that_is_not_there_ends_with_6(branch: Branch, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tests", "--", "no-such-command-here"]) == 6
    assert capsys.readouterr().err.startswith("error: cannot run no-such-command-here: ")


def test_looking_at_the_tree_leaves_index_and_objects_as_they_are(branch: Branch) -> None:
    (branch.folder / "new.txt").write_text("new\n", encoding="utf-8")
    (branch.folder / "tests" / "test_a.py").write_text("edited = 1\n", encoding="utf-8")
    status, objects = branch.git("status", "--porcelain"), branch.git("count-objects", "-v")
    index = (branch.folder / ".git" / "index").read_bytes()

    tree = tree_now(git.find_repository(str(branch.folder)))

    assert (status, objects) == (branch.git("status", "--porcelain"), branch.git("count-objects", "-v"))
    assert (branch.folder / ".git" / "index").read_bytes() == index
    branch.commit("All of it", {})
    assert tree == branch.git("rev-parse", "HEAD^{tree}")


def test_a_damaged_ledger_is_passed_over_and_old_runs_are_dropped(
    branch: Branch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger, "KEPT", 3)
    repository = git.find_repository(str(branch.folder))
    tree = branch.git("rev-parse", "HEAD^{tree}")
    for number in range(5):
        ledger.record(repository.common_dir, Run(tree, ("pytest",), number, at=f"2026-01-0{number + 1}"))
    folder = Path(repository.common_dir) / "mergeready" / "tests"
    for name, text in {"broken": "{", "list": "[]", "short": "{}"}.items():
        (folder / f"{tree}.{name}.json").write_text(text, encoding="utf-8")

    assert [run.exit for run in recorded(branch)] == [2, 3, 4]
