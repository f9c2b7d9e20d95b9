"""Write a checklist in the format asked for."""

from __future__ import annotations

from tooling.console import Console
from tooling.pr.judge import Checklist
from tooling.pr.pull import PullRequest


def write_report(style: str, checklist: Checklist, pull: PullRequest, notes: tuple[str, ...], console: Console) -> None:
    """Write it to the terminal, in one of `tooling.pr.reports.FORMATS`."""
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
