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
  mergeready pr items                               what is judged
"""

from __future__ import annotations

import argparse
import os
from contextlib import closing
from typing import TYPE_CHECKING

from checks import git
from tooling.console import Console
from tooling.errors import Exit
from tooling.pr.reports import FORMATS

if TYPE_CHECKING:
    from tooling.pr.event import Request
    from tooling.pr.judge import Checklist
    from tooling.pr.objects import GitObjects
    from tooling.pr.online import Online
    from tooling.pr.pull import PullRequest


_ACTIONS = "judge it (default), judge and open it, or list what is judged"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `pr`."""
    parser.add_argument("action", choices=("check", "open", "items"), nargs="?", default="check", help=_ACTIONS)
    parser.add_argument("--root", metavar="DIR", default=".", help="a folder of the checkout (default: this one)")
    parser.add_argument("--base", metavar="REF", default="", help="the branch it is to be merged into")
    parser.add_argument("--fetch", action="store_true", help="fetch commits that are missing; nothing is checked out")
    parser.add_argument("--strict", action="store_true", help="let warnings and work in progress count as failures")
    words = parser.add_argument_group("what is written on it")
    words.add_argument("--title", metavar="TEXT", help="the title")
    words.add_argument("--body", metavar="FILE", help="a file that holds the description")
    words.add_argument("--event", metavar="FILE", default="", help="a workflow event (default: $GITHUB_EVENT_PATH)")
    words.add_argument("--from-gh", action="store_true", help="ask gh for the pull request of this branch")
    words.add_argument("--write-body", action="store_true", help="write a draft: the template, filled in")
    report = parser.add_argument_group("report")
    report.add_argument("--format", choices=FORMATS, default="human", help="how to write it (default: human)")
    report.add_argument("--json", dest="format", action="store_const", const="json", help="the same as --format json")
    report.add_argument("--output", metavar="FILE", help="write the report there, and only the summary to the terminal")
    report.add_argument("--comment", action="store_true", help="in a workflow: keep one comment up to date")


def run(options: argparse.Namespace, console: Console) -> int:
    """Read, judge, and report or act on it."""
    if options.action == "items":
        return _list_items(options, console)
    from tooling.pr.judge import judge
    from tooling.pr.objects import GitObjects
    from tooling.pr.read import uncommitted
    from tooling.pr.reporting import write_report
    from tooling.pr.words import find_words

    repository = git.find_repository(os.path.abspath(options.root))
    with closing(GitObjects(repository.root)) as objects, uncommitted(repository.root) as count:
        request = find_words(options, repository)
        online = _ask_github(request)
        pull = _read(repository, online, objects, options)
        checklist = judge(pull)
        if options.write_body:
            return _write_body(repository, pull, checklist, console)
        notes = (*online.notes, *(_uncommitted(count()) if request.event == "local" else ()))
        write_report(options.format, checklist, pull, notes, console, output=options.output)
        if request.event != "local":
            _publish(online, checklist, notes, console, comment=options.comment)
        if not checklist.passes(strict=options.strict):
            return Exit.FINDINGS
        if options.action == "open":
            from tooling.pr.drafting import open_draft

            console.print(open_draft(repository, pull, checklist, base=options.base))
    return Exit.DONE


def _list_items(options: argparse.Namespace, console: Console) -> int:
    from tooling.pr.reporting import write_items

    write_items(options.format, options.output, console)
    return Exit.DONE


def _ask_github(request: Request) -> Online:
    from tooling.pr.online import ask_github

    return ask_github(os.environ, request)


def _read(repository: git.Repository, online: Online, objects: GitObjects, options: argparse.Namespace) -> PullRequest:
    """The pull request; with `--fetch`, from a clone that is deepened until it holds the whole branch."""
    from tooling.pr.diff import Branch
    from tooling.pr.read import read_pull

    pull = read_pull(repository, online.request, objects, base=options.base)
    if options.fetch and not isinstance(pull.branch, Branch):
        from tooling.pr.fetch import deepen

        for _ in deepen(repository, online.request):
            pull = read_pull(repository, online.request, objects, base=options.base)
            if isinstance(pull.branch, Branch):
                break
    return pull._replace(checks=online.checks)


def _publish(online: Online, checklist: Checklist, notes: tuple[str, ...], console: Console, *, comment: bool) -> None:
    from tooling.pr import publish

    if comment:
        said = publish.comment(online.access, online.request, checklist, notes)
        console.note(said)
        notes = (*notes, said)
    publish.write_step_files(os.environ, checklist, notes)


def _uncommitted(count: int) -> tuple[str, ...]:
    return (f"files with changes that are not committed, and not judged: {count}",) if count else ()


def _write_body(repository: git.Repository, pull: PullRequest, checklist: Checklist, console: Console) -> int:
    from tooling.pr.drafting import write_body

    console.print(write_body(repository, pull, checklist))
    console.note("edit it, look at it with: mergeready pr, then open it with: mergeready pr open")
    return Exit.DONE
