"""Write a checklist, or the list of what is judged, in the format asked for."""

from __future__ import annotations

import json

from tooling.console import Console
from tooling.pr.checklist import ITEMS
from tooling.pr.judge import Checklist
from tooling.pr.pull import PullRequest
from tooling.pr.reports import human


def write_report(
    style: str, checklist: Checklist, pull: PullRequest, notes: tuple[str, ...], console: Console, *, output: str | None
) -> None:
    """Write it in one of `tooling.pr.reports.FORMATS`, to the terminal or to a file; UserError where that fails."""
    if output:
        from tooling.reporting import write_file

        write_file(_text(style, checklist, pull, notes), output)
        console.print(f"{human.summary(checklist)}; written to {output}")
    elif style == "human":
        for text, look in human.lines(checklist, notes):
            console.print(text, look)
    else:
        console.data(_text(style, checklist, pull, notes))


def write_items(style: str, output: str | None, console: Console) -> None:
    """Write what is judged: names and sentences, or with `markdown` the page of every item."""
    if style == "markdown":
        from tooling.pr.reports import pages

        text = pages.all_items()
    elif style == "json":
        text = json.dumps({"schema": 1, "items": ITEMS}, indent=2)
    else:
        text = "\n".join(f"{name:<18}{sentence}" for name, sentence in ITEMS.items())
    if output:
        from tooling.reporting import write_file

        write_file(text, output)
    else:
        console.data(text)


def _text(style: str, checklist: Checklist, pull: PullRequest, notes: tuple[str, ...]) -> str:
    if style == "json":
        from tooling.pr.reports import json_document

        return json_document.render(checklist, pull, notes)
    if style == "markdown":
        from tooling.pr.reports import markdown

        return markdown.render(checklist, notes)
    if style == "github":
        from tooling.pr.reports import github

        return "\n".join(github.lines(checklist, notes))
    return "\n".join(text for text, _ in human.lines(checklist, notes))
