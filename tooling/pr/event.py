"""What GitHub says of a pull request in the payload of a workflow event, whatever is missing from it.

Source: docs.github.com, "Events that trigger workflows" and "Webhook events and payloads". A payload is written by
strangers: nothing of it is executed, and of its commits only full object ids are used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from tooling.errors import Exit, UserError


class Request(NamedTuple):
    """What is written on a pull request, and where its commits are; the same value from every source.

    `title`, `body` and `draft` are None where nobody has said. `head` and `base` are full commit ids or empty,
    `head_ref` and `base_ref` names of branches. `source` says where the words come from. `absent` says why there are
    no words to judge (a merge group has none), empty where there are or could be. `closes` are numbers of issues that
    GitHub itself has linked, None where it was not asked.
    """

    event: str = "local"
    number: int = 0
    title: str | None = None
    body: str | None = None
    draft: bool | None = None
    labels: tuple[str, ...] = ()
    author: str = ""
    repository: str = ""
    head: str = ""
    head_ref: str = ""
    head_repository: str = ""
    base: str = ""
    base_ref: str = ""
    default_branch: str = ""
    source: str = ""
    absent: str = ""
    closes: tuple[int, ...] | None = None

    @property
    def from_fork(self) -> bool:
        """Whether the head is in another repository, or in one that is gone."""
        return bool(self.event != "local" and self.head_ref and self.head_repository != self.repository)


def parse_event(payload: Mapping[str, Any], name: str = "") -> Request:
    """The request that a payload tells of; `name` is the event's, told from the payload's keys where it is empty.

    An event without a pull request gives a request that says so in `absent`. UserError (refused) for a branch name
    that git would take for an option or that holds control characters.
    """
    name = name or _name_of(payload)
    request = _PARSERS.get(name, _other)(payload)._replace(event=name)
    repository = _table(payload, "repository")
    request = request._replace(
        repository=request.repository or _text(repository, "full_name"),
        default_branch=_text(repository, "default_branch"),
        source=f"the {name} event",
    )
    for ref in (request.head_ref, request.base_ref):
        check_branch(ref)
    return request


def check_branch(name: str) -> None:
    """Refuse the name of a branch that is no honest name; UserError with exit code 3."""
    if name.startswith("-") or re.search("[\x00-\x20\x7f~^:?*\\[\\\\]", name):
        raise UserError(
            f"the branch name {name!r} could be taken for an option or for something else than a name",
            hint="rename the branch; nothing was run",
            exit=Exit.REFUSED,
        )


def parse_pull(pull: Mapping[str, Any]) -> Request:
    """The request in a pull request object, as payloads and the REST API write it; whatever is null is left empty."""
    head, base = _table(pull, "head"), _table(pull, "base")
    return Request(
        number=_number(pull, "number"),
        title=_text(pull, "title"),
        body=_text(pull, "body"),
        draft=pull.get("draft") is True,
        labels=tuple(_text(label, "name") for label in pull.get("labels") or () if isinstance(label, dict)),
        author=_text(_table(pull, "user"), "login"),
        repository=_text(_table(base, "repo"), "full_name"),
        head=_commit(head, "sha"),
        head_ref=_text(head, "ref"),
        head_repository=_text(_table(head, "repo"), "full_name"),
        base=_commit(base, "sha"),
        base_ref=_text(base, "ref"),
    )


def _pull_request(payload: Mapping[str, Any]) -> Request:
    if not _table(payload, "pull_request"):
        return Request(absent="the payload holds no pull request")
    return parse_pull(_table(payload, "pull_request"))


def _merge_group(payload: Mapping[str, Any]) -> Request:
    group = _table(payload, "merge_group")
    queued = re.search(r"/pr-([0-9]+)-[0-9a-f]+$", _text(group, "head_ref"))
    return Request(
        number=int(queued[1]) if queued else 0,
        head=_commit(group, "head_sha"),
        base=_commit(group, "base_sha"),
        base_ref=_text(group, "base_ref").removeprefix("refs/heads/"),
        absent="a merge group has no title and no description",
    )


def _issue_comment(payload: Mapping[str, Any]) -> Request:
    issue = _table(payload, "issue")
    if not _table(issue, "pull_request"):
        return Request(absent="the comment is on an issue, not on a pull request")
    return parse_pull({**issue, "draft": issue.get("draft") is True})


def _workflow_run(payload: Mapping[str, Any]) -> Request:
    run = _table(payload, "workflow_run")
    # Empty for pull requests from forks; the API tells then.
    pulls = [pull for pull in run.get("pull_requests") or () if isinstance(pull, dict)]
    request = parse_pull(pulls[0]) if pulls else Request()
    return request._replace(
        title=None,
        body=None,
        draft=None,
        head=_commit(run, "head_sha"),
        head_ref=_text(run, "head_branch"),
        head_repository=_text(_table(run, "head_repository"), "full_name"),
    )


def _push(payload: Mapping[str, Any]) -> Request:
    ref = _text(payload, "ref")
    head_ref = ref.removeprefix("refs/heads/") if ref.startswith("refs/heads/") else ""
    return Request(head=_commit(payload, "after"), head_ref=head_ref, absent="a push has no title and no description")


def _other(_: Mapping[str, Any]) -> Request:
    return Request(absent="this event is about no pull request")


_PARSERS = {
    "pull_request": _pull_request,
    "pull_request_target": _pull_request,
    "pull_request_review": _pull_request,
    "pull_request_review_comment": _pull_request,
    "merge_group": _merge_group,
    "issue_comment": _issue_comment,
    "workflow_run": _workflow_run,
    "push": _push,
}


def _name_of(payload: Mapping[str, Any]) -> str:
    if "comment" in payload and "issue" in payload:
        return "issue_comment"
    for key in ("pull_request", "merge_group", "workflow_run"):
        if key in payload:
            return key
    return "push" if "pusher" in payload and "after" in payload else "other"


def _table(holder: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = holder.get(key)
    return found if isinstance(found, dict) else {}


def _text(holder: Mapping[str, Any], key: str) -> str:
    found = holder.get(key)
    return found if isinstance(found, str) else ""


def _number(holder: Mapping[str, Any], key: str) -> int:
    found = holder.get(key)
    return found if isinstance(found, int) and found > 0 else 0


def _commit(holder: Mapping[str, Any], key: str) -> str:
    found = _text(holder, key)
    return found if re.fullmatch("[0-9a-f]{40}|[0-9a-f]{64}", found) and found.strip("0") else ""
