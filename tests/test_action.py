"""The scripts of action.yml, run the way a runner runs them: inputs come as variables, results go to files."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS: dict[str, dict[str, Any]] = {step["id"]: step for step in ACTION["runs"]["steps"] if "id" in step}
SOURCE = "def scale(states, factor):\n    return states * factor\n"
DRIFTED = "# Copied from library.first.scale\ndef scale(states, factor):\n    return states + factor\n"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="bash on Windows runners is tested by CI itself")


def test_no_script_has_an_expression_in_it() -> None:
    assert [step.get("name") for step in ACTION["runs"]["steps"] if "${{" in step.get("run", "")] == []


def test_findings_fail_the_step_and_reach_the_log_the_summary_and_the_sarif_file(tmp_path: Path) -> None:
    library = make_library(tmp_path, DRIFTED)

    done = run_check(tmp_path, library)

    assert (done.returncode, outputs(tmp_path)) == (
        1,
        {"exit-code": "1", "sarif": str(tmp_path / "runner" / "mergeready.sarif")},
    )
    assert re.findall(r"^::error .*file=([^,]+),line=(\d+)", done.stdout, re.MULTILINE) == [
        ("library/second.py", "3"),
    ]
    results = json.loads((tmp_path / "runner" / "mergeready.sarif").read_text(encoding="utf-8"))["runs"][0]["results"]
    assert [result["ruleId"] for result in results] == ["copied-code/body"]
    summary = (tmp_path / "summary").read_text(encoding="utf-8").splitlines()
    assert (summary[:2], summary[-1]) == (["### mergeready", "~~~~~~~~text"], "~~~~~~~~")
    assert any("library/second.py:3" in line for line in summary)


def test_a_clean_library_passes(tmp_path: Path) -> None:
    library = make_library(tmp_path, DRIFTED.replace("+", "*"))

    done = run_check(tmp_path, library)

    assert (done.returncode, outputs(tmp_path)["exit-code"]) == (0, "0")


def test_arguments_are_words_and_never_shell(tmp_path: Path) -> None:
    library = make_library(tmp_path, DRIFTED)

    done = run_check(tmp_path, library, ARGS="--skip copied-code $(touch hacked) ; touch hacked")

    assert (done.returncode, (library / "hacked").exists()) == (2, False)


def test_rules_can_be_left_out_by_arguments(tmp_path: Path) -> None:
    library = make_library(tmp_path, DRIFTED)

    assert run_check(tmp_path, library, ARGS="--skip copied-code").returncode == 0


def make_library(folder: Path, second: str) -> Path:
    """A git repository with one package; `second` is a module that copies from the first."""
    package = folder / "checkout" / "library"
    package.mkdir(parents=True)
    for name, text in {"__init__.py": "", "first.py": SOURCE, "second.py": second}.items():
        (package / name).write_text(text, encoding="utf-8", newline="\n")
    for words in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "A library"]):
        subprocess.run(["git", *words], cwd=package.parent, check=True)
    return package.parent


def run_check(folder: Path, library: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the step `check` in a library, as a runner does."""
    step = STEPS["check"]
    (folder / "runner").mkdir()
    environment = {
        **os.environ,
        **dict.fromkeys(step["env"], ""),
        "MERGEREADY": str(Path(sys.executable).parent / "mergeready"),
        "RUNNER_TEMP": str(folder / "runner"),
        "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        **inputs,
    }
    script = folder / "script.sh"
    script.write_text(step["run"], encoding="utf-8")
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]
    return subprocess.run(command, cwd=library, env=environment, capture_output=True, encoding="utf-8", check=False)


def outputs(folder: Path) -> dict[str, str]:
    """What the step has set."""
    lines = (folder / "output").read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines)
