"""The step of action.yml that judges a pull request, and the hook before a push, run the way others run them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.tooling.pr.branches import Branch

ROOT = Path(__file__).parents[3]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS: dict[str, dict[str, Any]] = {step["id"]: step for step in ACTION["runs"]["steps"] if "id" in step}

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="bash on Windows runners is tested by CI itself")


@pytest.fixture
def branch(tmp_path: Path) -> Branch:
    branch = Branch(tmp_path / "lib")
    branch.commit("Say more about scaling", {"README.md": "More.\n"})
    return branch


def run_step(branch: Branch, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the step as a runner does, for an event of this branch."""
    folder = branch.folder.parent
    repository = {"full_name": "octo/lib", "default_branch": "main"}
    pull = {
        "number": 7,
        "title": "Say more about scaling",
        "body": "",
        "head": {"ref": "work", "sha": branch.git("rev-parse", "work"), "repo": repository},
        "base": {"ref": "main", "sha": branch.git("rev-parse", "main"), "repo": repository},
    }
    (folder / "event.json").write_text(json.dumps({"pull_request": pull, "repository": repository}), encoding="utf-8")
    command = folder / "mergeready"
    code = "import sys; from tooling.cli import main; sys.exit(main())"
    command.write_text(f"#!/bin/sh\nexec '{sys.executable}' -c '{code}' \"$@\"\n", encoding="utf-8")
    command.chmod(0o755)
    environment = {
        **os.environ,
        **dict.fromkeys(STEPS["pull-request"]["env"], ""),
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "MERGEREADY": str(command),
        "GITHUB_EVENT_PATH": str(folder / "event.json"),
        "GITHUB_EVENT_NAME": "pull_request_target",
        "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        **variables,
    }
    script = folder / "script.sh"
    script.write_text(STEPS["pull-request"]["run"], encoding="utf-8")
    words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]
    return subprocess.run(words, cwd=branch.folder, env=environment, capture_output=True, encoding="utf-8", check=False)


def test_a_clean_pull_request_passes_and_its_verdicts_are_outputs(branch: Branch) -> None:
    done = run_step(branch)

    output = (branch.folder.parent / "output").read_text(encoding="utf-8").splitlines()
    assert (done.returncode, output[1]) == (0, "true")
    assert json.loads(output[7])["binary-files/text"] == "pass"


def test_a_failure_fails_the_step_and_is_annotated(branch: Branch) -> None:
    branch.commit("Show it", {"docs/show.png": b"\x89PNG\r\n\x1a\n"})

    done = run_step(branch)

    errors = [line for line in done.stdout.splitlines() if line.startswith("::error ")]
    assert (done.returncode, [line.partition("::")[2].partition("::")[0] for line in errors]) == (
        1,
        ["error file=docs/show.png,line=1,title=binary-files/binary"],
    )


def test_strict_and_comment_are_handed_on_and_nothing_else(branch: Branch) -> None:
    branch.commit("fixup! Show it", {"README.md": "Even more.\n"})

    lenient = run_step(branch, COMMENT="true", STRICT="$(touch hacked)")
    strict = run_step(branch, STRICT="true")

    assert (lenient.returncode, strict.returncode, (branch.folder / "hacked").exists()) == (0, 1, False)
    assert "there is no token, so there is no comment" in lenient.stderr


def test_the_hook_before_a_push_judges_the_branch_and_needs_no_network(branch: Branch) -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    (hook,) = (hook for hook in hooks if hook["id"] == "mergeready-pr")

    assert (hook["entry"], hook["stages"], hook["pass_filenames"]) == ("mergeready pr", ["pre-push"], False)
