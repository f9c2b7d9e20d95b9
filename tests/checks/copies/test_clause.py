"""Replacement clauses in every spelling that real markers have."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.copies.clause import Clause, Item, apply, parse, steps, tightened

A_TO_B = Item("A", "B", all_casing=False)
C_TO_D = Item("C", "D", all_casing=False)


@pytest.mark.parametrize(
    ("text", "clause"),
    [
        ("", Clause()),
        ("with", Clause()),
        ("with A->B", Clause((A_TO_B,))),
        ("A->B", Clause((A_TO_B,))),
        ("with A->B,C->D", Clause((A_TO_B, C_TO_D))),
        ("with A->B, C->D,", Clause((A_TO_B, C_TO_D))),
        ("with A->B, with C->D", Clause((A_TO_B, C_TO_D))),
        ("with A->B all-casing", Clause((Item("A", "B", all_casing=True),))),
        ("with Within->Without", Clause((Item("Within", "Without", all_casing=False),))),
        ("with a -> b", Clause((), ("a -> b",))),
        ("with A->B and C->D", Clause((), ("A->B and C->D",))),
        ("with A->B C->D", Clause((), ("A->B C->D",))),
        ("with A->B->C", Clause((), ("A->B->C",))),
        ("with A->B all-cases", Clause((), ("A->B all-cases",))),
        ("with A->B, and more", Clause((A_TO_B,), ("and more",))),
        ("with ->B, A->", Clause((), ("->B", "A->"))),
        ("with (->x, [->x, a->\\1", Clause((), ("(->x", "[->x", "a->\\1"))),
        ("with (a+)+$->b, a*a*->b", Clause((), ("(a+)+$->b", "a*a*->b"))),
    ],
)
def test_a_clause_is_items_in_order_and_parts_that_mean_nothing(text: str, clause: Clause) -> None:
    assert parse(text) == clause


def test_a_left_side_is_a_regular_expression() -> None:
    assert apply(parse("with config.dim->size, x\\d->y"), "config.dim configXdim x1 x") == "size size y x"


def test_items_see_what_the_items_before_them_left() -> None:
    assert apply(parse("with A->B, B->C"), "A B") == "C C"


def test_all_casing_repeats_an_item_in_lower_and_in_upper_case() -> None:
    assert apply(parse("with Vit->Swin all-casing"), "VitModel vit VIT viT") == "SwinModel swin SWIN viT"


def test_items_count_what_is_there_when_it_is_their_turn() -> None:
    assert [count for _, count in steps(parse("with A->B, A->C, X->Y, B->A"), "A A")] == [2, 0, 0, 2]


def test_items_that_double_a_text_again_and_again_fill_no_memory() -> None:
    assert len(apply(parse("with " + ", ".join(["a->aaaaaaaa"] * 30)), "a" * 1000)) < 200 << 20


@given(
    st.text(st.sampled_from("aB->, with.\\()[]*+?{}|^$1"), max_size=40), st.text(st.sampled_from("aB1 "), max_size=60)
)
def test_any_clause_is_read_and_applied(text: str, code: str) -> None:
    clause = parse(text)

    assert parse(str(clause)).items == clause.items
    assert isinstance(apply(clause, code), str)
    assert [item for item, _ in steps(clause, code)] == list(clause.items)


@given(st.text(st.sampled_from("ab-> \t"), max_size=20))
def test_a_tightened_part_has_no_space_beside_an_arrow(part: str) -> None:
    assert " ->" not in tightened(part)
    assert "-> " not in tightened(part)
