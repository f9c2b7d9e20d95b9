"""Tell GitHub how it went: a page for the run, outputs for later steps, and one comment where that was asked for.

Source: docs.github.com, "Workflow commands for GitHub Actions", on GITHUB_STEP_SUMMARY and GITHUB_OUTPUT.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping

from tooling.errors import Exit, UserError
from tooling.pr.event import Request
from tooling.pr.github import Access, put_comment
from tooling.pr.judge import Checklist
from tooling.pr.reports import markdown
from tooling.pr.reports.human import summary


def write_step_files(environment: Mapping[str, str], checklist: Checklist, notes: tuple[str, ...]) -> None:
    """Append the page to the job summary, and set the outputs `ready`, `summary` and `verdicts`, where a runner asks.

    `verdicts` is a JSON object of verdicts by code. UserError where the runner's files cannot be written.
    """
    if path := environment.get("GITHUB_STEP_SUMMARY"):
        _append(path, markdown.render(checklist, notes))
    if path := environment.get("GITHUB_OUTPUT"):
        verdicts = json.dumps({each.code: each.verdict.value for each in checklist.decisions})
        ready = "true" if checklist.ready else "false"
        for name, value in (("ready", ready), ("summary", summary(checklist)), ("verdicts", verdicts)):
            # A delimiter that nobody can foresee, so that no value can end itself and begin another.
            end = secrets.token_hex(16)
            _append(path, f"{name}<<{end}\n{value}\n{end}\n")


def comment(access: Access | None, request: Request, checklist: Checklist, notes: tuple[str, ...]) -> str:
    """Put the page under the pull request; return what there is to say about that."""
    if not request.number or request.absent:
        return "there is no pull request to comment on"
    if request.from_fork and request.event == "pull_request":
        return "the token of a pull request from a fork may only read, so there is no comment: see the job summary"
    if access is None:
        return "there is no token, so there is no comment: see the job summary"
    try:
        return f"the comment is {put_comment(access, request.number, markdown.render(checklist, notes))}"
    except UserError as error:
        return f"there is no comment, see the job summary: {error}"


def _append(path: str, text: str) -> None:
    try:
        with open(path, "a", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}", exit=Exit.ENVIRONMENT) from error
