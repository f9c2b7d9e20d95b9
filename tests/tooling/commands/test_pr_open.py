"""Writing a draft and opening it: `gh` is a stand-in that writes down what it was asked."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.tooling.pr.branches import Branch
from tooling.cli import main

GH = """\
#!{python}
import json, os, sys
with open({record!r}, "w") as file:
    json.dump({{"argv": sys.argv[1:], "body": "" if sys.stdin.isatty() else sys.stdin.read()}}, file)
sys.stdout.write(os.environ.get("GH_SAYS", "https://github.com/octo/lib/pull/7\\n"))
sys.exit(int(os.environ.get("GH_STATUS", "0")))
"""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for gh is a script with a shebang")


@pytest.fixture
def branch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Branch:
    """A branch that was pushed to a fork of a project on GitHub."""
    branch = Branch(tmp_path / "lib")
    branch.git("remote", "add", "upstream", "git@github.com:Octo/lib.git")
    branch.git("remote", "add", "origin", "https://github.com/ada/lib")
    branch.git("update-ref", "refs/remotes/upstream/main", "main")
    branch.commit("Say how to scale\n\nIt was a riddle.", {"README.md": "Scale.\n"})
    branch.git("update-ref", "refs/remotes/origin/work", "HEAD")
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "gh").write_text(GH.format(python=sys.executable, record=str(tmp_path / "asked")), encoding="utf-8")
    (folder / "gh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(branch.folder)
    return branch


def asked(branch: Branch) -> dict[str, Any]:
    """What the stand-in was asked."""
    found: dict[str, Any] = json.loads((branch.folder.parent / "asked").read_text(encoding="utf-8"))
    return found


def test_gh_gets_repository_base_head_and_the_filled_description(
    branch: Branch, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(["pr", "open"])

    assert (status, capsys.readouterr().out.splitlines()[-1]) == (0, "https://github.com/octo/lib/pull/7")
    assert asked(branch) == {
        "argv": [
            "pr",
            "create",
            "--repo=github.com/octo/lib",
            "--base=main",
            "--head=ada:work",
            "--title=Say how to scale",
            "--body-file=-",
        ],
        "body": "## What and why\n\nIt was a riddle.\n\nFixes #\n",
    }


def test_a_draft_is_written_once_and_what_it_says_is_judged_and_opened(
    branch: Branch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["pr", "--write-body"]) == 0
    path = Path(capsys.readouterr().out.strip())
    assert path.read_text(encoding="utf-8").startswith("Say how to scale\n\n## What and why\n")
    path.write_text("[WIP] Say how to scale\n\nFixes #3\n", encoding="utf-8")

    assert main(["pr", "--write-body"]) == 3
    capsys.readouterr()
    assert main(["pr", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["request"]["source"], document["work_in_progress"]) == ("the draft", True)

    assert main(["pr", "open"]) == 0
    assert (asked(branch)["argv"][-1], asked(branch)["body"]) == ("--draft", "Fixes #3\n")


def test_a_branch_that_is_not_pushed_or_fails_is_not_opened(branch: Branch, capsys: pytest.CaptureFixture[str]) -> None:
    branch.commit("More on scaling things", {"README.md": "More.\n"})
    not_pushed = main(["pr", "open", "--title", "Say how to scale"])
    branch.commit("Add a picture", {"a.png": b"\x89PNG\r\n\x1a\n"})
    failing = main(["pr", "open", "--title", "Say how to scale"])

    assert (not_pushed, failing, (branch.folder.parent / "asked").exists()) == (3, 1, False)
    assert capsys.readouterr().err == "error: other commits are pushed than are here: work\nhint: mergeready push\n"


def test_what_gh_refuses_ends_with_5_and_where_it_is_missing_with_6(
    branch: Branch, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GH_STATUS", "1")
    assert main(["pr", "open"]) == 5

    monkeypatch.setenv("PATH", os.defpath)
    assert main(["pr", "open"]) == 6
    assert "gh is not installed" in capsys.readouterr().err


def test_gh_can_tell_what_is_written_already(
    branch: Branch, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told = {
        "number": 7,
        "title": "Draft: say how to scale",
        "body": "",
        "isDraft": False,
        "labels": [{"name": "bug"}],
        "headRefName": "work",
        "baseRefName": "main",
        "closingIssuesReferences": [{"number": 3}],
    }
    monkeypatch.setenv("GH_SAYS", json.dumps(told))

    main(["pr", "--from-gh", "--format", "json"])

    items = {item["item"]: item["code"] for item in json.loads(capsys.readouterr().out)["items"]}
    assert (items["work-in-progress"], items["linked-issue"]) == ("work-in-progress/draft", "linked-issue/closes")
