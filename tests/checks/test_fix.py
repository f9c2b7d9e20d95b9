"""Fixes come to rest or change nothing."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from checks.edits import Change, Refusal
from checks.fix import Fixed, Overlay, fix
from checks.model import Edit, Finding
from checks.tree import MemoryTree, Tree


def copies(tree: Tree) -> tuple[Finding, ...]:
    """Each file `name` whose first line is `of other` must have the second line of `other`."""
    texts = {path: tree.read(path).decode().split("\n") for path in sorted(tree.keys)}
    found = []
    for path, (head, body, *_) in texts.items():
        source = head.removeprefix("of ")
        if source in texts and body != texts[source][1]:
            found.append(finding(path, 2, texts[source][1]))
    return tuple(found)


def finding(path: str, line: int, text: str) -> Finding:
    return Finding(path, line, "copy/body", "differs", edits=(Edit(path, line, line, f"{text}\n"),))


def tree_of(texts: dict[str, str]) -> MemoryTree:
    return MemoryTree({path: text.encode() for path, text in texts.items()})


def overlaid(tree: Tree, fixed: Fixed) -> Tree:
    return Overlay(tree, fixed.changes)


@given(st.permutations(range(30)), st.lists(st.booleans(), min_size=30, max_size=30))
def test_a_chain_of_any_length_and_order_is_mended_in_one_run_and_a_second_run_changes_nothing(
    order: list[int], right: list[bool]
) -> None:
    texts = {f"{order[0]:02}": "source\nx\n"}
    for place, before in zip(order[1:], order, strict=False):
        texts[f"{place:02}"] = f"of {before:02}\n{'x' if right[place] else place}\n"
    tree = tree_of(texts)

    fixed = fix(tree, copies)

    assert (fixed.settled, fixed.remaining, fixed.refusals) == (True, (), ())
    assert {change.path for change in fixed.changes} == {f"{place:02}" for place in order[1:] if not right[place]}
    assert fix(overlaid(tree, fixed), copies).changes == ()


def test_nothing_to_fix_is_nothing_to_do() -> None:
    assert fix(tree_of({"a": "source\nx\n"}), copies) == Fixed((), (), (), 0, settled=True)


def test_two_fixes_that_undo_each_other_change_nothing_at_all() -> None:
    tree = tree_of({"a": "of b\n1\n", "b": "of a\n2\n", "good": "of other\n3\n", "other": "source\n4\n"})

    fixed = fix(tree, copies)

    assert (fixed.settled, fixed.changes, fixed.remaining) == (False, (), copies(tree))


def test_a_fix_that_never_ends_is_given_up_and_changes_nothing() -> None:
    def grow(tree: Tree) -> tuple[Finding, ...]:
        lines = tree.read("a").count(b"\n")
        return (Finding("a", 1, "grow/more", "too short", edits=(Edit("a", lines + 1, lines, "x\n"),)),)

    fixed = fix(tree_of({"a": "x\n"}), grow)

    assert (fixed.settled, fixed.changes, len(fixed.remaining)) == (False, (), 1)


def test_many_findings_in_one_place_are_mended_one_pass_after_the_other() -> None:
    def shrink(tree: Tree) -> tuple[Finding, ...]:
        lines = tree.read("a").count(b"\n")
        return tuple(
            Finding("a", 1, "less/more", str(n), edits=(Edit("a", 1, lines, "x\n" * (lines - 1)),))
            for n in range(1, lines)
        )

    fixed = fix(tree_of({"a": "x\n" * 120}), shrink)

    assert (fixed.settled, fixed.changes, fixed.passes) == (True, (Change("a", b"x\n" * 120, b"x\n"),), 119)


def test_what_is_refused_remains_and_the_rest_is_mended() -> None:
    def both(tree: Tree) -> tuple[Finding, ...]:
        wrong = [line for line in (1, 2) if tree.read("a.py").split(b"\n")[line - 1] != b"ok = 1"]
        edits = {1: "ok = 1\n", 2: "(\n"}
        return tuple(Finding("a.py", line, "x/y", "", edits=(Edit("a.py", line, line, edits[line]),)) for line in wrong)

    fixed = fix(tree_of({"a.py": "a = 1\nb = 1\n"}), both)

    assert fixed == Fixed(
        (Change("a.py", b"a = 1\nb = 1\n", b"ok = 1\nb = 1\n"),),
        (Finding("a.py", 2, "x/y", "", edits=(Edit("a.py", 2, 2, "(\n"),)),),
        (Refusal("a.py", "the result would not parse"),),
        1,
        settled=True,
    )


def test_files_are_created_edited_again_and_deleted_in_the_passes_of_one_run() -> None:
    steps: dict[frozenset[str], tuple[Edit, ...]] = {
        frozenset({"old"}): (Edit("new", 1, 0, "1\n"),),
        frozenset({"old", "new"}): (Edit("old", 1, 1, ""), Edit("new", 1, 1, "2\n")),
    }

    def next_step(tree: Tree) -> tuple[Finding, ...]:
        edits = steps.get(frozenset(tree.keys), ())
        return (Finding("old", 1, "x/y", "", edits=edits),) if edits else ()

    fixed = fix(tree_of({"old": "0\n"}), next_step)

    assert (fixed.changes, fixed.settled) == ((Change("new", None, b"2\n"), Change("old", b"0\n", None)), True)


def test_a_change_that_is_taken_back_is_no_change() -> None:
    def tidy(want: Callable[[bytes, bytes], dict[str, str]]) -> Callable[[Tree], tuple[Finding, ...]]:
        return lambda tree: tuple(finding(path, 1, text) for path, text in want(tree.read("a"), tree.read("b")).items())

    # "a" is changed, which makes "b" change, which makes "a" right again as it was.
    wants = {(b"0\n", b"0\n"): {"a": "1"}, (b"1\n", b"0\n"): {"b": "1"}, (b"1\n", b"1\n"): {"a": "0"}}
    judge = tidy(lambda a, b: wants.get((a, b), {}))

    fixed = fix(tree_of({"a": "0\n", "b": "0\n"}), judge)

    assert (fixed.changes, fixed.settled) == ((Change("b", b"0\n", b"1\n"),), True)


def test_an_overlay_has_the_changes_and_all_else_of_the_tree_below() -> None:
    below = MemoryTree({"a": b"a", "b": b"b", "c": b"c"}, others=frozenset({"link"}))

    tree = Overlay(below, (Change("a", b"a", b"A"), Change("b", b"b", None), Change("d", None, b"d")))

    assert ({path: tree.read(path) for path in tree.keys}, tree.others, tree.folder) == (
        {"a": b"A", "c": b"c", "d": b"d"},
        frozenset({"link"}),
        None,
    )
    assert (tree.keys["c"], tree.keys["a"] == below.keys["a"]) == (below.keys["c"], False)
