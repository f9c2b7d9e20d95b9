"""Definitions found by their lines: exactly those that a parser finds."""

from __future__ import annotations

import ast
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.facts.python import definitions
from checks.facts.syntax import Unparsable, parse
from checks.text import decode

Found = tuple[str, int, int, int]
"""Qualified name; the lines of the first decorator, of `class` or `def`, and of the end of the last statement."""
ODD = """\
@decorate(
    "(", text=\"\"\"
def not_me():
\"\"\",  # )
)
# between
@plain
async def first(
    a: dict[str, int] = {1: 2},  # one (
    *, b=lambda: 1
) -> (
    None
):
    x = [
1, 2,
]
# less indented
    def inner(): return "\\
def not_me()"
    if x: \\
pass
\tif_tabbed = 1
class Generic[T: (int, str)](list[T], metaclass=type): attribute = '#'; other = ')'
class Empty: ...
if Generic:
    class Conditional:
        def method(self):
            '''def not_me(): '''
            return "'''"  # '''
        @property
        def size(self): return (1,
2)
        @size.setter
        def size(self, value): pass

        # about the class
else:
    def Conditional(): pass
"""


def found(text: str) -> list[Found]:
    """What we find, without the comments that follow the last statement of a definition."""
    return [
        (
            each.name,
            text.count("\n", 0, each.first) + 1,
            text.count("\n", 0, each.start) + 1,
            _last_statement(text, each.start, each.end),
        )
        for each in definitions(text)
    ]


def parsed(module: ast.Module) -> list[Found]:
    """What a parser finds."""
    return sorted(_parsed(module, ""), key=lambda each: each[2])


def _parsed(node: ast.AST, scope: str) -> Iterator[Found]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            name = f"{scope}{child.name}"
            first = min([child.lineno, *(decorator.lineno for decorator in child.decorator_list)])
            yield name, first, child.lineno, child.end_lineno or 0
            yield from _parsed(child, f"{name}.")
        else:
            yield from _parsed(child, scope)


def _last_statement(text: str, start: int, end: int) -> int:
    lines = text[start:end].split("\n")
    while len(lines) > 1 and lines[-1].strip()[:1] in ("", "#"):
        del lines[-1]
    return text.count("\n", 0, start) + len(lines)


def test_odd_code_holds_exactly_the_definitions_that_it_seems_to_hold() -> None:
    assert [(each.name, ODD.count("\n", 0, each.first) + 1) for each in definitions(ODD)] == [
        ("first", 1),
        ("first.inner", 18),
        ("Generic", 23),
        ("Empty", 24),
        ("Conditional", 26),
        ("Conditional.method", 27),
        ("Conditional.size", 30),
        ("Conditional.size", 33),
        ("Conditional", 38),
    ]


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("def f(): return 1\n", " return 1"),
        ("def f():  # why\n    return 1\n# after\n", "    return 1"),
        ("def f():\n    return 1\n    # said last\n\n\nx = 1\n", "    return 1\n    # said last"),
        ("def f(\n    a=')',\n):\n    pass", "    pass"),
        ("class A:\n\tx = 1\n\n\ty = 2\nz = 3\n", "\tx = 1\n\n\ty = 2"),
        ("def f():\n    x = '''\nreturn\n'''\n    return x\n", "    x = '''\nreturn\n'''\n    return x"),
        ("def f(a, b\ndef g():\n    pass\n", "    pass"),
        ("def f():\n    x = (1,\ndef g():\n    pass\n", "    x = (1,"),
    ],
)
def test_a_body_ends_with_its_last_indented_line(text: str, body: str) -> None:
    first = definitions(text)[0]

    assert text[first.body : first.end] == body


def _blocks(inner: st.SearchStrategy[list[str]]) -> st.SearchStrategy[list[str]]:
    """Lines of a compound statement round the lines of some others."""
    return st.builds(
        lambda heads, bodies, white: [
            line
            for head, body in zip(heads, bodies, strict=False)
            for line in (*head, *(white + line for line in body))
        ],
        st.lists(st.sampled_from(HEADS), min_size=1, max_size=3),
        st.lists(inner, min_size=1, max_size=3),
        st.sampled_from(("  ", "    ", "\t")),
    )


HEADS = (
    ["def f(a, b=(1, 2)):"],
    ["async def g(", "a: int = 1,  # (", ") -> None:"],
    ["class A(B, c=[", "]):"],
    ["class C:  # class D:"],
    ["@x", "def h(self): # '''"],
    ["@x(1,", "2)", "# why", "", "@y", "class E: "],
    ["if x:"],
    ["with a as b, \\", "c as d:"],
)
STATEMENTS = (
    ["pass"],
    ["x = 1  # def no():"],
    ['"""class No:', "def no():", '"""'],
    ["x = f('''", "\tdef no(): ''', \")\")"],
    ["y = [", "(", "1), {2: 3}", "]"],
    ["z = 'a\\", "def no():'"],
    ["a = b \\", "+ c"],
    ["# comment"],
    [""],
    ["def one(): return 1"],
    ["class Two: x = (", "1)"],
    ['s = r"\\"" + "\'\'\'"'],
    ['t = """\\""" def no(): """'],
)
SOURCES = st.recursive(
    st.lists(st.sampled_from(STATEMENTS), min_size=1, max_size=3).map(
        lambda parts: [line for part in parts for line in part]
    ),
    _blocks,
    max_leaves=8,
).map("\n".join)


@given(st.lists(SOURCES, min_size=1, max_size=4).map("\n".join))
def test_generated_code_that_parses_holds_what_a_parser_finds(text: str) -> None:
    module = parse(text)

    assert isinstance(module, Unparsable) or found(text) == parsed(module)


PIECES = ("def f", "class A", "(", ")", ":", "\n", "\n    ", '"""', "'", "#", "\\", "@", "x", " ")


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_any_text_at_all_gives_offsets_in_their_order(text: str) -> None:
    for each in definitions(text):
        assert 0 <= each.first <= each.start < each.body <= each.end <= len(text)


def _real_files(every: int) -> list[Path]:
    found = Path(sysconfig.get_path("stdlib")).rglob("*.py")
    return sorted(path for path in found if "site-packages" not in path.parts)[::every]


def _assert_same(paths: list[Path]) -> None:
    texts = ((path, decode(path.read_bytes())) for path in paths)
    modules = ((path, text, parse(text)) for path, text in texts)
    wrong = [path for path, text, module in modules if isinstance(module, ast.Module) and found(text) != parsed(module)]

    assert wrong == []


def test_a_sample_of_the_standard_library_holds_what_a_parser_finds() -> None:
    _assert_same(_real_files(every=40)[:60])


@pytest.mark.slow
def test_every_file_of_the_standard_library_holds_what_a_parser_finds() -> None:
    _assert_same(_real_files(every=1))
