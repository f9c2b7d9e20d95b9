"""Asking GitHub, and writing one comment: against a server that answers as the OpenAPI description says."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.tooling.pr import octokit
from tests.tooling.pr.branches import Branch
from tests.tooling.pr.github_server import COMMENTS, GitHub, running
from tooling.cli import main
from tooling.errors import UserError
from tooling.pr.event import Request
from tooling.pr.github import MARK, Access, checks_of, find_access, put_comment, refresh
from tooling.pr.pull import CheckRun

PULL = "GET /repos/{owner}/{repo}/pulls/{pull_number}"
CHECKS = "GET /repos/{owner}/{repo}/commits/{ref}/check-runs"
STATUS = "GET /repos/{owner}/{repo}/commits/{ref}/status"
HEAD = "6dcb09b5b57875f334f61aebed695e2e4193db5e"
REQUEST = Request(event="pull_request", number=1347, title="fix", head=HEAD, source="the pull_request event")


@pytest.fixture
def github() -> Iterator[GitHub]:
    with running() as server:
        yield server


@pytest.fixture
def access(github: GitHub) -> Access:
    return Access("octo/lib", "ghs_secret", github.url, "99")


def test_a_request_is_refreshed_and_keeps_the_head_of_its_event(github: GitHub, access: Access) -> None:
    github.answers[PULL].update(title="Amazing new feature", body="Fixes #3", draft=True)
    github.closes = [3, 4]

    assert refresh(access, REQUEST._replace(head="a" * 40, default_branch="main")) == Request(
        event="pull_request",
        number=1347,
        title="Amazing new feature",
        body="Fixes #3",
        draft=True,
        labels=("bug",),
        author="octocat",
        repository="octocat/Hello-World",
        head="a" * 40,
        head_ref="new-topic",
        head_repository="octocat/Hello-World",
        base=HEAD,
        base_ref="master",
        default_branch="main",
        source="the API",
        closes=(3, 4),
    )


def test_a_run_of_another_workflow_is_matched_to_its_pull_request_by_the_commit(access: Access) -> None:
    found = refresh(access, Request(event="workflow_run", head=HEAD))

    assert (found.event, found.number, found.title) == ("workflow_run", 1347, "Amazing new feature")


def test_an_event_without_a_pull_request_is_not_asked_about(github: GitHub, access: Access) -> None:
    request = Request(event="push", absent="a push has no title and no description", head=HEAD)

    assert (refresh(access, request), github.asked) == (request, [])


def test_checks_and_statuses_are_told_without_those_of_our_own_run(github: GitHub, access: Access) -> None:
    (check,) = github.answers[CHECKS]["check_runs"]
    runs = {
        "tests": ("completed", "success", "https://github.com/octo/lib/actions/runs/5/job/1"),
        "docs": ("in_progress", None, "https://github.com/octo/lib/actions/runs/6/job/2"),
        "pr": ("in_progress", None, "https://github.com/octo/lib/actions/runs/99/job/3"),
    }
    github.answers[CHECKS] = {
        "total_count": 3,
        "check_runs": [
            {**check, "name": name, "status": status, "conclusion": conclusion, "details_url": url}
            for name, (status, conclusion, url) in runs.items()
        ],
    }
    github.answers[STATUS]["statuses"][1]["state"] = "pending"

    assert checks_of(access, HEAD) == (
        CheckRun("tests", "success"),
        CheckRun("docs", ""),
        CheckRun("continuous-integration/jenkins", "success"),
        CheckRun("security/brakeman", ""),
    )


def test_the_comment_is_written_once_and_then_written_over(github: GitHub, access: Access) -> None:
    first = put_comment(access, 7, "one")
    second = put_comment(access, 7, "two")

    assert (first, [comment["body"] for comment in github.comments]) == (second, [f"{MARK}\ntwo"])


def test_a_comment_of_somebody_who_writes_our_mark_is_left_alone(github: GitHub, access: Access) -> None:
    put_comment(access, 7, "one")
    github.comments[0]["user"].update(login="mallory", type="User")

    put_comment(access, 7, "two")

    assert [comment["body"] for comment in github.comments] == [f"{MARK}\none", f"{MARK}\ntwo"]


def test_what_github_refuses_is_one_error_without_the_token(github: GitHub, access: Access) -> None:
    github.refuse[PULL] = 403

    with pytest.raises(UserError) as refusal:
        refresh(access, REQUEST)

    assert str(refusal.value) == "GitHub answers 403: Resource not accessible by integration"


def test_a_server_that_is_not_there_is_one_error(access: Access) -> None:
    with pytest.raises(UserError) as refusal:
        refresh(access._replace(url="http://127.0.0.1:9"), REQUEST)

    assert str(refusal.value) == "GitHub does not answer: ConnectionError"


def test_there_is_no_access_without_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_access({"GITHUB_REPOSITORY": "octo/lib"}, REQUEST) is None
    assert find_access({"GITHUB_TOKEN": "t", "GITHUB_REPOSITORY": "octo/lib"}, REQUEST) == Access(
        "octo/lib", "t", "https://api.github.com", ""
    )


@pytest.fixture
def workflow(tmp_path: Path, github: GitHub, monkeypatch: pytest.MonkeyPatch) -> Branch:
    """A checkout in a workflow run about a pull request whose title is `fix` in the event."""
    branch = Branch(tmp_path / "lib")
    head = branch.commit("Say more", {"README.md": "More.\n"})
    repository = {"full_name": "octo/lib", "default_branch": "main"}
    pull = {
        "number": 1347,
        "title": "fix",
        "body": "",
        "head": {"sha": head, "ref": "work", "repo": repository},
        "base": {"sha": branch.git("rev-parse", "main"), "ref": "main", "repo": repository},
    }
    (tmp_path / "event.json").write_text(json.dumps({"pull_request": pull, "repository": repository}), encoding="utf-8")
    for name, value in {
        "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_REPOSITORY": "octo/lib",
        "GITHUB_API_URL": github.url,
        "GITHUB_TOKEN": "ghs_secret",
        "GITHUB_RUN_ID": "99",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(branch.folder)
    return branch


def run_json(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, dict[str, Any]]:
    status = main(["pr", "--format", "json", *options])
    return status, json.loads(capsys.readouterr().out)


def codes(document: dict[str, Any]) -> dict[str, str]:
    return {item["code"]: item["verdict"] for item in document["items"]}


def test_s22_a_rerun_judges_the_title_as_it_is_now(
    workflow: Branch, github: GitHub, capsys: pytest.CaptureFixture[str]
) -> None:
    github.answers[PULL].update(title="Let it scale by any factor")

    status, document = run_json(capsys)

    found = codes(document)
    assert (status, found["title/judge"], found["tests/passed"]) == (0, "manual", "pass")
    assert (document["request"]["title"], document["request"]["source"]) == ("Let it scale by any factor", "the API")


def test_without_a_token_the_title_of_the_event_is_judged_and_that_is_said(
    workflow: Branch, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("GITHUB_TOKEN")

    status, document = run_json(capsys)

    assert (status, codes(document)["title/length"], document["notes"]) == (
        0,
        "warn",
        ["there is no token: the words are those of the event's time"],
    )


def test_a_red_check_fails_and_one_that_runs_is_unknown_and_does_not_block(
    workflow: Branch, github: GitHub, capsys: pytest.CaptureFixture[str]
) -> None:
    github.answers[CHECKS]["check_runs"][0].update(status="in_progress", conclusion=None)
    status, document = run_json(capsys)
    assert (status, codes(document)["tests/pending"], document["ready"]) == (0, "unknown", True)
    assert run_json(capsys, "--strict")[0] == 1

    github.answers[CHECKS]["check_runs"][0].update(status="completed", conclusion="timed_out")
    status, document = run_json(capsys)
    assert (status, codes(document)["tests/failed"]) == (1, "fail")


def test_the_runner_gets_a_summary_and_outputs_and_the_pull_request_one_comment(
    workflow: Branch, github: GitHub, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        main(["pr", "--format", "github", "--comment"])

    page = (workflow.folder.parent / "summary.md").read_text(encoding="utf-8")
    (comment,) = github.comments
    outputs = read_outputs(workflow.folder.parent / "output")
    assert page.count("### Pull request checklist") == 2
    assert comment["body"].startswith(f"{MARK}\n### Pull request checklist")
    assert comment["body"].removeprefix(f"{MARK}\n") in page
    assert (outputs["ready"], json.loads(outputs["verdicts"])["binary-files/text"]) == ("true", "pass")
    assert "ghs_secret" not in page + capsys.readouterr().out


def read_outputs(path: Path) -> dict[str, str]:
    """What later steps see, read as the runner reads it."""
    found = {}
    lines = iter(path.read_text(encoding="utf-8").split("\n"))
    for line in lines:
        if line:
            name, _, end = line.partition("<<")
            found[name] = "\n".join(iter(lambda: next(lines), end))
    return found


def test_a_fork_gets_no_comment_and_the_summary_says_why(
    workflow: Branch, github: GitHub, capsys: pytest.CaptureFixture[str]
) -> None:
    github.answers[PULL]["head"]["repo"]["full_name"] = "mallory/lib"

    main(["pr", "--format", "github", "--comment"])

    page = (workflow.folder.parent / "summary.md").read_text(encoding="utf-8")
    assert (github.comments, "may only read" in page) == ([], True)


def test_a_token_that_may_not_comment_is_no_failure(
    workflow: Branch, github: GitHub, capsys: pytest.CaptureFixture[str]
) -> None:
    github.refuse[f"POST {COMMENTS}"] = 403

    assert main(["pr", "--format", "github", "--comment"]) == 0
    assert "GitHub answers 403" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("npm") is None, reason="npm fetches the description, and is not installed")
def test_what_our_server_answers_is_what_the_description_says(tmp_path: Path, github: GitHub, access: Access) -> None:
    described = octokit.description(octokit.download("openapi", tmp_path))
    put_comment(access, 7, "one")
    put_comment(access, 7, "two")
    refresh(access, REQUEST)
    checks_of(access, HEAD)

    found = {asked.operation: faults(described, asked.operation, asked.answer) for asked in github.asked}

    # Some published examples are older than the schema beside them; what they lack is no fault of ours.
    published = json.loads(octokit.ANSWERS.read_text(encoding="utf-8"))
    assert {name: found[name] - faults(described, name, published[name]) for name in found} == {
        name: set() for name in found
    }


def faults(described: dict[str, Any], operation: str, answer: Any) -> set[str]:
    """Where an answer differs from its schema."""
    schema = {**octokit.answer_of(described, operation)["schema"], "components": described["components"]}
    validator = jsonschema.Draft202012Validator(nullable(schema))
    return {f"{error.json_path}: {error.validator}" for error in validator.iter_errors(answer)}


def nullable(schema: Any) -> Any:
    """A schema of OpenAPI 3.0 as JSON Schema has it: there, null is a type and not a flag."""
    if isinstance(schema, list):
        return [nullable(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {key: nullable(value) for key, value in schema.items() if key != "nullable"}
    return {"anyOf": [plain, {"type": "null"}]} if schema.get("nullable") is True else plain
