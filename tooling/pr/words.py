"""Find out what is written on a pull request: in an event, a draft, at `gh`, or in the options, which win over them."""

from __future__ import annotations

import argparse
import os

from checks import git
from tooling.errors import Exit, UserError
from tooling.pr.draft import draft_path, read_draft
from tooling.pr.event import Request, parse_event, parse_pull
from tooling.pr.read import local_request


def find_words(options: argparse.Namespace, repository: git.Repository) -> Request:
    """The request that the options `event`, `from_gh`, `title` and `body` mean.

    UserError where a file cannot be read or an event is broken; with `from_gh`, also where `gh` knows of none.
    """
    path = options.event or os.environ.get("GITHUB_EVENT_PATH", "")
    if path:
        from tooling.pr.payload import read_payload

        request = parse_event(read_payload(path), os.environ.get("GITHUB_EVENT_NAME", ""))
    elif options.from_gh:
        request = _from_gh(local_request(repository))
    else:
        request = _from_draft(local_request(repository), repository)
    if options.title is not None:
        request = request._replace(title=options.title, source="--title", absent="")
    if options.body is not None:
        request = request._replace(body=_read(options.body), absent="")
    return request


def _from_draft(request: Request, repository: git.Repository) -> Request:
    draft = read_draft(draft_path(repository, request.head_ref)) if request.head_ref else None
    if draft is None:
        return request
    return request._replace(title=draft.title, body=draft.body, source="the draft")


_FIELDS = "number,title,body,isDraft,labels,headRefName,baseRefName,closingIssuesReferences"


def _from_gh(request: Request) -> Request:
    """What `gh` knows of the pull request of this branch; the commits stay those that are here."""
    import json

    from tooling.process import run

    done = run(["gh", "pr", "view", f"--json={_FIELDS}"], env=os.environ)
    if done.status:
        said = done.err.decode("utf-8", "replace").strip()
        raise UserError(f"gh knows no pull request of this branch: {said}", exit=Exit.ENVIRONMENT)
    found = json.loads(done.out)
    told = parse_pull({**found, "draft": found.get("isDraft")})
    return told._replace(
        head_ref=request.head_ref,
        base_ref=str(found.get("baseRefName") or ""),
        closes=tuple(int(issue["number"]) for issue in found.get("closingIssuesReferences") or ()),
        source="gh",
    )


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError as error:
        raise UserError(f"cannot read the description in {path}: {error.strerror}") from error
