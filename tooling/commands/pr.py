"""Judge a pull request by its checklist, from evidence: the same at a terminal, in a hook and in CI.

Every item ends as pass, fail, warn, manual (a person has to tick it), skip or unknown; unknown never counts as pass.
The commits of the branch are judged as they are at HEAD; nothing of them is imported or run.

Examples:
  mergeready pr                                     this branch, against the trunk of upstream or origin
  mergeready pr --base origin/release --strict      another base; warnings count too
  mergeready pr --title 'Add X' --body draft.md     what you are going to write
  mergeready pr --write-body                        fill the template into a draft, then judge that
  mergeready pr open                                hand the draft to gh
  mergeready pr --format github                     in a workflow: the event is found by itself
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
    from collections.abc import Callable

    from tooling.pr.draft import Draft
    from tooling.pr.event import Request
    from tooling.pr.judge import Checklist
    from tooling.pr.pull import PullRequest


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `pr`."""
    parser.add_argument("action", choices=("check", "open"), nargs="?", default="check", help="judge it, or open it")
    parser.add_argument("--root", metavar="DIR", default=".", help="a folder of the checkout (default: this one)")
    parser.add_argument("--base", metavar="REF", default="", help="the branch it is to be merged into")
    parser.add_argument("--strict", action="store_true", help="let warnings and work in progress count as failures")
    words = parser.add_argument_group("what is written on it")
    words.add_argument("--title", metavar="TEXT", help="the title")
    words.add_argument("--body", metavar="FILE", help="a file that holds the description")
    words.add_argument("--event", metavar="FILE", default="", help="a workflow event (default: $GITHUB_EVENT_PATH)")
    words.add_argument("--from-gh", action="store_true", help="ask gh for the pull request of this branch")
    words.add_argument("--write-body", action="store_true", help="write a draft: the template, filled in")
    report = parser.add_argument_group("report")
    report.add_argument("--format", choices=FORMATS, default="human", help="how to write it (default: human)")


def run(options: argparse.Namespace, console: Console) -> int:
    """Read, judge, and report or act on it."""
    from tooling.pr.judge import judge
    from tooling.pr.objects import GitObjects
    from tooling.pr.read import read_pull, uncommitted
    from tooling.pr.reporting import write_report
    from tooling.pr.words import find_words

    repository = git.find_repository(os.path.abspath(options.root))
    with closing(GitObjects(repository.root)) as objects, uncommitted(repository.root) as count:
        request = find_words(options, repository)
        pull = read_pull(repository, request, objects, base=options.base)
        checklist = judge(pull)
        if options.write_body:
            return _write_body(repository, pull, checklist, console)
        write_report(options.format, checklist, pull, _notes(request, count), console)
        if not checklist.passes(strict=options.strict):
            return Exit.FINDINGS
        if options.action == "open":
            return _open(repository, pull, checklist, options.base, console)
    return Exit.DONE


def _notes(request: Request, count: Callable[[], int]) -> tuple[str, ...]:
    """What the checklist does not say; files that are not committed matter at a terminal alone."""
    if request.event != "local" or not count():
        return ()
    return (f"{count()} files have changes that are not committed; they are not judged",)


def _write_body(repository: git.Repository, pull: PullRequest, checklist: Checklist, console: Console) -> int:
    from tooling.pr.draft import write_draft

    path = _draft_path(repository, pull)
    write_draft(path, _filled(pull, checklist))
    console.print(path)
    console.note("edit it, look at it with: mergeready pr, then open it with: mergeready pr open")
    return Exit.DONE


def _open(repository: git.Repository, pull: PullRequest, checklist: Checklist, base: str, console: Console) -> int:
    from tooling.pr.draft import Draft, read_draft
    from tooling.pr.opening import find_target, open_argv, open_pull

    draft = read_draft(_draft_path(repository, pull)) or _filled(pull, checklist)
    request = pull.request
    draft = Draft(request.title or draft.title, draft.body if request.body is None else request.body)
    if not draft.title:
        raise UserError("it has no title", hint="give it with --title, or write it into the draft: --write-body")
    target = find_target(repository, request.head_ref, base=base)
    console.print(open_pull(open_argv(target, draft, unfinished=checklist.unfinished), draft.body))
    return Exit.DONE


def _draft_path(repository: git.Repository, pull: PullRequest) -> str:
    from tooling.pr.draft import draft_path

    if not pull.request.head_ref:
        hint = "git switch --create NAME"
        raise UserError("HEAD is on no branch, so there is nothing to open", hint=hint, exit=Exit.REFUSED)
    return draft_path(repository, pull.request.head_ref)


def _filled(pull: PullRequest, checklist: Checklist) -> Draft:
    """A draft from the repository's template, as it is at the base."""
    from tooling.pr.body import fill, find_template
    from tooling.pr.diff import NoHistory
    from tooling.pr.draft import Draft

    if isinstance(pull.branch, NoHistory):
        raise UserError(pull.branch.why, hint=pull.branch.mend, exit=Exit.REFUSED)
    path = find_template(pull.paths)
    content = pull.objects.read(f"{pull.changed.base_tip}:{path}") if path else None
    template = (content or b"").decode("utf-8", "replace")
    title = pull.request.title or (pull.changed.commits[0].subject if pull.changed.commits else "")
    return Draft(title, fill(template, pull, checklist))
