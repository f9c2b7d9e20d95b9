"""Fetch GitHub's published examples of events and answers, and write down those that the tests read.

`python -m tests.tooling.pr.octokit`, at the root of the repository, writes `tests/tooling/pr/data` anew.
"""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

PACKAGES = {
    "webhooks-examples": (
        "7.6.1",
        "De6U3XB6O3DtCa7bKgCMzTHdeopqqZ6SNivMYJnK65ierKL1AnNIA0tkRYCRS7lwGT792d+Ps1WbfHlso6MynQ==",
    ),
    "webhooks-schemas": (
        "7.6.1",
        "qW0Bwtb76r4m2WzVhKDyfEeEnt1GEQoRjkCqmq2ZeB0nNVDJ+Z2LBDS9FDPyduuMXf/ZTWiCJp9PFFHgRfBe3A==",
    ),
    "openapi": (
        "23.0.2",
        "pV8M7L9GY23AybNvTmo2nyjmpmnt6+2sRE/tqr0ZLQcPS4lnw7u5eZGNmwRNkBC3D7gZXbFx5AHzLUVRBXGDhg==",
    ),
}
"""Version and SHA-512 of each package of `@octokit`, in base64 as the registry states it."""

DATA = Path(__file__).parent / "data"
EVENTS, ANSWERS = DATA / "github_events", DATA / "github_answers.json"
KEPT = {
    # One of each state that the parser tells apart, and one whose description is null.
    ("api.github.com", "pull_request"): ("opened", "opened:no-body", "converted_to_draft", "synchronize", "closed"),
    ("api.github.com", "merge_group"): ("checks_requested",),
    ("api.github.com", "issue_comment"): ("created",),
    ("api.github.com", "workflow_run"): ("completed", "completed:with-pull"),
    ("api.github.com", "push"): ("", ":branch"),
    ("ghes-31", "pull_request"): ("opened",),
}
"""Server and event to the actions that are kept; after the colon, what distinguishes the example."""


OPERATIONS = {
    "GET /repos/{owner}/{repo}/pulls/{pull_number}": "200",
    "GET /repos/{owner}/{repo}/commits/{commit_sha}/pulls": "200",
    "GET /repos/{owner}/{repo}/commits/{ref}/check-runs": "200",
    "GET /repos/{owner}/{repo}/commits/{ref}/status": "200",
    "GET /repos/{owner}/{repo}/issues/{issue_number}/comments": "200",
    "POST /repos/{owner}/{repo}/issues/{issue_number}/comments": "201",
    "PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}": "200",
}
"""What is asked of GitHub's REST API, as its OpenAPI description names it, and the status of the answer."""


class Example(NamedTuple):
    """One payload and where it is from."""

    server: str
    event: str
    payload: dict[str, Any]


def kept_examples() -> Iterator[Example]:
    """The examples that stand beside the tests."""
    for path in sorted(EVENTS.glob("*.jsonl")):
        server, event = path.stem.rsplit(".", 1) if "." in path.stem else ("api.github.com", path.stem)
        for line in path.read_text(encoding="utf-8").splitlines():
            yield Example(server, event, json.loads(line))


def all_examples(package: Path) -> Iterator[Example]:
    """Every example of an unpacked `webhooks-examples`."""
    for index in sorted(package.glob("*/index.json")):
        for event in json.loads(index.read_text(encoding="utf-8")):
            for payload in event["examples"]:
                yield Example(index.parent.name, event["name"], payload)


def download(name: str, folder: Path) -> Path:
    """Unpack a package of `@octokit` into a folder; AssertionError where its hash is another."""
    version, expected = PACKAGES[name]
    command = ["npm", "pack", "--silent", f"@octokit/{name}@{version}"]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, encoding="utf-8")
    archive = folder / done.stdout.strip()
    found = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode("ascii")
    assert found == expected, f"{archive.name} has the hash {found}"
    with tarfile.open(archive) as package:
        package.extractall(folder / name, filter="data")
    return folder / name / "package"


def _chosen(examples: list[Example], wanted: str) -> dict[str, Any]:
    action, _, which = wanted.partition(":")
    for _, _, payload in examples:
        pull, run = payload.get("pull_request") or {}, payload.get("workflow_run") or {}
        found = {
            "": pull.get("body") is not None or not pull,
            "no-body": pull.get("body") is None,
            "with-pull": bool(run.get("pull_requests")),
            "branch": str(payload.get("ref")).startswith("refs/heads/"),
        }
        if payload.get("action", "") == action and found[which]:
            return payload
    raise LookupError(f"no example is {wanted}")


def description(package: Path) -> dict[str, Any]:
    """The OpenAPI description in an unpacked `openapi`."""
    found: dict[str, Any] = json.loads((package / "generated" / "api.github.com.json").read_text(encoding="utf-8"))
    return found


def answer_of(described: dict[str, Any], operation: str) -> dict[str, Any]:
    """The content of an operation's answer, as the description has it: schema and examples."""
    method, _, path = operation.partition(" ")
    answer = described["paths"][path][method.lower()]["responses"][OPERATIONS[operation]]
    found: dict[str, Any] = answer["content"]["application/json"]
    return found


def _write() -> None:
    with tempfile.TemporaryDirectory() as folder:
        examples = list(all_examples(download("webhooks-examples", Path(folder))))
        described = description(download("openapi", Path(folder)))
    for (server, event), wanted in KEPT.items():
        prefix = "" if server == "api.github.com" else f"{server}."
        own = [example for example in examples if example[:2] == (server, event)]
        rows = [json.dumps(_chosen(own, each), separators=(",", ":")) for each in wanted]
        (EVENTS / f"{prefix}{event}.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    answers = {}
    for operation in OPERATIONS:
        (reference,) = (each["$ref"] for each in answer_of(described, operation)["examples"].values())
        answers[operation] = described["components"]["examples"][reference.rpartition("/")[2]]["value"]
    rows = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in answers.items()]
    ANSWERS.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    _write()
