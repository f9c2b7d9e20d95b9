"""What was accepted stays accepted while it stays what it was."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.baseline import Acceptance, acceptance, apply, parse, render
from checks.errors import CheckError
from checks.model import Finding

FINDING = Finding("a.py", 3, "copied-code/body", "the body differs from x.y", accepted="-1\n+2\n")
ACCEPTED, KEPT = (0, 1, 0), (1, 0, 1)
TEXTS = st.text(st.characters(codec=None), max_size=8)
ROWS = st.lists(st.builds(Acceptance, TEXTS, TEXTS, TEXTS, TEXTS))


@given(ROWS)
def test_what_is_written_is_read_again(rows: list[Acceptance]) -> None:
    assert parse(render(rows), "f") == tuple(sorted(set(rows)))


@given(ROWS, st.randoms(use_true_random=False))
def test_the_order_in_which_findings_are_accepted_leaves_no_trace(rows: list[Acceptance], random: object) -> None:
    assert render(reversed(rows)) == render(rows)


def test_a_baseline_is_one_acceptance_a_line_in_plain_characters() -> None:
    rows = [acceptance(FINDING), Acceptance("doc-toc/order", "b\n", 'move "é"', "00")]

    assert render(rows) == (
        "{\n"
        '  "schema": 1,\n'
        '  "accepted": [\n'
        '    {"code": "copied-code/body", "path": "a.py", "message": "the body differs from x.y", '
        '"digest": "b10884955d14ba7444a5"},\n'
        '    {"code": "doc-toc/order", "path": "b\\n", "message": "move \\"\\u00e9\\"", "digest": "00"}\n'
        "  ]\n"
        "}\n"
    )
    assert render([]) == '{\n  "schema": 1,\n  "accepted": [\n  ]\n}\n'


@pytest.mark.parametrize(
    ("finding", "result"),
    [
        (FINDING, ACCEPTED),
        (FINDING._replace(line=99, column=7, reason="other words", anchors=(5,)), ACCEPTED),
        (FINDING._replace(accepted="-1\n+3\n"), KEPT),
        (FINDING._replace(path="b.py"), KEPT),
        (FINDING._replace(code="copied-code/signature"), KEPT),
        (FINDING._replace(message="the body differs from x.z"), KEPT),
    ],
)
def test_a_finding_is_accepted_if_it_is_the_same_divergence_wherever_it_has_moved(
    finding: Finding, result: tuple[int, int, int]
) -> None:
    kept, accepted, stale = apply([finding], [acceptance(FINDING)])

    assert (len(kept), len(accepted), len(stale)) == result


def test_an_acceptance_that_nothing_needs_is_stale() -> None:
    gone = acceptance(FINDING._replace(path="gone.py"))

    assert apply([FINDING], [acceptance(FINDING), gone]) == ((), (FINDING,), (gone,))


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "null",
        "3",
        '{"schema": 2, "accepted": []}',
        '{"schema": 1}',
        '{"schema": 1, "accepted": 3}',
        '{"schema": 1, "accepted": [{"code": "a"}]}',
        '{"schema": 1, "accepted": [{"code": 1, "path": "", "message": "", "digest": ""}]}',
        '{"schema": 1, "accepted": ["row"]}',
        "<<<<<<< HEAD\n",
        "[" * 100_000,
        "\x00",
    ],
)
def test_a_file_that_is_no_baseline_is_one_message_with_a_way_out(text: str) -> None:
    with pytest.raises(CheckError) as caught:
        parse(text, "b.json")

    assert (str(caught.value), caught.value.hint, caught.value.environment) == (
        "b.json is not a baseline of schema 1",
        "restore it from git, or delete it and write it anew with: mergeready baseline accept",
        False,
    )


def test_an_empty_file_accepts_nothing() -> None:
    assert parse("", "b.json") == ()


@given(ROWS)
def test_two_branches_that_each_accept_something_merge_line_by_line(rows: list[Acceptance]) -> None:
    lines = render(rows).splitlines()

    assert [json.loads(line.strip().rstrip(",")) for line in lines[3:-2]] == [
        row._asdict() for row in sorted(set(rows))
    ]
