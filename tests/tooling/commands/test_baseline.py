"""`mergeready baseline` as it is typed: accept, prune, and what is new again."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.checks.library import DRIFTED, LIBRARY, LIST, SHUFFLED
from tests.checks.repositories import commit_all, git, make_repository, write
from tests.tooling.command_line import Said, mergeready, typed
from tooling.errors import Exit

FILE = ".mergeready-baseline.json"
RULES = ("copied-code", "doctest-list")
BOTH = {**DRIFTED, LIST: SHUFFLED[LIST]}
DRIFT = "copied-code/body src/lib/b.py: `scale` differs from `lib.a.scale`"
ORDER = f"doctest-list/order {LIST}: 'src/lib/a.py' stands after 'src/lib/b.py'"
GONE = f"doctest-list/missing {LIST}: 'gone.py' does not exist"


def baseline(folder: Path, action: str, *arguments: str) -> Said:
    return mergeready(folder, "baseline", action, *RULES, *arguments)


def check(folder: Path) -> str:
    """The last line of a check: the summary."""
    return mergeready(folder, "check", *RULES).out.splitlines()[-1]


def accepted(folder: Path) -> list[tuple[str, str]]:
    rows = json.loads((folder / FILE).read_text(encoding="utf-8"))["accepted"]
    return [(row["code"], row["path"]) for row in rows]


def test_what_is_found_is_accepted_and_then_found_no_more(tmp_path: Path) -> None:
    make_repository(tmp_path, BOTH)

    assert baseline(tmp_path, "accept") == (
        Exit.DONE,
        f"+ {DRIFT}\n+ {GONE}\n+ {ORDER}\n{FILE} holds 3 acceptances (3 new, 0 dropped)\n",
        "",
    )
    assert check(tmp_path).startswith("0 findings, 3 accepted; ")
    assert mergeready(tmp_path, "check", *RULES).code == Exit.DONE
    assert baseline(tmp_path, "accept") == (Exit.DONE, f"{FILE} holds 3 acceptances (0 new, 0 dropped)\n", "")


def test_a_dry_run_says_what_would_be_written_and_writes_nothing(tmp_path: Path) -> None:
    make_repository(tmp_path, DRIFTED)

    assert baseline(tmp_path, "accept", "--dry-run").out == (
        f"+ {DRIFT}\n{FILE} would hold 1 acceptances (1 new, 0 dropped)\n"
    )
    assert git(tmp_path, "status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("copied-code",), [DRIFT]),
        (("--path", "src/*"), [DRIFT]),
        (("--path", "utils/*", "--path", "docs/*"), [GONE, ORDER]),
        (("doctest-list", "--path", "src/*"), []),
    ],
)
def test_only_some_rules_or_some_files_can_be_accepted(
    tmp_path: Path, arguments: tuple[str, ...], expected: list[str]
) -> None:
    make_repository(tmp_path, BOTH)

    said = mergeready(tmp_path, "baseline", "accept", *arguments)

    assert said.out.splitlines()[:-1] == [f"+ {line}" for line in expected]


def test_a_divergence_that_grows_is_a_finding_again_and_the_old_one_can_be_pruned(tmp_path: Path) -> None:
    make_repository(tmp_path, DRIFTED)
    baseline(tmp_path, "accept")
    write(tmp_path, {"src/lib/b.py": DRIFTED["src/lib/b.py"].replace("+ 2", "+ 3")})

    said = mergeready(tmp_path, "check", *RULES)
    assert said.code == Exit.FINDINGS
    assert said.out.splitlines()[2] == (
        "note: the baseline accepts copied-code/body in src/lib/b.py, which is no longer found"
    )
    assert baseline(tmp_path, "prune").out == f"- {DRIFT}\n{FILE} holds 0 acceptances (0 new, 1 dropped)\n"
    assert baseline(tmp_path, "accept").out == f"+ {DRIFT}\n{FILE} holds 1 acceptances (1 new, 0 dropped)\n"
    assert check(tmp_path).startswith("0 findings, 1 accepted; ")


def test_pruning_forgets_what_is_mended_and_keeps_the_rest(tmp_path: Path) -> None:
    make_repository(tmp_path, BOTH)
    baseline(tmp_path, "accept")
    write(tmp_path, {"src/lib/b.py": LIBRARY["src/lib/b.py"], LIST: "src/lib/a.py\ngone.py\nsrc/lib/b.py\n"})

    assert mergeready(tmp_path, "baseline", "prune", "copied-code").out.startswith(f"- {DRIFT}\n")
    assert accepted(tmp_path) == [("doctest-list/missing", LIST), ("doctest-list/order", LIST)]
    assert baseline(tmp_path, "prune", "--path", "src/*").out.endswith("(0 new, 0 dropped)\n")
    assert accepted(tmp_path) == [("doctest-list/missing", LIST), ("doctest-list/order", LIST)]
    baseline(tmp_path, "prune")
    assert accepted(tmp_path) == [("doctest-list/missing", LIST)]


def test_a_fix_leaves_what_is_accepted_alone(tmp_path: Path) -> None:
    make_repository(tmp_path, DRIFTED)
    baseline(tmp_path, "accept")

    assert mergeready(tmp_path, "check", *RULES, "--fix").err == ""
    assert (tmp_path / "src/lib/b.py").read_text(encoding="utf-8") == DRIFTED["src/lib/b.py"]


def test_findings_about_the_run_and_about_comments_are_not_accepted(tmp_path: Path) -> None:
    comment = {"src/lib/z.py": "# mergeready: skip[copied-code]\n"}
    make_repository(tmp_path, {**LIBRARY, **comment, "mergeready.toml": "minimum.doc-toc = 1\n"})

    assert baseline(tmp_path, "accept").out == f"{FILE} holds 0 acceptances (0 new, 0 dropped)\n"
    assert not (tmp_path / FILE).exists()


def test_the_baseline_lies_where_the_settings_say_and_keeps_its_mode(tmp_path: Path) -> None:
    make_repository(tmp_path, {**BOTH, "mergeready.toml": 'baseline = "ci/accepted.json"\n'})

    assert mergeready(tmp_path, "baseline", "accept", "copied-code").out.endswith(
        "ci/accepted.json holds 1 acceptances (1 new, 0 dropped)\n"
    )
    (tmp_path / "ci/accepted.json").chmod(0o600)
    commit_all(tmp_path)
    baseline(tmp_path, "accept")
    assert (tmp_path / "ci/accepted.json").stat().st_mode & 0o777 == 0o600 or sys.platform == "win32"
    assert check(tmp_path).startswith("0 findings, 3 accepted; ")


def test_a_byte_order_mark_and_windows_line_ends_in_the_file_are_no_fault(tmp_path: Path) -> None:
    make_repository(tmp_path, BOTH)
    mergeready(tmp_path, "baseline", "accept", "copied-code")
    content = (tmp_path / FILE).read_bytes()
    write(tmp_path, {FILE: b"\xef\xbb\xbf" + content.replace(b"\n", b"\r\n")})

    assert baseline(tmp_path, "accept").out.endswith("holds 3 acceptances (2 new, 0 dropped)\n")
    assert check(tmp_path).startswith("0 findings, 3 accepted; ")


@pytest.mark.parametrize("action", ["accept", "prune"])
def test_a_broken_baseline_is_one_message_and_stays_as_it_is(tmp_path: Path, action: str) -> None:
    make_repository(tmp_path, {**DRIFTED, FILE: "{"})

    assert baseline(tmp_path, action) == (
        Exit.USAGE,
        "",
        (
            f"error: {FILE} is not a baseline of schema 1\n"
            "hint: restore it from git, or delete it and write it anew with: mergeready baseline accept\n"
        ),
    )
    assert (tmp_path / FILE).read_text(encoding="utf-8") == "{"


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
def test_a_baseline_that_may_not_be_read_or_written_is_one_message(tmp_path: Path) -> None:
    make_repository(tmp_path, DRIFTED)
    baseline(tmp_path, "accept")
    write(tmp_path, {LIST: SHUFFLED[LIST]})
    for mode, verb in ((0o000, "read"), (0o444, "write")):
        (tmp_path / FILE).chmod(mode)
        said = typed(tmp_path, "baseline", "accept", *RULES, bound=True)
        assert (said.code, said.err.splitlines()[0]) == (
            Exit.ENVIRONMENT,
            f"error: cannot {verb} {FILE}: Permission denied",
        )
    assert accepted(tmp_path) == [("copied-code/body", "src/lib/b.py")]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="names that other systems refuse")
def test_names_that_would_spoof_a_line_are_shown_escaped(tmp_path: Path) -> None:
    make_repository(tmp_path, {**LIBRARY, "utils/a\n+ b\x1b[1m_doctest.txt": "x\n"})

    said = baseline(tmp_path, "accept")

    assert said.out == (
        "+ doctest-list/missing utils/a\\n+ b\\x1b[1m_doctest.txt: 'x' does not exist\n"
        f"{FILE} holds 1 acceptances (1 new, 0 dropped)\n"
    )
    assert check(tmp_path).startswith("0 findings, 1 accepted; ")
