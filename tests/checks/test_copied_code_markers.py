"""Markers that are wrong in themselves, clauses, layouts, and whole files."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from checks.model import Finding
from tests.checks.mending import mended
from tests.checks.trees import judge, says, subjects, tree_of

RULE = "copied-code"
F = "def f(x):\n    return x + 1\n"
BLACK = {"pyproject.toml": "[tool.black]\nline-length = 60\n"}
RUFF = {"pyproject.toml": "[tool.ruff.format]\n[tool.ruff]\nline-length = 60\n"}


def library(**modules: str) -> dict[str, str]:
    return {"lib/__init__.py": "", **{f"lib/{name}.py": text for name, text in modules.items()}}


def findings(texts: Mapping[str, str], settings: Mapping[str, object] = {}) -> tuple[Finding, ...]:
    return judge(RULE, tree_of(texts), settings)


def says_of(marker: str, code: str = F, *, original: str = F) -> list[tuple[str, str]]:
    """Code and message of each finding on a copy of `lib.a.f` below a comment."""
    return [
        (each.code.partition("/")[2], each.message) for each in findings(library(a=original, b=f"{marker}\n{code}"))
    ]


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("# copied from lib.a.f", "it says `copied from`, not `Copied from`"),
        ("# Copied from `lib.a.f`", "it holds more than `# Copied from`, the path and a clause"),
        ("# Copied from lib.a.f.", "it holds more than `# Copied from`, the path and a clause"),
        ("# Copied from a.f", None),
        ("# Copied from lob.a.f", "its path should be `lib.a.f`"),
    ],
)
def test_a_comment_that_is_nearly_a_marker_becomes_one_if_the_code_is_a_faithful_copy(
    comment: str, message: str | None
) -> None:
    texts = library(a=F, b=f"{comment}\n{F}")
    message = message or "its path should be `lib.a.f`"

    assert says_of(comment) == [("near-miss", f"the comment on `f` is no marker: {message}")]
    assert mended(RULE, texts)["lib/b.py"] == f"# Copied from lib.a.f\n{F}"


def test_a_comment_that_is_nearly_a_marker_stays_if_the_code_has_gone_its_own_way() -> None:
    texts = library(a=F, b="# copied from lib.a.f\n" + F.replace("1", "2"))

    assert (says(findings(texts)), mended(RULE, texts)) == (("lib/b.py:1 copied-code/near-miss",), texts)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# Copied from lib.a.f\n@x\ndef f(x):\n", "@x\n# Copied from lib.a.f\ndef f(x):\n"),
        ("@x  # Copied from lib.a.f\ndef f(x):\n", "@x\n# Copied from lib.a.f\ndef f(x):\n"),
        ("@x\ndef f(x):  # Copied from lib.a.f\n", "@x\n# Copied from lib.a.f\ndef f(x):\n"),
        ("# Copied from lib.a.f\n\n# more\n@x\ndef f(x):\n", "\n# more\n@x\n# Copied from lib.a.f\ndef f(x):\n"),
    ],
)
def test_a_marker_in_the_wrong_place_counts_and_is_moved(before: str, after: str) -> None:
    original = f"@x\n{F}"
    texts = library(a=original, b=before + "    return x + 2\n")

    assert [each.code for each in findings(texts)] == ["copied-code/near-miss", "copied-code/body"]
    assert mended(RULE, texts)["lib/b.py"] == after + "    return x + 1\n"


def test_of_two_markers_on_one_definition_the_nearer_counts() -> None:
    texts = library(a=F, c=F.replace("1", "2"), b=f"# Copied from lib.c.f\n# Copied from lib.a.f\n{F}")

    assert (says(findings(texts)), mended(RULE, texts)) == (("lib/b.py:1 copied-code/near-miss",), texts)


def test_a_clause_that_is_not_understood_is_mended_if_the_code_shows_what_was_meant() -> None:
    meant = library(a=F, b="# Copied from lib.a.f with x -> y, f->g\ndef g(y):\n    return y + 1\n")
    unclear = library(a=F, b=f"# Copied from lib.a.f with x -> y\n{F}")
    prose = library(a=F, b=f"# Copied from lib.a.f with changes\n{F}")

    assert [says(findings(texts)) for texts in (meant, unclear, prose)] == [("lib/b.py:1 copied-code/clause",)] * 3
    assert mended(RULE, meant)["lib/b.py"].startswith("# Copied from lib.a.f with x->y, f->g\n")
    assert [mended(RULE, texts) for texts in (unclear, prose)] == [unclear, prose]


def test_a_replacement_in_the_name_or_the_decorators_alone_has_an_effect() -> None:
    original = "@cached(Bert)\ndef bert(x):\n    return x\n"
    renamed = "@cached(Vit)\n# Copied from lib.a.bert with Bert->Vit, bert->vit\ndef vit(x):\n    return x\n"
    same = "@cached(Bert)\n# Copied from lib.a.bert with Bart->Vit\ndef bert(x):\n    return x\n"

    assert findings(library(a=original, b=renamed)) == ()
    assert [each.message for each in findings(library(a=original, b=same))] == [
        "`Bart->Vit` changes nothing in `lib.a.bert`"
    ]


def test_a_replacement_that_is_stated_twice_loses_its_second_statement() -> None:
    texts = library(a=F, b="# Copied from lib.a.f with x->y, x->y\ndef f(y):\n    return y + 1\n")

    assert [each.message for each in findings(texts)] == ["`x->y` changes nothing in `lib.a.f`"]
    assert mended(RULE, texts)["lib/b.py"] == "# Copied from lib.a.f with x->y\ndef f(y):\n    return y + 1\n"


def test_a_replacement_that_gives_no_python_is_not_written() -> None:
    texts = library(a=F, b=f"# Copied from lib.a.f with return->return(\n{F}")

    (found,) = findings(texts)
    assert (found.code, found.message) == (
        "copied-code/unparsable",
        "`lib.a.f` with return->return( is no valid Python",
    )
    assert mended(RULE, texts) == texts


def test_an_original_that_does_not_parse_itself_is_compared_and_not_copied() -> None:
    texts = library(a="def f(x):\n    return x +\n", b=f"# Copied from lib.a.f\n{F}")

    assert (says(findings(texts)), mended(RULE, texts)) == (("lib/b.py:3 copied-code/body",), texts)


LONG = '''\
class Bert:
    def forward(self, states):
        return self.attention(states, BertConfig(1))

    def size(self):
        """The size of a Bert and of nothing else."""
        return self.dimension
'''
RENAMED = '''\
# Copied from lib.a.Bert with Bert->RobertaPreLayerNorm
class RobertaPreLayerNorm:
    def forward(self, states):
        return self.attention(
            states, RobertaPreLayerNormConfig(1)
        )

    def size(self):
        """The size of a RobertaPreLayerNorm and of
        nothing else."""
        return self.dimension
'''


@pytest.mark.parametrize("configuration", [BLACK, RUFF, {}])
def test_line_breaks_that_a_longer_name_moved_are_no_difference(configuration: Mapping[str, str]) -> None:
    assert findings({**configuration, **library(a=LONG, b=RENAMED)}) == ()


@pytest.mark.parametrize("configuration", [BLACK, RUFF])
def test_brackets_that_the_formatter_puts_round_a_longer_line_are_no_difference(
    configuration: Mapping[str, str],
) -> None:
    original = "def f(x):\n    some_name = x.Bert.attribute.another.attribute.end\n"
    copy = (
        "# Copied from lib.a.f with Bert->RobertaPreLayer\ndef f(x):\n"
        "    some_name = (\n        x.RobertaPreLayer.attribute.another.attribute.end\n    )\n"
    )
    wrong = copy.replace("end", "start")

    assert findings({**configuration, **library(a=original, b=copy)}) == ()
    assert mended(RULE, {**configuration, **library(a=original, b=wrong)})["lib/b.py"] == copy
    assert [each.code for each in findings(library(a=original, b=copy))] == ["copied-code/body"]


@pytest.mark.parametrize("configuration", [BLACK, RUFF])
def test_what_the_fix_writes_is_laid_out_by_the_repositorys_formatter(configuration: Mapping[str, str]) -> None:
    texts = {**configuration, **library(a=LONG, b=RENAMED.replace("Config(1)", "Config(2)"))}

    assert mended(RULE, texts)["lib/b.py"] == RENAMED


def test_what_another_version_of_the_formatter_did_to_a_copy_stays_where_nothing_is_wrong() -> None:
    # Black puts brackets round such a condition since 2024.
    original = """\
def f(x):
    y = Bert(1)
    z = y
    return g(
        y=Bert.attribute.of.something
        if x.some.condition.or_other
        else x.another.thing.altogether
    )
"""
    right = "# Copied from lib.a.f with Bert->Roberta\n" + original.replace("Bert", "Roberta")
    texts = {**BLACK, **library(a=original, b=right.replace("(1)", "(2)"))}

    assert mended(RULE, texts)["lib/b.py"] == right


def test_decorators_that_only_document_are_not_compared_and_which_those_are_can_be_said() -> None:
    texts = library(a="@auto_docstring('a')\n" + F, b="@auto_docstring('b')\n# Copied from lib.a.f\n" + F)
    settings = {"rules": {"copied-code": {"documenting": ["other"]}}}

    assert (says(findings(texts)), says(findings(texts, settings))) == ((), ("lib/b.py:1 copied-code/decorators",))


def test_whole_files_are_compared_to_the_letter_and_created_where_they_are_missing() -> None:
    table = {"two/a.py": "one/a.py", "two/b.py": "one/b.py", "two/c.py": "one/gone.py", "two/d.py": "one/a.py"}
    settings = {"rules": {"copied-code": {"whole-files": table}}}
    texts = {
        "one/a.py": F,
        "one/b.py": "# Copied from x.y\n\n\nz = 1",
        "two/a.py": F,
        "two/b.py": "z = 1\n",
        "two/c.py": "",
    }
    found = findings(texts, settings)

    assert says(found) == (
        "two/b.py:1 copied-code/body",
        "two/c.py:1 copied-code/target",
        "two/d.py:1 copied-code/body",
    )
    assert [each.message for each in found] == [
        "the file differs from one/b.py",
        "the original of this file, one/gone.py, does not exist",
        "this copy of one/a.py is missing",
    ]
    assert mended(RULE, texts, settings) == {**texts, "two/b.py": "# Copied from x.y\n\n\nz = 1\n", "two/d.py": F}
    assert subjects(RULE, tree_of(texts), settings) == 4
