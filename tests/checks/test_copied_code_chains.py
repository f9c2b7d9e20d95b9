"""Copies of copies: reported and mended in one pass, whatever the order of the files."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from checks.fix import fix
from checks.model import Finding
from tests.checks.mending import mended
from tests.checks.trees import judge, says, tree_of

RULE = "copied-code"
ORIGINAL = "def f(x):\n    return x + 2\n"
OLD = ORIGINAL.replace("2", "1")


def library(**modules: str) -> dict[str, str]:
    return {"lib/__init__.py": "", **{f"lib/{name}.py": text for name, text in modules.items()}}


def copy(path: str, text: str, clause: str = "") -> str:
    return f"# Copied from {path} {clause}".rstrip() + f"\n{text}"


def drifts(texts: Mapping[str, str]) -> dict[str, tuple[str, int, str] | None]:
    """What each finding about a body follows, by `path:line`."""
    found = judge(RULE, tree_of(texts))
    return {f"{each.path}:{each.line}": each.follows for each in found if each.code == "copied-code/body"}


CHAIN = library(z=ORIGINAL, b=copy("lib.z.f", OLD), a=copy("lib.b.f", OLD), c=copy("lib.a.f", OLD))


def test_a_whole_chain_is_mended_in_one_pass() -> None:
    tree = tree_of(CHAIN)
    fixed = fix(tree, lambda present: judge(RULE, present))

    assert (fixed.passes, [change.path for change in fixed.changes]) == (1, ["lib/a.py", "lib/b.py", "lib/c.py"])
    assert mended(RULE, CHAIN) == {
        **CHAIN,
        **{path: CHAIN[path].replace("1", "2") for path in CHAIN if path != "lib/z.py"},
    }


def test_a_copy_that_is_right_but_for_its_original_follows_what_is_wrong_there() -> None:
    assert drifts(CHAIN) == {
        "lib/b.py:3": None,
        "lib/a.py:3": ("lib/b.py", 3, "copied-code/body"),
        "lib/c.py:3": ("lib/a.py", 3, "copied-code/body"),
    }


def test_a_copy_that_differs_from_its_original_as_it_is_follows_nothing() -> None:
    texts = {**CHAIN, "lib/a.py": copy("lib.b.f", OLD.replace("1", "5"))}

    assert drifts(texts) == {
        "lib/b.py:3": None,
        "lib/a.py:3": None,
        "lib/c.py:3": None,
    }


def test_a_copy_that_is_ahead_of_its_original_needs_no_change() -> None:
    texts = {**CHAIN, "lib/a.py": copy("lib.b.f", ORIGINAL), "lib/c.py": copy("lib.a.f", ORIGINAL)}

    assert drifts(texts) == {"lib/b.py:3": None}


def test_clauses_along_a_chain_are_applied_one_after_the_other() -> None:
    texts = library(
        a="def f():\n    return Bert(2)\n",
        b=copy("lib.a.f", "def f():\n    return Roberta(1)\n", "with Bert->Roberta"),
        c=copy("lib.b.f", "def f():\n    return Camembert(1)\n", "with Roberta->Camembert"),
    )

    assert mended(RULE, texts) == {path: text.replace("1", "2") for path, text in texts.items()}


def test_a_change_of_parameters_reaches_the_end_of_a_chain_too() -> None:
    texts = library(
        a="def f(x, y=1):\n    return x\n",
        b=copy("lib.a.f", "def f(x):\n    return x\n"),
        c=copy("lib.b.f", "def f(x):\n    return x\n"),
    )
    found = [each for each in judge(RULE, tree_of(texts)) if each.code == "copied-code/signature"]

    assert [(each.path, each.follows) for each in found] == [
        ("lib/b.py", None),
        ("lib/c.py", ("lib/b.py", 2, "copied-code/signature")),
    ]
    assert {path: text.count("y=1") for path, text in mended(RULE, texts).items()} == {
        **dict.fromkeys(("lib/a.py", "lib/b.py", "lib/c.py"), 1),
        "lib/__init__.py": 0,
    }


def test_a_class_follows_a_copied_method_of_its_original() -> None:
    bert = "class Bert:\n    # Copied from lib.z.f\n    def f(x):\n        return x + 1\n"
    texts = library(z=ORIGINAL, bert=bert, a=copy("lib.bert.Bert", bert.replace("    # Copied from lib.z.f\n", "")))

    assert drifts(texts) == {"lib/bert.py:4": None, "lib/a.py:4": ("lib/bert.py", 4, "copied-code/body")}
    assert mended(RULE, texts) == {path: text.replace("+ 1", "+ 2") for path, text in texts.items()}


def test_a_fault_in_a_copied_method_of_a_copied_class_is_reported_once() -> None:
    bert = "class Bert:\n    # Copied from lib.z.f\n    def f(x):\n        return x + 2\n\n    y = 1\n"
    texts = library(z=ORIGINAL, bert=bert, a=copy("lib.bert.Bert", bert.replace("x + 2", "x + 3")))

    assert drifts(texts) == {"lib/a.py:5": None}
    assert drifts({**texts, "lib/a.py": texts["lib/a.py"].replace("y = 1", "y = 2")}) == {
        "lib/a.py:5": None,
        "lib/a.py:7": None,
    }


def test_a_copy_of_a_copy_is_told_where_the_chain_begins() -> None:
    found = [each for each in judge(RULE, tree_of(CHAIN)) if each.code == "copied-code/copy-of-copy"]

    assert [(each.path, each.line, each.message) for each in found] == [
        ("lib/a.py", 1, "`lib.b.f` is itself a copy"),
        ("lib/c.py", 1, "`lib.a.f` is itself a copy"),
    ]
    assert {each.reason for each in found} == {
        "the chain begins at `lib.z.f`: name that, and one fix reaches every copy"
    }


def test_copies_in_a_circle_are_not_compared_and_what_hangs_on_them_is() -> None:
    texts = library(
        a=copy("lib.b.f", OLD), b=copy("lib.c.f", ORIGINAL), c=copy("lib.a.f", OLD), d=copy("lib.a.f", ORIGINAL)
    )

    assert says(judge(RULE, tree_of(texts))) == (
        "lib/a.py:1 copied-code/cycle",
        "lib/b.py:1 copied-code/cycle",
        "lib/c.py:1 copied-code/cycle",
        "lib/d.py:1 copied-code/copy-of-copy",
        "lib/d.py:3 copied-code/body",
    )


def test_a_chain_of_hundreds_is_followed_to_its_end() -> None:
    texts = library(m0=ORIGINAL, **{f"m{n}": copy(f"lib.m{n - 1}.f", OLD) for n in range(1, 400)})

    assert len(drifts(texts)) == 399
    assert set(mended(RULE, texts).values()) == {
        "",
        ORIGINAL,
        *(copy(f"lib.m{n - 1}.f", ORIGINAL) for n in range(1, 400)),
    }


@pytest.mark.parametrize("name", ["a", "b", "c", "z"])
def test_what_is_reported_does_not_hang_on_the_order_of_the_files(name: str) -> None:
    renamed = {path.replace(f"/{name}.", "/m."): text.replace(f"lib.{name}.", "lib.m.") for path, text in CHAIN.items()}

    def found(texts: Mapping[str, str]) -> list[Finding]:
        return [each for each in judge(RULE, tree_of(texts)) if each.code == "copied-code/body"]

    assert sorted(
        each.detail.replace(".m.", f".{name}.").replace("/m.", f"/{name}.") for each in found(renamed)
    ) == sorted(each.detail for each in found(CHAIN))
