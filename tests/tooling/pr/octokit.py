"""Fetch example payloads of GitHub's events, and write down those that the tests read.

`python -m tests.tooling.pr.octokit`, at the root of the repository, writes `tests/tooling/pr/data/github_events` anew.
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

VERSION = "7.6.1"
INTEGRITY = {
    "webhooks-examples": "De6U3XB6O3DtCa7bKgCMzTHdeopqqZ6SNivMYJnK65ierKL1AnNIA0tkRYCRS7lwGT792d+Ps1WbfHlso6MynQ==",
    "webhooks-schemas": "qW0Bwtb76r4m2WzVhKDyfEeEnt1GEQoRjkCqmq2ZeB0nNVDJ+Z2LBDS9FDPyduuMXf/ZTWiCJp9PFFHgRfBe3A==",
}
"""SHA-512 of each package of that version, in base64, as the registry states it."""

DATA = Path(__file__).parent / "data" / "github_events"
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


class Example(NamedTuple):
    """One payload and where it is from."""

    server: str
    event: str
    payload: dict[str, Any]


def kept_examples() -> Iterator[Example]:
    """The examples that stand beside the tests."""
    for path in sorted(DATA.glob("*.jsonl")):
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
    command = ["npm", "pack", "--silent", f"@octokit/{name}@{VERSION}"]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, encoding="utf-8")
    archive = folder / done.stdout.strip()
    found = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode("ascii")
    assert found == INTEGRITY[name], f"{archive.name} has the hash {found}"
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


def _write() -> None:
    with tempfile.TemporaryDirectory() as folder:
        examples = list(all_examples(download("webhooks-examples", Path(folder))))
    for (server, event), wanted in KEPT.items():
        prefix = "" if server == "api.github.com" else f"{server}."
        own = [example for example in examples if example[:2] == (server, event)]
        rows = [json.dumps(_chosen(own, each), separators=(",", ":")) for each in wanted]
        (DATA / f"{prefix}{event}.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    _write()
