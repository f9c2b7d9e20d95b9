"""Whatever a stranger writes into a title, a name or a message, it reaches every report as text and as nothing else."""

from __future__ import annotations

import io
import json
import os
from html.parser import HTMLParser
from typing import NamedTuple
from urllib.parse import unquote

from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from checks.text import visible, visible_line
from tooling.console import Console
from tooling.pr.diff import NoHistory
from tooling.pr.event import Request
from tooling.pr.judge import Checklist
from tooling.pr.model import Decision, Evidence, Verdict
from tooling.pr.objects import GitObjects
from tooling.pr.pull import PullRequest
from tooling.pr.reports import github, human, json_document, markdown
from tooling.pr.settings import parse_settings
from tooling.pr.sources import Sources

TEXTS = st.one_of(
    st.text(st.characters(blacklist_categories=[]), max_size=60),
    st.text(alphabet="`|*_<>[]()!#@&\\~\n\r\t\x1b\u202e\u200b%:,=ab0 -.", max_size=60),
    st.sampled_from(
        [
            "<!-- ",
            "</code><script>alert(1)</script>",
            "::error::x\n::set-output name=a::b",
            "https://evil.example/ www.evil.example @octocat #1 octo/cat#2",
            "a\n\n# heading\n- [x] box",
            "[link](javascript:x) ![](x) <b>",
            "| a | b |\n|---|---|",
        ]
    ),
)
GUARDED = example("</code>|`@octocat #1\x1b[31m\u202e\r\n::error::x%0A")


def checklist_with(text: str) -> Checklist:
    # A path is what the system makes of bytes, and any bytes can be one.
    row = Evidence(text, path=os.fsdecode(text.encode("utf-8", "surrogatepass")), line=3)
    failed = Decision(Verdict.FAIL, "title/empty", "the title is empty", (row, Evidence(text)), "write one")
    return Checklist((failed, Decision(Verdict.PASS, "behind/near", "0 commits behind")), unfinished=False)


@given(TEXTS)
@GUARDED
def test_at_a_terminal_nothing_is_obeyed_and_no_line_is_added(text: str) -> None:
    out = io.StringIO()
    console = Console(out, io.StringIO())
    for line, style in human.lines(checklist_with(text), (text,)):
        console.print(line, style)

    written = out.getvalue()
    assert visible(written) == written
    assert len(written.splitlines()) == len(list(human.lines(checklist_with("x"), ("x",))))


@given(TEXTS)
@GUARDED
def test_a_workflow_gets_its_own_commands_alone(text: str) -> None:
    lines = "\n".join(github.lines(checklist_with(text), (text,))).split("\n")
    plain = list(github.lines(checklist_with("x"), ("x",)))

    # An empty path places nothing, so such evidence is told in the message.
    assert [line.partition(" ")[0] for line in lines] == [line.partition(" ")[0] for line in plain]
    assert "\r" not in "".join(lines)
    assert unquote(lines[-2].removeprefix("::notice title=mergeready pr::")) == visible(text)


@given(TEXTS)
@GUARDED
def test_json_is_ascii_and_holds_the_text_whole(text: str) -> None:
    objects = GitObjects("unused")
    pull = PullRequest(
        request=Request(title=text),
        branch=NoHistory("", ""),
        settings=parse_settings({"packages": {"lib": "lib"}}, tuple, lambda _: "", source=""),
        objects=objects,
        sources=Sources(objects),
    )

    written = json_document.render(checklist_with(text), pull, (text,))

    document = json.loads(written.encode("ascii"))
    assert (document["request"]["title"], document["notes"]) == (text, [text])
    assert document["items"][0]["evidence"][1] == {"text": text}


class Page(NamedTuple):
    """What a reader of a page in HTML sees: every element in order, text outside of code, and each piece of code."""

    elements: tuple[str, ...]
    prose: str
    code: tuple[str, ...]


@given(TEXTS)
@GUARDED
def test_on_a_page_it_is_code_that_links_nothing_and_pings_nobody(text: str) -> None:
    page = read_page(markdown.render(checklist_with(text), (text,)))
    plain = read_page(markdown.render(checklist_with("x"), ("x",)))

    assert (page.elements, page.prose) == (plain.elements, plain.prose)
    shown = visible_line(text)[: markdown.LONGEST]
    assert page.code[-1] == shown or len(visible_line(text)) > markdown.LONGEST


def read_page(document: str) -> Page:
    reader = _Reader()
    reader.feed(MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(document))
    reader.close()
    return Page(tuple(reader.elements), "".join(reader.prose), tuple(reader.code))


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.prose: list[str] = []
        self.code: list[str] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(f"{tag} {attrs}" if attrs else tag)
        if tag == "code":
            self._inside = True
            self.code.append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "code"

    def handle_comment(self, data: str) -> None:
        self.elements.append(f"comment {data}")

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.code[-1] += data
        else:
            self.prose.append(data)
