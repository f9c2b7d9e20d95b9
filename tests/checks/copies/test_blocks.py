"""What a copy keeps for itself."""

from __future__ import annotations

from checks.copies.blocks import Block, before_end, blocks, left_out

BODY = [
    "    size = 1",
    "",
    "    # about f",
    "    @property",
    "    def f(self):",
    "        return 1",
    "",
    "    def g(self):",
    "        def inner(): pass",
    "        return 2",
    "",
    "    last = 3",
]


def numbers(found: list[Block]) -> list[int]:
    return [number for block in found for number in block.lines]


def ranges(lines: list[str]) -> list[tuple[str, int, int]]:
    return [(block.name, block.lines.start, block.lines.stop) for block in blocks(lines)]


def test_a_body_is_methods_with_the_comments_above_them_and_what_lies_between() -> None:
    assert ranges(BODY) == [("after ", 0, 2), ("f", 2, 6), ("after f", 6, 7), ("g", 7, 10), ("after g", 10, 12)]


def test_a_block_is_left_out_on_both_sides_by_its_name() -> None:
    copy = ["    x = 0", "    def g(self):", "        return 5  # Ignore copy", "    def f(self):", "        return 1"]

    ours, theirs = left_out(copy, BODY)

    assert (numbers(ours), numbers(theirs)) == ([1, 2], [7, 8, 9])


def test_a_comment_among_statements_leaves_out_all_up_to_the_next_method() -> None:
    ours, theirs = left_out(["    # Ignore copy", "    size = 2", "    def f(self): pass"], BODY)

    assert (numbers(ours), numbers(theirs)) == ([0, 1], [0, 1])


def test_nothing_is_left_out_without_the_comment() -> None:
    assert left_out(BODY, BODY) == ([], [])


def test_a_block_can_be_left_out_by_name_alone() -> None:
    ours, theirs = left_out(["    def g(self): pass"], BODY, ["g"])

    assert (numbers(ours), numbers(theirs)) == ([0], [7, 8, 9])


def test_a_method_that_only_the_copy_has_can_be_left_out() -> None:
    ours, theirs = left_out(["    # Ignore copy", "    def new(self): pass"], BODY)

    assert (numbers(ours), numbers(theirs)) == ([0, 1], [])


def test_an_end_comment_counts_at_the_depth_of_the_body_alone() -> None:
    lines = ["    x = 1", "        # End copy", "", "    # End copy, for a reason", "    y = 2"]

    assert before_end(lines) == lines[:3]
