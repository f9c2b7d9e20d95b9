"""Judge a pull request by its checklist, from evidence: the same at a terminal, in a hook and in CI.

Every item ends as pass, fail, warn, manual (a person has to tick it), skip or unknown; unknown never counts as pass.
The commits of the branch are judged as they are at HEAD; nothing of them is imported or run.

Examples:
  mergeready pr                                     this branch, against the trunk of upstream or origin
  mergeready pr --base origin/release --strict      another base; warnings count too
  mergeready pr --title 'Add X' --body draft.md     what you are going to write
  mergeready pr --event "$GITHUB_EVENT_PATH" --format github
"""

from __future__ import annotations

import argparse
import os
from contextlib import closing
from typing import TYPE_CHECKING

from checks import git
from tooling.console import Console
from tooling.errors import Exit, UserError
from tooling.pr.reports import FORMATS

if TYPE_CHECKING:
    from tooling.pr.event import Request
    from tooling.pr.judge import Checklist
    from tooling.pr.pull import PullRequest


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `pr`."""
    parser.add_argument("--root", metavar="DIR", default=".", help="a folder of the checkout (default: this one)")
    parser.add_argument("--base", metavar="REF", default="", help="the branch it is to be merged into")
    parser.add_argument("--strict", action="store_true", help="let warnings and work in progress count as failures")
    words = parser.add_argument_group("what is written on it")
    words.add_argument("--title", metavar="TEXT", help="the title")
    words.add_argument("--body", metavar="FILE", help="a file that holds the description")
    words.add_argument("--event", metavar="FILE", default="", help="a workflow event (default: $GITHUB_EVENT_PATH)")
    report = parser.add_argument_group("report")
    report.add_argument("--format", choices=FORMATS, default="human", help="how to write it (default: human)")


def run(options: argparse.Namespace, console: Console) -> int:
    """Read, judge and report."""
    from tooling.pr.judge import judge
    from tooling.pr.objects import GitObjects
    from tooling.pr.read import read_pull, uncommitted

    repository = git.find_repository(os.path.abspath(options.root))
    with closing(GitObjects(repository.root)) as objects, uncommitted(repository.root) as count:
        request = _request(options, repository)
        pull = read_pull(repository, request, objects, base=options.base)
        checklist = judge(pull)
        notes = _notes(count()) if request.event == "local" else ()
    _report(options.format, checklist, pull, notes, console)
    return Exit.DONE if checklist.passes(strict=options.strict) else Exit.FINDINGS


def _request(options: argparse.Namespace, repository: git.Repository) -> Request:
    """What is written on the pull request: from the event, or from git alone, with the options put over it."""
    from tooling.pr.event import parse_event, read_payload
    from tooling.pr.read import local_request

    path = options.event or os.environ.get("GITHUB_EVENT_PATH", "")
    if path:
        request = parse_event(read_payload(path), os.environ.get("GITHUB_EVENT_NAME", ""))
    else:
        request = local_request(repository)
    if options.title is not None:
        request = request._replace(title=options.title, source="--title", absent="")
    if options.body is not None:
        request = request._replace(body=_body(options.body), absent="")
    return request


def _body(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError as error:
        raise UserError(f"cannot read the description in {path}: {error.strerror}") from error


def _notes(count: int) -> tuple[str, ...]:
    if not count:
        return ()
    return (f"{count} files have changes that are not committed; they are not judged",)


def _report(style: str, checklist: Checklist, pull: PullRequest, notes: tuple[str, ...], console: Console) -> None:
    if style == "human":
        from tooling.pr.reports import human

        for text, look in human.lines(checklist, notes):
            console.print(text, look)
    elif style == "json":
        from tooling.pr.reports import json_document

        console.data(json_document.render(checklist, pull, notes))
    elif style == "markdown":
        from tooling.pr.reports import markdown

        console.data(markdown.render(checklist, notes))
    else:
        from tooling.pr.reports import github

        console.data("\n".join(github.lines(checklist, notes)))
