"""`mergeready check` as it is typed: rules, reports, statistics and settings in real repositories."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from checks.profiles import build
from checks.settings import RULE_NAMES
from tests.checks.library import DRIFTED, LIBRARY, LIST, SHUFFLED
from tests.checks.repositories import git, make_repository, write
from tests.tooling.command_line import Said, mergeready, typed
from tooling.errors import Exit

RULES = ("copied-code", "doctest-list")


BODY = "src/lib/b.py:3:1: copied-code/body: `scale` differs from `lib.a.scale` [fixable]\n"


WHY = "    src/lib/a.py:2 has `return states * 2`, this has `return states + 2`\n"


def looked(subjects: int, rules: int = 2) -> str:
    return f"; {rules} rules looked at {subjects} things in 0.00 s\n"


def check(folder: Path, *arguments: str) -> Said:
    """Two rules are enough, and their reports stay short."""
    return mergeready(folder, "check", *RULES, *arguments)


def test_a_clean_checkout_is_one_line_and_exit_code_0(tmp_path: Path) -> None:
    make_repository(tmp_path, LIBRARY)

    assert check(tmp_path) == (Exit.DONE, f"0 findings{looked(3)}", "")


def test_findings_are_listed_with_their_reasons_and_exit_code_1(tmp_path: Path) -> None:
    make_repository(tmp_path, {**DRIFTED, LIST: SHUFFLED[LIST]})

    assert check(tmp_path) == (
        Exit.FINDINGS,
        BODY
        + WHY
        + f"{LIST}:2:1: doctest-list/order: 'src/lib/a.py' stands after 'src/lib/b.py' [fixable]\n"
        + "    lines are sorted by their paths, compared as text\n"
        + f"{LIST}:3:1: doctest-list/missing: 'gone.py' does not exist\n"
        + "    neither a file nor a folder of this tree, from its root, has this path\n"
        + f"3 findings (2 fixable with --fix){looked(4)}",
        "",
    )


def test_a_second_run_says_the_same_and_so_does_one_without_a_cache_or_with_several_processes(tmp_path: Path) -> None:
    make_repository(tmp_path, SHUFFLED)
    first = check(tmp_path)

    assert [check(tmp_path), check(tmp_path, "--no-cache"), check(tmp_path, "--jobs", "3")] == [first] * 3
    assert check(tmp_path / "src", "--root", "..").out == first.out


@pytest.mark.parametrize(
    ("arguments", "rules"),
    [
        ((), RULE_NAMES),
        (("doc-toc", "copied-code"), ("copied-code", "doc-toc")),
        (("--only", "doc-toc", "--only", "lazy-inits"), ("doc-toc", "lazy-inits")),
        (("--skip", "copied-code"), tuple(name for name in RULE_NAMES if name != "copied-code")),
        (("doc-toc", "copied-code", "--skip", "doc-toc"), ("copied-code",)),
    ],
)
def test_rules_are_chosen_by_name(tmp_path: Path, arguments: tuple[str, ...], rules: tuple[str, ...]) -> None:
    make_repository(tmp_path, LIBRARY)

    said = mergeready(tmp_path, "check", *arguments, "--format", "json")

    assert tuple(row["rule"] for row in json.loads(said.out)["rules"]) == rules


def test_statistics_follow_the_report_or_stand_beside_it(tmp_path: Path) -> None:
    make_repository(tmp_path, DRIFTED)
    check(tmp_path)

    said = check(tmp_path, "--statistics")
    beside = check(tmp_path, "--statistics", "--format", "json")

    table = (
        "rule                    subjects  findings   seconds\n"
        "copied-code                    1         1    cached\n"
        "doctest-list                   2         0    cached\n"
        "\n"
        "code                                        findings\n"
        "copied-code/body                                   1\n"
    )
    assert said == (Exit.FINDINGS, f"{BODY}{WHY}1 finding (1 fixable with --fix){looked(3)}{table}", "")
    assert (json.loads(beside.out)["schema"], beside.err) == (1, table)


def test_every_format_can_be_written_to_a_file_and_the_summary_stays(tmp_path: Path) -> None:
    make_repository(tmp_path / "repo", DRIFTED)
    for style, begins in (
        ("human", BODY),
        ("json", "{"),
        ("github", "::error file=src/lib/b.py,line=3"),
        ("sarif", "{"),
    ):
        said = check(tmp_path / "repo", "--format", style, "--output", "../report")
        assert said == (
            Exit.FINDINGS,
            f"1 finding (1 fixable with --fix){looked(3).rstrip()}; written to ../report\n",
            "",
        )
        assert (tmp_path / "report").read_text(encoding="utf-8").startswith(begins)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["repo", "report"]


@pytest.mark.skipif(sys.platform == "win32", reason="devices, pipes and links of POSIX")
def test_a_report_goes_into_a_device_or_through_a_link_and_replaces_neither(tmp_path: Path) -> None:
    make_repository(tmp_path / "repo", LIBRARY)
    write(tmp_path, {"real": "old"})
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "null").symlink_to("/dev/null")

    for name in ("link", "null"):
        assert check(tmp_path / "repo", "--output", f"../{name}").code == Exit.DONE
    said = typed(tmp_path / "repo", "check", *RULES, "--format", "github", "--output", "/dev/stdout")

    assert ((tmp_path / "link").readlink(), (tmp_path / "null").readlink()) == (Path("real"), Path("/dev/null"))
    assert (tmp_path / "real").read_text(encoding="utf-8").startswith("0 findings; 2 rules")
    assert said.out.count("::notice title=mergeready::0 findings") == 1
    assert not Path("/dev/null").is_file()


@pytest.mark.parametrize(("path", "why"), [("no/such/folder", "No such file or directory"), (".", "Is a directory")])
def test_a_report_that_cannot_be_written_is_one_message(tmp_path: Path, path: str, why: str) -> None:
    make_repository(tmp_path, LIBRARY)

    assert check(tmp_path, "--output", path) == (Exit.ENVIRONMENT, "", f"error: cannot write {path}: {why}\n")
    assert git(tmp_path, "status", "--porcelain") == ""


def test_the_settings_in_force_are_shown_whole(tmp_path: Path) -> None:
    make_repository(
        tmp_path,
        {
            "src/diffusers/__init__.py": "",
            "tests/a.py": "",
            "pyproject.toml": '[tool.mergeready]\nskip = ["doc-toc"]\nrules.doctest-list.sorted = false\n',
        },
    )
    profile = build("diffusers", {"diffusers": "src/diffusers", "tests": "tests"})._asdict()

    said = mergeready(tmp_path, "check", "--show-settings")

    assert (said.code, said.err) == (Exit.DONE, "")
    assert json.loads(said.out) == {
        "profile": json.loads(json.dumps(profile)),
        "select": [],
        "skip": ["doc-toc"],
        "exclude": [],
        "baseline": ".mergeready-baseline.json",
        "minimum": {},
        "options": {"doctest-list": {"sorted": False}},
        "source": "pyproject.toml",
    }


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            {"mergeready.toml": "a = \n"},
            "error: mergeready.toml is not valid TOML: Invalid value (at line 1, column 5)\n",
        ),
        (
            {"pyproject.toml": "[tool]\nmergeready = 1\n"},
            "error: pyproject.toml: tool.mergeready must be a table, not 1\n",
        ),
        (
            {"mergeready.toml": 'skip = ["doc-tok"]\n'},
            "error: mergeready.toml: skip has no 'doc-tok'\nhint: did you mean 'doc-toc'?\n",
        ),
        (
            {".mergeready-baseline.json": "<<<<<<< HEAD\n"},
            (
                "error: .mergeready-baseline.json is not a baseline of schema 1\n"
                "hint: restore it from git, or delete it and write it anew with: mergeready baseline accept\n"
            ),
        ),
    ],
)
def test_wrong_settings_are_one_message_and_exit_code_2(tmp_path: Path, files: dict[str, str], message: str) -> None:
    make_repository(tmp_path, {**LIBRARY, **files})

    assert check(tmp_path) == (Exit.USAGE, "", message)
    assert check(tmp_path, "--fix") == (Exit.USAGE, "", message)
