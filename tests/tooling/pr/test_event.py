"""Payloads as GitHub writes them, whole and with parts missing."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.tooling.pr.octokit import all_examples, download, kept_examples
from tooling.errors import UserError
from tooling.pr.event import Request, parse_event, parse_pull

HERE = ("api.github.com", "pull_request")
OPENED = next(payload for server, event, payload in kept_examples() if (server, event) == HERE)
PARSED = Request(
    event="pull_request",
    number=2,
    title="Update the README with new information.",
    body="This is a pretty simple change that we need to pull into master.",
    draft=False,
    author="Codertocat",
    repository="Codertocat/Hello-World",
    head="ec26c3e57ca3a959ca5aad62de7213c562f8c821",
    head_ref="changes",
    head_repository="Codertocat/Hello-World",
    base="f95f852bd8fca8fcc58a9a2d6c842781e32a215e",
    base_ref="master",
    default_branch="master",
    source="the pull_request event",
)
LABEL = {
    "id": 1,
    "node_id": "x",
    "url": "https://api.github.com/repos/Codertocat/Hello-World/labels/bug",
    "name": "bug",
    "color": "d73a4a",
    "default": True,
    "description": None,
}


def patched(changes: dict[str, Any]) -> dict[str, Any]:
    """The payload of an opened pull request with values put at dotted paths."""
    payload = deepcopy(OPENED)
    for path, value in changes.items():
        *parents, last = path.split(".")
        holder = payload
        for key in parents:
            holder = holder.setdefault(key, {})
        holder[last] = value
    return payload


VARIANTS: dict[str, tuple[dict[str, Any], Callable[[Request], Request]]] = {
    "from a fork": (
        {"pull_request.head.repo.full_name": "octocat/Hello-World", "pull_request.head.repo.fork": True},
        lambda request: request._replace(head_repository="octocat/Hello-World"),
    ),
    "from a fork that is gone": (
        {"pull_request.head.repo": None},
        lambda request: request._replace(head_repository=""),
    ),
    "without a description": ({"pull_request.body": None}, lambda request: request._replace(body="")),
    "with a description from the web": (
        {"pull_request.body": "a\r\nb\r\n"},
        lambda request: request._replace(body="a\r\nb\r\n"),
    ),
    "marked as work in progress": (
        {"pull_request.title": "[WIP] Update"},
        lambda request: request._replace(title="[WIP] Update"),
    ),
    "edited": (
        {"action": "edited", "changes": {"title": {"from": "Old"}}},
        lambda request: request,
    ),
    "with a base that has gone on": (
        {"pull_request.base.sha": "1" * 40},
        lambda request: request._replace(base="1" * 40),
    ),
    "with labels": (
        {"pull_request.labels": [LABEL]},
        lambda request: request._replace(labels=("bug",)),
    ),
}
IMPOSSIBLE: dict[str, dict[str, Any]] = {
    "from an old server without drafts": {"pull_request.draft": None},
    "by a ghost, whom the schema does not know": {"pull_request.user": None},
    "with a title that is a number": {"pull_request.title": 7},
    "with a commit id that is an option": {"pull_request.head.sha": "--upload-pack=x"},
    "with a commit id that is short": {"pull_request.head.sha": "ec26c3e"},
    "with labels that are none": {"pull_request.labels": [None, "bug", 3]},
    "with sides that are lists": {"pull_request.head": [], "pull_request.base": []},
    "without a repository": {"repository": None},
}


@pytest.mark.parametrize("name", VARIANTS)
def test_a_pull_request_is_read_whatever_is_missing_from_it(name: str) -> None:
    changes, expected = VARIANTS[name]

    assert parse_event(patched(changes), "pull_request") == expected(PARSED)


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_what_no_server_should_send_is_read_without_an_accident(name: str) -> None:
    request = parse_event(patched(IMPOSSIBLE[name]))

    assert request.event == "pull_request"
    assert (request.head == "" or len(request.head) == 40, isinstance(request.title, str)) == (True, True)


def test_the_kept_examples_tell_what_they_are_about() -> None:
    found = [(example.server, *summary(parse_event(example.payload, example.event))) for example in kept_examples()]

    assert found == [
        ("ghes-31", "pull_request", 2, "changes", False, ""),
        ("api.github.com", "issue_comment", 0, "", None, "the comment is on an issue, not on a pull request"),
        ("api.github.com", "merge_group", 104, "", None, "a merge group has no title and no description"),
        ("api.github.com", "pull_request", 2, "changes", False, ""),
        ("api.github.com", "pull_request", 2, "changes", False, ""),
        ("api.github.com", "pull_request", 2, "changes", True, ""),
        ("api.github.com", "pull_request", 2, "changes", False, ""),
        ("api.github.com", "pull_request", 2, "changes", False, ""),
        ("api.github.com", "push", 0, "", None, "a push has no title and no description"),
        ("api.github.com", "push", 0, "master", None, "a push has no title and no description"),
        ("api.github.com", "workflow_run", 0, "main", None, ""),
        ("api.github.com", "workflow_run", 2, "master", None, ""),
    ]


def summary(request: Request) -> tuple[object, ...]:
    return request.event, request.number, request.head_ref, request.draft, request.absent


def test_a_comment_on_a_pull_request_tells_its_words_and_no_commits() -> None:
    issue = {"number": 5, "title": "Scale", "body": "Fixes #3", "draft": True, "pull_request": {"url": "x"}}

    request = parse_event({"issue": issue, "comment": {"body": "/rerun"}, "repository": {"full_name": "octo/cat"}})

    assert request == Request(
        event="issue_comment",
        number=5,
        title="Scale",
        body="Fixes #3",
        draft=True,
        repository="octo/cat",
        source="the issue_comment event",
    )


def test_a_queue_on_a_branch_with_slashes_is_understood() -> None:
    group = {"head_ref": f"refs/heads/gh-readonly-queue/release/v4.2/pr-12-{'a' * 40}", "head_sha": "b" * 40}

    request = parse_event({"merge_group": {**group, "base_ref": "refs/heads/release/v4.2", "base_sha": "c" * 40}})

    assert (request.number, request.base_ref, request.head, request.base) == (12, "release/v4.2", "b" * 40, "c" * 40)


@pytest.mark.parametrize("name", ["--exec=x", "a b", "a\nb", "a\x1b[31m", "a..b~1", "a:b"])
def test_a_name_that_git_could_take_for_something_else_is_refused(name: str) -> None:
    with pytest.raises(UserError) as refusal:
        parse_event(patched({"pull_request.head.ref": name}))

    assert refusal.value.exit == 3


def test_a_null_body_is_an_empty_description_and_no_unknown_one() -> None:
    assert parse_pull({"body": None}).body == ""


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("octokit")
    for name in ("webhooks-examples", "webhooks-schemas"):
        download(name, folder)
    return folder


needs_npm = pytest.mark.skipif(shutil.which("npm") is None, reason="npm fetches the examples, and is not installed")


@pytest.mark.slow
@needs_npm
def test_every_example_of_every_event_is_read_without_an_accident(packages: Path) -> None:
    examples = list(all_examples(packages / "webhooks-examples" / "package"))

    assert len(examples) > 500
    assert {type(parse_event(example.payload, name)) for example in examples for name in (example.event, "")} == {
        Request
    }


@pytest.mark.slow
@needs_npm
def test_our_variants_are_payloads_that_github_could_send(packages: Path) -> None:
    text = (packages / "webhooks-schemas" / "package" / "schema.json").read_text(encoding="utf-8")
    # The example is some years older than the schema, so what it lacks itself is no fault of a variant.
    known = faults(text, OPENED, "opened")

    assert {
        name: faults(text, patched(changes), patched(changes)["action"]) - known
        for name, (changes, _) in VARIANTS.items()
    } == {name: set() for name in VARIANTS}


def faults(schemas: str, payload: dict[str, Any], action: str) -> set[tuple[str, str]]:
    """Where a payload differs from the schema of its event, and how."""
    schema = {**json.loads(schemas), "$ref": f"#/definitions/pull_request${action}"}
    schema.pop("oneOf")
    errors = jsonschema.Draft7Validator(schema).iter_errors(payload)
    return {(error.json_path, str(error.validator)) for error in errors}
