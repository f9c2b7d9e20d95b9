"""`mergeready explain` as it is typed: a rule, a code, or what is found at a line."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from checks.reports import pages
from checks.run import codes
from checks.settings import RULE_NAMES
from tests.checks.library import DRIFTED, LIBRARY, LIST, SHUFFLED
from tests.checks.repositories import make_repository
from tests.tooling.command_line import mergeready
from tooling.errors import Exit


@pytest.mark.parametrize("name", RULE_NAMES)
def test_a_rule_is_explained_by_its_page(tmp_path: Path, name: str) -> None:
    assert mergeready(tmp_path, "explain", name) == (0, f"{pages.rule(name)}\n", "")


def test_a_code_is_explained_by_its_sentence_and_the_page_of_its_rule(tmp_path: Path) -> None:
    assert mergeready(tmp_path, "explain", "doctest-list/order") == (
        0,
        f"doctest-list/order: {codes()['doctest-list/order']}\n\n{pages.rule('doctest-list')}\n",
        "",
    )
    assert mergeready(tmp_path, "explain", "run/conflict") == (
        0,
        "run/conflict: Merging HEAD into the base conflicts in this file.\n\n",
        "",
    )


@pytest.mark.parametrize(
    ("what", "hint"),
    [
        ("copied-cod", "did you mean 'copied-code'?"),
        ("copied-code/bdy", "did you mean 'copied-code/body'?"),
        ("xyzzy", "see: mergeready rules; a finding is named PATH:LINE"),
        (f"a:{'9' * 5000}", "see: mergeready rules; a finding is named PATH:LINE"),
    ],
)
def test_what_is_neither_is_refused_with_what_comes_near(tmp_path: Path, what: str, hint: str) -> None:
    assert mergeready(tmp_path, "explain", what) == (
        Exit.USAGE,
        "",
        f"error: there is no rule or code {what!r}\nhint: {hint}\n",
    )


DRIFT = """\
src/lib/b.py:3:1: copied-code/body: `scale` differs from `lib.a.scale` [fixable]
    src/lib/a.py:2 has `return states * 2`, this has `return states + 2`
    compared with src/lib/a.py:2
    --- src/lib/b.py
    +++ src/lib/b.py as lib.a.scale
    @@ -3 +3 @@
    -    return states + 2
    +    return states * 2
    A copy differs from its original; the line is the first that does.
to mend it:      mergeready check copied-code --fix   (--diff shows it first)
to suppress it:  # mergeready: skip[copied-code] why   on that line or above it
to accept it:    mergeready baseline accept copied-code --path src/lib/b.py

"""


@pytest.mark.parametrize("line", [1, 2, 3])
def test_a_finding_is_explained_at_its_line_its_marker_and_its_definition(tmp_path: Path, line: int) -> None:
    make_repository(tmp_path, DRIFTED)

    assert mergeready(tmp_path, "explain", f"src/lib/b.py:{line}") == (0, DRIFT, "")


def test_a_path_may_be_given_from_here_or_from_the_root(tmp_path: Path) -> None:
    make_repository(tmp_path, DRIFTED)
    whole = mergeready(tmp_path, "explain", "src/lib/b.py:3").out

    for here, path in (
        ("src/lib", "b.py"),
        ("src/lib", "src/lib/b.py"),
        ("utils", "../src/lib/b.py"),
        ("utils", str(tmp_path / "src/lib/b.py")),
        ("src", "./lib/b.py"),
    ):
        assert mergeready(tmp_path / here, "explain", f"{path}:3").out == whole


def test_what_lets_a_finding_pass_is_named(tmp_path: Path) -> None:
    skipped = f"# mergeready: skip[copied-code] ours\n{DRIFTED['src/lib/b.py']}"
    make_repository(tmp_path / "skipped", {**DRIFTED, "src/lib/b.py": skipped})
    make_repository(tmp_path / "accepted", DRIFTED)
    mergeready(tmp_path / "accepted", "baseline", "accept")

    assert mergeready(tmp_path / "skipped", "explain", "src/lib/b.py:4").out.endswith("    a comment suppresses it\n\n")
    assert mergeready(tmp_path / "accepted", "explain", "src/lib/b.py:3").out.endswith(
        "    the baseline accepts it\n\n"
    )


def test_a_line_without_a_finding_names_the_nearest(tmp_path: Path) -> None:
    make_repository(tmp_path, {**SHUFFLED, "src/lib/c.py": "x = 1\n"})

    assert mergeready(tmp_path, "explain", f"{LIST}:99") == (
        0,
        f"no rule finds anything at {LIST}:99\nthe nearest finding of this file is at line 3: doctest-list/missing\n",
        "",
    )
    assert mergeready(tmp_path, "explain", "src/lib/c.py:1") == (0, "no rule finds anything at src/lib/c.py:1\n", "")


@pytest.mark.parametrize("path", ["nowhere.py", "../outside.py", "src", "/etc/passwd"])
def test_a_file_that_is_not_looked_at_is_refused(tmp_path: Path, path: str) -> None:
    make_repository(tmp_path / "repo", LIBRARY)

    assert mergeready(tmp_path / "repo", "explain", f"{path}:1") == (
        Exit.USAGE,
        "",
        f"error: {path} is not a file that is looked at\nhint: name it relative to here or to the root\n",
    )


def test_findings_that_no_rule_makes_can_only_be_mended(tmp_path: Path) -> None:
    make_repository(tmp_path, {**LIBRARY, "src/lib/c.py": "# mergeready: skip[copied-code] why\n"})

    assert mergeready(tmp_path, "explain", "src/lib/c.py:1").out == (
        "src/lib/c.py:1:1: suppression/unused: nothing here needs skip[copied-code]\n"
        "    no finding of that name on its lines\n"
        "    A suppression comment silences nothing.\n"
        "\n"
    )


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="names that other systems refuse")
def test_a_command_that_is_shown_can_be_pasted_whatever_the_file_is_called(tmp_path: Path) -> None:
    name = "utils/$(touch hacked);`x` [a]*\n\x1b[1m_doctest.txt"
    make_repository(tmp_path, {**LIBRARY, name: "x\n"})

    said = mergeready(tmp_path, "explain", f"{name}:1")

    assert said.code == 0
    shown = said.out.partition("to accept it:")[2].splitlines()[0].strip()
    words = shlex.split(shown)
    assert words[:-1] == ["mergeready", "baseline", "accept", "doctest-list", "--path"]
    assert words[-1] == "utils/$(touch hacked);`x` [[]a][*]\\n\\x1b[[]1m_doctest.txt"
    assert {char for char in said.out if ord(char) < 32} == {"\n"}
