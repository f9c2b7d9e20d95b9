"""Copied code: what counts as a copy, what it is held against, and what the fix does."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from checks.errors import CheckError
from checks.model import Finding
from checks.tree import MemoryTree
from tests.checks.mending import mended
from tests.checks.trees import judge, says, subjects, tree_of

RULE = "copied-code"
F = "def f(x):\n    return x + 1\n"


def library(**modules: str) -> dict[str, str]:
    return {"lib/__init__.py": "", **{f"lib/{name}.py": text for name, text in modules.items()}}


def findings(texts: Mapping[str, str], settings: Mapping[str, object] = {}) -> tuple[Finding, ...]:
    return judge(RULE, tree_of(texts), settings)


def codes(texts: Mapping[str, str], settings: Mapping[str, object] = {}) -> list[str]:
    """The findings as `file:line what`, without folder and rule."""
    found = says(findings(texts, settings))
    return [line.removeprefix("lib/").replace(".py:", ":").replace(" copied-code/", " ") for line in found]


def copy(body: str, *, clause: str = "", path: str = "lib.a.f") -> str:
    return f"# Copied from {path} {clause}".rstrip() + f"\n{body}"


def test_a_finding_says_what_stands_where_on_both_sides_and_shows_the_difference() -> None:
    texts = library(
        a="import x\n\n\nclass Bert:\n    def forward(self, y):\n        z = Bert(y)\n        return z + 1\n",
        b="class Roberta:\n    # Copied from lib.a.Bert.forward with Bert->Roberta\n"
        "    def forward(self, y):\n        z = Roberta(y)\n        return z + 2\n",
    )
    (found,) = findings(texts)

    assert (found.path, found.line, found.code) == ("lib/b.py", 5, "copied-code/body")
    assert found.message == "`Roberta.forward` differs from `lib.a.Bert.forward`"
    assert found.reason == "lib/a.py:7 has `return z + 1` with Bert->Roberta, this has `return z + 2`"
    assert (found.source, found.anchors) == (("lib/a.py", 7), (2, 3))
    assert found.accepted == "-        return z+2\n+        return z+1"
    assert found.detail.split("\n") == [
        "Bert->Roberta in 1 place of lib.a.Bert.forward",
        "--- lib/b.py",
        "+++ lib/b.py as lib.a.Bert.forward",
        "@@ -4,2 +4,2 @@",
        "         z = Roberta(y)",
        "-        return z + 2",
        "+        return z + 1",
    ]


def test_every_broken_marker_is_reported_in_one_run() -> None:
    texts = library(
        a=F,
        b=copy(F, path="lib.gone.f")
        + copy(F, path="lib.a.g")
        + copy(F, clause="with (->x")
        + copy(F, clause="with x->y z"),
        c=copy("def f(x):\n    return x + 2\n"),
    )

    assert codes(texts) == ["b:1 target", "b:4 target", "b:7 clause", "b:10 clause", "c:3 body"]


def test_a_class_whose_name_begins_like_another_is_not_taken_for_it() -> None:
    texts = library(
        a="class LayerNorm:\n    x = 1\n\n\nclass Layer:\n    x = 2\n",
        b=copy("class Layer:\n    x = 2\n", path="lib.a.Layer"),
    )

    assert codes(texts) == []


def test_a_marker_as_the_last_line_or_in_a_string_is_no_marker_of_anything() -> None:
    texts = library(a=F, b='"""\n# Copied from lib.a.f\ndef f(x):\n    return x\n"""\n# Copied from lib.a.f')

    assert codes(texts) == ["b:6 near-miss"]


def test_comments_that_credit_another_package_are_no_subjects() -> None:
    texts = library(a=F, b="# Copied from torch.nn.f\ndef f(x):\n    return x\n# Adapted from lib.a.f\n" + F)

    assert (codes(texts), subjects(RULE, tree_of(texts))) == ([], 0)


def test_tests_may_copy_from_the_library_and_from_tests() -> None:
    texts = {
        **library(a=F),
        "tests/test_a.py": copy(F.replace("+", "-")) + copy(F.replace("+", "*"), path="tests.test_b.f"),
        "tests/test_b.py": F,
        "examples/c.py": copy("def f(x): pass\n"),
    }

    assert says(findings(texts)) == ("tests/test_a.py:3 copied-code/body", "tests/test_a.py:6 copied-code/body")


@pytest.mark.parametrize(
    ("header", "body"),
    [
        ("async def f(x):", "    return await x"),
        ("def f[T](x: list[T]) -> T:", "    return x"),
        ("class f[T](list[T]):", "    x = 1"),
        ("def f(\n    x,\n    y=')',\n):", "    return x"),
        ("class f:", "\tx = 1\n\n\tdef g(self):\n\t\treturn 1"),
        ("def f(x):", '    """Text.\n\nat the margin\n    """\n    return x'),
    ],
)
def test_every_kind_of_definition_is_compared_to_its_end(header: str, body: str) -> None:
    whole = f"{header}\n{body}\n"
    last = whole.count("\n")

    assert codes(library(a=whole, b=copy(whole))) == []
    assert codes(library(a=whole, b=copy(f"{header}\n{body} + 1\n\n\nx = 1\n"))) == [f"b:{last + 1} body"]


def test_nested_definitions_are_found_in_their_own_scope() -> None:
    texts = library(
        a="class A:\n    class B:\n        def f(self):\n            def g():\n                return 1\n"
        "            return g\n",
        b="def h():\n    # Copied from lib.a.A.B.f.g\n    def g():\n        return 2\n    return g\n",
    )

    assert codes(texts) == ["b:4 body"]
    assert mended(RULE, texts)["lib/b.py"] == texts["lib/b.py"].replace("2", "1")


def test_of_the_parts_of_a_property_each_is_held_against_its_own() -> None:
    prop = (
        "    @property\n{0}    def x(self):\n        return 1\n\n"
        "    @x.setter\n{0}    def x(self, y):\n        self.y = y\n"
    )
    texts = library(
        a="class A:\n" + prop.format(""),
        b="class B:\n" + prop.format("    # Copied from lib.a.A.x\n").replace("= y", "= -y"),
    )

    assert codes(texts) == ["b:10 body"]


def test_of_two_branches_each_is_held_against_its_own() -> None:
    both = "if x:\n{0}    def f():\n        return 1\nelse:\n{0}    def f():\n        return 2\n"
    texts = library(a=both.format(""), b=both.format("    # Copied from lib.a.f\n"))

    assert codes(texts) == []
    assert codes({**texts, "lib/b.py": texts["lib/b.py"].replace("2", "1")}) == ["b:8 body"]


def test_files_that_differ_in_line_ends_are_equal_and_a_fix_keeps_them() -> None:
    source = F.encode()
    same = MemoryTree({"lib/__init__.py": b"", "lib/a.py": source, "lib/b.py": copy(F).replace("\n", "\r\n").encode()})

    assert judge(RULE, same) == ()
    texts = library(a=F, b=copy("def f(x):\n    y = x\n    return x + 2\n").replace("\n", "\r\n"))
    assert mended(RULE, texts)["lib/b.py"] == copy(F).replace("\n", "\r\n")


def test_blank_lines_count_where_the_librarys_own_script_counts_them_or_the_settings_say_so() -> None:
    texts = library(a="def f(x):\n    y = x\n    return y\n", b=copy("def f(x):\n    y = x\n\n    return y\n"))
    settings = {"rules": {"copied-code": {"blank-lines": "compare"}}}

    assert codes(texts) == []
    assert codes(texts, settings) == codes(texts, {"profile": "diffusers"}) == ["b:4 body"]
    assert mended(RULE, texts, settings)["lib/b.py"] == copy(texts["lib/a.py"])


def test_an_option_that_is_none_of_its_values_is_an_error() -> None:
    with pytest.raises(CheckError, match="blank-lines of copied-code must be auto, compare or ignore, not 'no'"):
        findings(library(a=F), {"rules": {"copied-code": {"blank-lines": "no"}}})


def test_return_annotations_do_not_count_and_stay() -> None:
    texts = library(a="def f(x, y=1) -> int:\n    return x\n", b=copy("def f(x) -> float:\n    return x\n"))

    assert codes(texts) == ["b:2 signature"]
    assert mended(RULE, texts)["lib/b.py"] == copy("def f(x, y=1) -> float:\n    return x\n")


@pytest.mark.parametrize(
    ("original", "own"),
    [
        ("def f(x, y):", "def f(x):"),
        ("def f(y, x):", "def f(x, y):"),
        ("def f(x):", "def f(x=1):"),
        ("def f(x: np.ndarray):", "def f(x):"),
        ("def f(x=1):", "def f(\n    x,  # why\n):"),
        ("class f(A):", "class f(B):"),
    ],
)
def test_parameters_that_would_break_a_call_or_an_import_are_left_to_a_person(original: str, own: str) -> None:
    texts = library(a=f"{original}\n    pass\n", b=copy(f"{own}\n    pass\n"))

    assert codes(texts) == ["b:2 signature"]
    assert mended(RULE, texts) == texts


def test_a_name_that_the_file_has_may_come_into_an_annotation() -> None:
    texts = library(
        a="def f(x: np.ndarray = None):\n    pass\n", b="import numpy as np\n" + copy("def f(x):\n    pass\n")
    )

    assert mended(RULE, texts)["lib/b.py"] == "import numpy as np\n" + copy("def f(x: np.ndarray = None):\n    pass\n")


def test_a_copy_with_one_line_for_all_is_reported_and_left_to_a_person() -> None:
    texts = library(a=F, b=copy("def f(x): return x\n"))

    assert codes(texts) == ["b:2 body"]
    assert mended(RULE, texts) == texts


def test_a_copy_may_stand_at_another_depth() -> None:
    method = "class A:\n    # Copied from lib.a.f\n    @staticmethod\n    def f(x):\n        return x + 1\n"

    assert codes(library(a=F, b=method)) == ["b:2 near-miss"]
    assert codes(library(a=F, b=method.replace("+", "-"))) == ["b:2 near-miss", "b:5 body"]


def test_an_end_comment_ends_what_is_compared() -> None:
    texts = library(a=F, b=copy(F + "    # End copy\n    more()\n"))

    assert codes(texts) == []
    assert codes({**texts, "lib/a.py": F.replace("1", "2")}) == ["b:3 body"]


def test_what_is_ignored_is_neither_compared_nor_changed() -> None:
    original = "class A:\n    x = 1\n\n    def f(self):\n        return 1\n\n    def g(self):\n        return 1\n"
    own = original.replace("    def f", "    # Ignore copy\n    def f").replace("return 1", "return 2", 1)
    more = own + "\n    # Ignore copy\n    def h(self):\n        return 3\n"
    texts = library(a=original, b=copy(more, path="lib.a.A"))

    assert codes(texts) == []
    drifted = {**texts, "lib/b.py": texts["lib/b.py"].replace("x = 1", "x = 2").replace("return 1", "return 4")}
    assert codes(drifted) == ["b:3 body"]
    assert mended(RULE, drifted) == texts
