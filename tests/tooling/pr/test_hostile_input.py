"""Whatever a stranger sends or writes, reading it ends with a value or with one honest error."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tooling.errors import UserError
from tooling.pr.checklist.linked_issue import references
from tooling.pr.checklist.work_in_progress import says_unfinished
from tooling.pr.contents import is_lfs_pointer, kind_of
from tooling.pr.event import Request, parse_event
from tooling.pr.markdown import boxes, prose
from tooling.pr.symbols import symbols

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)
KEYS = ("number", "title", "body", "draft", "labels", "user", "head", "base", "sha", "ref", "repo", "full_name")
PULL = st.dictionaries(
    st.sampled_from(KEYS), JSON | st.dictionaries(st.sampled_from(KEYS), JSON, max_size=4), max_size=6
)
EVENTS = ("pull_request", "merge_group", "issue_comment", "workflow_run", "push", "schedule", "")
PAYLOADS = st.dictionaries(
    st.sampled_from(("pull_request", "merge_group", "issue", "comment", "workflow_run", "repository", "ref", "after")),
    PULL | JSON,
    max_size=4,
)
MARKDOWN = st.text(alphabet="`<!-->[]( )xX#*_~|\n\r\t -1>@/.fixesnot&\\", max_size=200) | st.text(max_size=100)


@given(PAYLOADS, st.sampled_from(EVENTS))
def test_any_payload_is_a_request_or_a_refusal(payload: dict[str, Any], name: str) -> None:
    found = request_or_exit_code(payload, name)

    if isinstance(found, Request):
        assert {type(found.title), type(found.body)} <= {str, type(None)}
        assert all(set(end) <= set("0123456789abcdef") for end in (found.head, found.base))
    else:
        assert found == 3


def request_or_exit_code(payload: dict[str, Any], name: str) -> Request | int:
    try:
        return parse_event(payload, name)
    except UserError as refusal:
        return refusal.exit


@given(MARKDOWN)
def test_any_description_is_read(body: str) -> None:
    assert isinstance(prose(body), str)
    assert all("\n" not in box.text and 1 <= box.line <= body.count("\n") + body.count("\r") + 1 for box in boxes(body))
    assert all("#" in ref or "-" in ref or "/" in ref for ref in references(body).closed)
    assert says_unfinished(body) in (True, False)


@given(st.binary(max_size=300))
def test_any_content_has_a_kind_and_text_has_none(content: bytes) -> None:
    kind = kind_of(content)

    assert isinstance(is_lfs_pointer(content), bool)
    if not kind:
        assert b"\0" not in content
        content.decode("utf-8")


@given(st.text(alphabet="defclas @:()\n\t\\'\"#,xy=.[]{}", max_size=150))
def test_any_source_has_symbols_in_the_order_of_their_lines(text: str) -> None:
    found = symbols(text)

    assert [each.line for each in found] == sorted(each.line for each in found)
    assert all(each.own in text or each.own != each.text for each in found)


def test_long_and_odd_descriptions_end() -> None:
    for odd in ("-" * 60_000, "<!--" * 15_000, "not " * 15_000, "[" * 60_000, "> " * 30_000, "fixes " + " " * 60_000):
        assert references(f"{odd} #1").closed in ((), ("#1",))
