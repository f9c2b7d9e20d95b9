"""Moving blocks of lines."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from checks.edits import apply
from checks.model import Edit
from checks.reorder import Block, reorder

LINES = ["top", "b", "a1", "a2", "c", "end"]
BLOCKS = [Block(2, 2), Block(3, 4), Block(5, 5)]


def test_only_the_lines_between_the_first_and_the_last_block_that_moves_are_replaced() -> None:
    assert reorder("f", BLOCKS, [1, 0, 2], LINES) == (Edit("f", 2, 4, "a1\na2\nb\n"),)


def test_blocks_in_order_need_no_edit() -> None:
    assert reorder("f", BLOCKS, [0, 1, 2], LINES) == ()


def test_one_block_that_cannot_be_moved_keeps_all_where_they_are() -> None:
    assert reorder("f", [*BLOCKS[:2], Block(0, 0)], [1, 0, 2], LINES) == ()


@given(
    st.lists(st.integers(1, 3), min_size=1, max_size=6).flatmap(
        lambda sizes: st.tuples(st.just(sizes), st.permutations(range(len(sizes))))
    )
)
def test_the_edit_gives_the_blocks_in_their_order_and_all_else_as_it_was(case: tuple[list[int], list[int]]) -> None:
    sizes, order = case
    chunks = [[f"{place}.{line}" for line in range(size)] for place, size in enumerate(sizes)]
    lines = ["top", *(line for chunk in chunks for line in chunk), "end"]
    firsts = [2 + sum(sizes[:place]) for place in range(len(sizes))]
    blocks = [Block(first, first + size - 1) for first, size in zip(firsts, sizes, strict=True)]

    after = apply(("\r\n".join(lines) + "\r\n").encode(), reorder("f", blocks, order, lines))

    wanted = ["top", *(line for place in order for line in chunks[place]), "end"]
    assert after == ("\r\n".join(wanted) + "\r\n").encode()
