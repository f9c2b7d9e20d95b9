"""References in messages: every form of the specification, what must be left alone, and messages made of both."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooling.git.references import Style, find, lines, strip

SHA = b"58eb52c0aa11223344556677889900aabbccddee"
FORMS: list[tuple[bytes, list[tuple[str, bytes]], bytes]] = [
    (b"Fix thing (#123)", [("number", b"(#123)")], b"Fix thing"),
    (b"[#13] Fix", [("number", b"[#13]")], b"Fix"),
    (b"see _#14_ there", [("number", b"_#14_")], b"see there"),
    (b"it was #15's fault", [("number", b"#15")], b"it was's fault"),
    (b"x\xff #3\xfe y", [("number", b"#3")], b"x\xff \xfe y"),
    (b"one\r\ntwo #4\r\n", [("number", b"#4")], b"one\r\ntwo\r\n"),
    (b"port C#7 and issue#12", [("glued", b"C#7"), ("glued", b"issue#12")], b"port C7 and issue12"),
    (b"paint it #123456", [("colour", b"#123456")], b"paint it 123456"),
    (b"as in GH-9 or gh-123", [("GH", b"GH-9"), ("GH", b"gh-123")], b"as in or"),
    (b"octo/cat#7", [("repository", b"octo/cat#7")], b""),
    (
        b"see h2oai/h2o-3#12, vercel/next.js#5",
        [("repository", b"h2oai/h2o-3#12"), ("repository", b"vercel/next.js#5")],
        b"see",
    ),
    (b"like user#1 does", [("repository", b"user#1")], b"like does"),
    (b"see https://github.com/a/b/issues/3.", [("url", b"https://github.com/a/b/issues/3")], b"see."),
    (b"[here](https://github.com/a/b/pull/4/files)!", [("link", b"[here](https://github.com/a/b/pull/4/files)")], b"!"),
    (
        b"in <https://github.com/a/b/pull/5#issuecomment-1>",
        [("url", b"<https://github.com/a/b/pull/5#issuecomment-1>")],
        b"in",
    ),
    (b"in www.github.com/a/b/compare/x...y", [("url", b"www.github.com/a/b/compare/x...y")], b"in"),
    (b"github.com/orgs/community/discussions/2", [("url", b"github.com/orgs/community/discussions/2")], b""),
    (
        b"thanks @octocat and @org/team",
        [("mention", b"@octocat"), ("mention", b"@org/team")],
        b"thanks octocat and org/team",
    ),
    (b"use `@property`", [("mention", b"@property")], b"use `property`"),
    (b"Faster. Fixes #12, closes: GH-3", [("closing", b"Fixes #12"), ("closing", b"closes: GH-3")], b"Faster."),
    (b"reSOLVED octo/cat#5 today", [("closing", b"reSOLVED octo/cat#5")], b"today"),
    (b"since abc1234..def5678", [("commit", b"abc1234"), ("commit", b"def5678")], b"since"),
    (b"revert " + SHA, [("commit", SHA)], b"revert"),
    (b"as user@abc1234 and o/r@abc1234f", [("commit", b"user@abc1234"), ("commit", b"o/r@abc1234f")], b"as"),
    (
        b"A\n\n(cherry picked from commit " + SHA + b")",
        [("cherry-pick", b"(cherry picked from commit " + SHA + b")")],
        b"A\n\n",
    ),
    (b"A\n\nCo-authored-by: x <x@y.z>\nB", [("trailer", b"Co-authored-by: x <x@y.z>")], b"A\n\nB"),
    (b"Merge pull request #7 from a/b", [("merge", b"Merge pull request #7 from a/b")], b""),
]
HARMLESS = [
    *(b"#fff", b"#12a", b"&#39;", "\uff03123".encode(), "#\uff11\uff12\uff13".encode(), "#\u200b123".encode()),
    *(b"GHC-1", b"ABC-GH-1x", b"a/b/c#L10", b"https://redirect.github.com/a/b/pull/1", b"https://github.com/a/b"),
    *(b"notgithub.com/a/b/pull/3", b"https://example.org/a/b/issues/3", b"user@example.com", "@\u200bbob".encode()),
    *(b"Fixes the thing", b"deadbeef", b"defaced", b"1234567", b"20240101", b"0x1234567a", b"1.2.3a4b5c6d"),
    *(b"123e4567-e89b-12d3-a456-426614174000", b"transformers 4.26", b"50%", b"a @ b"),
]


@pytest.mark.parametrize(("message", "found", "left"), FORMS, ids=[repr(form[0])[:40] for form in FORMS])
def test_every_form_is_found_and_taken_out(message: bytes, found: list[tuple[str, bytes]], left: bytes) -> None:
    assert ([(reference.kind, reference.text) for reference in find(message)], strip(message)) == (found, left)


@pytest.mark.parametrize("message", HARMLESS)
def test_what_refers_to_nothing_is_left_alone(message: bytes) -> None:
    assert (find(message), strip(message)) == ((), message)


def test_advisories_only_warn_unless_asked_to_be_strict() -> None:
    message = b"Fix CVE-2024-12345 and GHSA-abcd-1234-efgh"

    assert [(found.kind, found.certain) for found in find(message)] == [("advisory", False)] * 2
    assert (strip(message), strip(message, Style(strict=True))) == (message, b"Fix")


def test_a_host_and_trackers_of_ones_own_count() -> None:
    style = Style(host=b"git.example.org", autolinks=(b"JIRA-",))
    message = b"JIRA-12: see https://git.example.org/a/b/pull/3, not https://github.com/a/b/pull/3"

    assert [found.kind for found in find(message, style)] == ["autolink", "url"]


def test_a_sign_off_that_is_wanted_stays() -> None:
    message = b"A\n\nSigned-off-by: Ada <ada@example.org>\nSigned-off-by: Bob <bob@example.org>\n"

    left = strip(message, Style(signoff=b"Signed-off-by: Ada <ada@example.org>"))

    assert left == b"A\n\nSigned-off-by: Ada <ada@example.org>\n"


def test_a_word_of_digits_is_a_commit_where_the_repository_says_so() -> None:
    assert [
        found.text for found in find(b"see 1234567 and deadbeef", Style(resolves=lambda word: word == b"1234567"))
    ] == [b"1234567"]


def test_lines_and_columns_count_from_one() -> None:
    message = b"A\n\nsee #1\n#2"

    assert [(line, column) for line, column, _ in lines(message, find(message))] == [(3, 5), (4, 1)]


pieces = st.sampled_from(
    [form[0] for form in FORMS] + HARMLESS + [b"and", b",", b"(", b")", b"\n", b"- ", b"\r\n", b"[", b"<"]
)
messages = st.lists(st.one_of(pieces, st.binary(max_size=8)), max_size=12)
separators = st.sampled_from([b"", b" ", b"\n", b", ", b"("])


@given(messages, separators)
def test_stripping_leaves_no_reference_and_changes_nothing_the_second_time(
    parts: list[bytes], separator: bytes
) -> None:
    message = separator.join(parts).replace(b"\0", b"")

    once = strip(message)

    assert [found for found in find(once) if found.kind != "advisory"] == []
    assert strip(once) == once


@given(st.lists(st.sampled_from(HARMLESS), max_size=8), st.sampled_from([b" ", b"\n", b" - "]))
def test_harmless_words_are_harmless_together(words: list[bytes], separator: bytes) -> None:
    message = separator.join(words)

    assert strip(message) == message


@given(st.binary(max_size=200))
def test_spans_are_in_order_apart_and_quote_the_message(message: bytes) -> None:
    found = find(message)

    assert all(message[reference.start : reference.end] == reference.text for reference in found)
    assert all(left.end <= right.start for left, right in pairwise(found))
