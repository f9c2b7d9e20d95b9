"""Whatever originals, copies and markers look like: no exception, and a fix that damages nothing."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from checks.edits import parses
from checks.engine import load_rule
from checks.fix import fix
from checks.text import split_lines
from checks.tree import MemoryTree
from tests.checks.mending import damaged, mended
from tests.checks.trees import judge, tree_of

RULE = "copied-code"
STATEMENTS = (
    "x = 1",
    "Bert(x, y)",
    'if x:\n    """Bert\n\n    text.\n    """',
    "return [\n    1,\n    Bert,\n]",
    "",
    "# said of bert",
    "x = '''\nBert\n'''",
    "# Copied from lib.b.g\ndef g(self): return 1",
    "# Ignore copy\ndef g(self):\n    return Bert",
    "def g(self):\n    pass",
    "# End copy",
)
CLAUSES = (
    "",
    "with Bert->Roberta",
    "with Bert->Roberta, bert->roberta",
    "with Bert->(",
    "with Bert -> X",
    "with x->y z",
)
PATHS = (*("lib.a.f",) * 6, *("lib.b.f",) * 3, "lib.c.f", "lib.b.f.g", "lib.a.gone", "lib.gone.f")
MARKERS = ("# Copied from", "# copied from", "#Copied from")
HEADERS = ("def f(x):", "def f(x, y=1):", "class f:", "class f(Bert):", "async def f(\n    x,\n):", "@deco\ndef f(x):")


def indented(statements: list[str]) -> str:
    lines = "\n".join([*statements, "pass"]).split("\n")
    return "".join(f"    {line}\n" if line else "\n" for line in lines)


BODIES = st.lists(st.sampled_from(STATEMENTS), max_size=4).map(indented)
DEFINITIONS = st.builds(
    lambda marker, path, clause, header, body: f"{marker} {path} {clause}".rstrip() + f"\n{header}\n{body}",
    *map(st.sampled_from, (MARKERS, PATHS, CLAUSES, HEADERS)),
    BODIES,
)
ORIGINALS = st.builds(lambda header, body: f"{header}\n{body}", st.sampled_from(HEADERS), BODIES)
MODULES = st.lists(st.one_of(DEFINITIONS, DEFINITIONS, ORIGINALS), min_size=1, max_size=3).map("\n\n".join)
ENDS = st.sampled_from(("\n", "\r\n"))
LIBRARIES = st.fixed_dictionaries(
    {
        "lib/__init__.py": st.just(b""),
        "lib/a.py": ORIGINALS.map(str.encode),
        "lib/b.py": MODULES.map(str.encode),
        "lib/c.py": st.builds(lambda text, end: text.replace("\n", end).encode(), MODULES, ENDS),
    }
)


@given(LIBRARIES)
def test_a_fix_comes_to_rest_and_what_parsed_still_parses(contents: Mapping[str, bytes]) -> None:
    fixed = fix(MemoryTree(contents), lambda present: judge(RULE, present))

    assert fixed.settled
    assert [each.path for each in fixed.changes if parses(each.before or b"") and not parses(each.after or b"")] == []


@given(LIBRARIES)
def test_lines_that_no_edit_covers_stay_as_they_are_byte_for_byte(contents: Mapping[str, bytes]) -> None:
    tree = MemoryTree(contents)
    found = judge(RULE, tree)
    fixed = fix(tree, lambda present: judge(RULE, present) if present is tree else ())

    for change in fixed.changes:
        edits = [edit for each in found for edit in each.edits if edit.path == change.path]
        before = split_lines(change.before or b"")
        kept = [line for number, line in enumerate(before, 1) if not any(e.first <= number <= e.last for e in edits)]
        assert _is_subsequence(kept, split_lines(change.after or b""))


@given(LIBRARIES)
def test_findings_are_in_lines_that_are_there_and_their_codes_are_known(contents: Mapping[str, bytes]) -> None:
    tree = MemoryTree(contents)
    lines = {path: max(len(split_lines(content)), 1) for path, content in contents.items()}
    codes = {f"{RULE}/{what}" for what in load_rule(RULE).CODES}

    assert [each for each in judge(RULE, tree) if not (1 <= each.line <= lines[each.path] and each.code in codes)] == []


@given(st.data())
def test_damaged_examples_give_findings_and_a_fix_that_comes_to_rest(data: st.DataObject) -> None:
    example = data.draw(st.sampled_from(load_rule(RULE).EXAMPLES))
    texts = data.draw(damaged(example.tree))
    judge(RULE, tree_of(texts), example.settings)
    after = mended(RULE, texts, example.settings)

    assert mended(RULE, after, example.settings) == after
    assert [path for path in texts if _parses(texts[path]) and not _parses(after[path])] == []


def _parses(text: str) -> bool:
    return parses(text.encode("utf-8", "surrogateescape"))


def _is_subsequence(lines: list[bytes], others: list[bytes]) -> bool:
    rest = iter(others)
    return all(any(line.rstrip(b"\r\n") == other.rstrip(b"\r\n") for other in rest) for line in lines)
