"""`mergeready check --changed` and `--merge-base-check`: what a change caused, and what merging it would give."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checks.baseline import render
from tests.checks.library import DRIFTED, LIBRARY, LIST, SCALE, SHUFFLED, copy_of
from tests.checks.repositories import commit_all, contents, git, make_repository, write
from tests.tooling.command_line import mergeready
from tooling.errors import Exit

OTHER = SCALE.replace("*", "+")
OLD = {**LIBRARY, "src/lib/old.py": copy_of("a", OTHER)}
"""One copy had drifted before anybody changed anything."""
OLD_FINDING = "src/lib/old.py:3 copied-code/body"


def branch_of(tmp_path: Path, files: dict[str, str]) -> Path:
    """A clone of a library on a branch of its own, without a local trunk."""
    make_repository(tmp_path / "origin", files)
    git(tmp_path, "clone", "--quiet", str(tmp_path / "origin"), "clone")
    git(tmp_path / "clone", "checkout", "--quiet", "-b", "mine")
    git(tmp_path / "clone", "branch", "--quiet", "-D", "main")
    return tmp_path / "clone"


def found(folder: Path, *arguments: str) -> list[str]:
    """The place and code of every finding that is reported."""
    said = mergeready(folder, "check", "copied-code", "doctest-list", "--format", "json", *arguments)
    rows = [row for row in json.loads(said.out)["findings"] if not row["suppressed"]]
    assert (said.code, said.err) == (Exit.FINDINGS if rows else Exit.DONE, "")
    return [f"{row['path']}:{row['line']} {row['code']}" for row in rows]


def test_what_was_wrong_before_and_elsewhere_is_not_reported(tmp_path: Path) -> None:
    clone = branch_of(tmp_path, OLD)
    write(clone, {"src/lib/a.py": f"# A comment.\n{SCALE}"})

    assert found(clone) == [OLD_FINDING]
    assert found(clone, "--changed") == []


def test_what_is_wrong_in_a_changed_file_is_reported_old_or_new(tmp_path: Path) -> None:
    clone = branch_of(tmp_path, OLD)
    write(clone, {"src/lib/old.py": f"# A comment.\n{OLD['src/lib/old.py']}"})

    assert found(clone, "--changed") == ["src/lib/old.py:4 copied-code/body"]


@pytest.mark.parametrize("state", ["committed", "staged", "unstaged"])
def test_a_source_that_changes_without_its_copies_is_reported_at_the_copies(tmp_path: Path, state: str) -> None:
    copies = {f"src/lib/copy{n}.py": copy_of("a") for n in range(5)}
    clone = branch_of(tmp_path, {**OLD, **copies})
    write(clone, {"src/lib/a.py": SCALE.replace("*", "%")})
    if state == "staged":
        git(clone, "add", "--all")
    if state == "committed":
        commit_all(clone)

    # The copy that had drifted before differs in another way now, so that is of this change too.
    assert found(clone, "--changed") == [
        *(f"src/lib/{name}.py:3 copied-code/body" for name in ("b", *(f"copy{n}" for n in range(5)), "old"))
    ]


def test_a_file_that_git_does_not_know_yet_counts(tmp_path: Path) -> None:
    clone = branch_of(tmp_path, OLD)
    write(clone, {"src/lib/new.py": copy_of("a", OTHER), "src/lib/same.py": copy_of("a")})

    assert found(clone, "--changed") == ["src/lib/new.py:3 copied-code/body"]


def test_a_file_that_is_deleted_is_missed_where_it_was_named(tmp_path: Path) -> None:
    clone = branch_of(tmp_path, OLD)
    (clone / "src/lib/b.py").unlink()

    assert found(clone, "--changed") == [f"{LIST}:2 doctest-list/missing"]


def test_a_change_that_takes_an_acceptance_away_causes_the_finding(tmp_path: Path) -> None:
    drifted = {**LIBRARY, "src/lib/b.py": DRIFTED["src/lib/b.py"]}
    make_repository(tmp_path / "seed", drifted)
    mergeready(tmp_path / "seed", "baseline", "accept")
    accepted = (tmp_path / "seed" / ".mergeready-baseline.json").read_text(encoding="utf-8")
    clone = branch_of(tmp_path, {**drifted, ".mergeready-baseline.json": accepted})

    assert found(clone, "--changed") == []
    write(clone, {".mergeready-baseline.json": render([])})
    assert found(clone, "--changed") == ["src/lib/b.py:3 copied-code/body"]


def test_a_change_that_mends_broken_settings_is_judged_whole_and_says_so(tmp_path: Path) -> None:
    clone = branch_of(tmp_path, {**OLD, "mergeready.toml": "skp = 1\n"})
    write(clone, {"mergeready.toml": ""})

    said = mergeready(clone, "check", "copied-code", "--changed")

    assert said.code == Exit.FINDINGS
    assert said.out.splitlines()[0].startswith("src/lib/old.py:3:1: copied-code/body: ")
    assert said.out.splitlines()[2] == (
        "note: the base cannot be judged, so all findings are reported: mergeready.toml: the top level has no 'skp'"
    )


def test_a_fix_of_a_change_mends_what_the_change_caused_and_nothing_else(tmp_path: Path) -> None:
    clone = branch_of(tmp_path, {**SHUFFLED, "src/lib/c.py": copy_of("a")})
    write(clone, {"src/lib/a.py": OTHER})

    said = mergeready(clone, "check", "--changed", "--fix", "--skip", "doc-toc")

    assert (said.code, said.err) == (Exit.DONE, "fixed src/lib/b.py\nfixed src/lib/c.py\n")
    assert contents(clone)[LIST].decode() == SHUFFLED[LIST]


@pytest.mark.parametrize("base", ["origin/main", "main", "HEAD~2", "refs/remotes/origin/main"])
def test_the_base_can_be_named(tmp_path: Path, base: str) -> None:
    clone = branch_of(tmp_path, OLD)
    for name in ("one", "two"):
        write(clone, {f"src/lib/{name}.py": copy_of("a", OTHER)})
        commit_all(clone)

    expected = [f"src/lib/{name}.py:3 copied-code/body" for name in ("one", "two")]
    assert found(clone, "--changed", "--base", base) == expected
    assert found(clone, "--changed", "--base", "HEAD~1") == expected[1:]


def test_a_shallow_clone_works_or_says_what_it_lacks(tmp_path: Path) -> None:
    origin = make_repository(tmp_path / "origin", OLD)
    git(origin, "checkout", "--quiet", "-b", "topic")
    write(origin, {"src/lib/new.py": copy_of("a", OTHER)})
    commit_all(origin)
    git(origin, "checkout", "--quiet", "main")
    git(tmp_path, "clone", "--quiet", "--depth=1", "--branch=topic", f"file://{origin}", "clone")
    clone = tmp_path / "clone"

    said = mergeready(clone, "check", "--changed")
    assert (said.code, said.out) == (Exit.ENVIRONMENT, "")
    assert said.err == (
        "error: nothing tells where this change started: no remote branch, no main, no master\n"
        "hint: this clone is shallow; "
        "in GitHub Actions check out with fetch-depth: 0, elsewhere: git fetch --unshallow\n"
    )
    git(clone, "fetch", "--quiet", "--depth=2", "origin", "topic", "main:refs/remotes/origin/main")
    git(clone, "checkout", "--quiet", "--detach", "FETCH_HEAD")
    assert found(clone, "--changed") == ["src/lib/new.py:3 copied-code/body"]


def test_a_pull_request_in_ci_is_compared_with_its_base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    origin = make_repository(tmp_path / "origin", OLD)
    git(origin, "checkout", "--quiet", "-b", "topic")
    write(origin, {"src/lib/new.py": copy_of("a", OTHER)})
    commit_all(origin)
    git(origin, "checkout", "--quiet", "--detach", "main")
    git(origin, "merge", "--quiet", "--no-ff", "--no-edit", "topic")
    git(origin, "update-ref", "refs/pull/1/merge", "HEAD")
    clone = tmp_path / "clone"
    git(tmp_path, "init", "--quiet", "clone")
    git(clone, "fetch", "--quiet", "--depth=2", f"file://{origin}", "refs/pull/1/merge")
    git(clone, "checkout", "--quiet", "--detach", "FETCH_HEAD")
    monkeypatch.setenv("GITHUB_BASE_REF", "main")

    assert found(clone, "--changed") == ["src/lib/new.py:3 copied-code/body"]
    assert found(clone, "--merge-base-check") == ["src/lib/new.py:3 copied-code/body", OLD_FINDING]


def test_two_clean_branches_whose_merge_is_not_are_found_before_they_are_merged(tmp_path: Path) -> None:
    clone = branch_of(tmp_path, LIBRARY)
    write(clone, {"src/lib/c.py": copy_of("a")})
    commit_all(clone)
    write(tmp_path / "origin", {"src/lib/a.py": OTHER, "src/lib/b.py": copy_of("a", OTHER)})
    commit_all(tmp_path / "origin")
    git(clone, "fetch", "--quiet")

    assert found(clone) == []
    assert found(tmp_path / "origin") == []
    assert found(clone, "--merge-base-check") == ["src/lib/c.py:3 copied-code/body"]
    assert found(clone, "--merge-base-check", "--base", "main") == ["src/lib/c.py:3 copied-code/body"]
    assert git(clone, "status", "--porcelain") == ""


def test_what_is_not_committed_is_no_part_of_a_merge(tmp_path: Path) -> None:
    clone = branch_of(tmp_path, LIBRARY)
    write(clone, {"src/lib/new.py": copy_of("a", OTHER), "src/lib/b.py": copy_of("a", OTHER)})

    assert found(clone, "--merge-base-check") == []


def test_files_that_conflict_are_findings_of_a_merge(tmp_path: Path) -> None:
    clone = branch_of(tmp_path, LIBRARY)
    write(clone, {"README.md": "mine\n", LIST: f"# mine\n{LIBRARY[LIST]}"})
    commit_all(clone)
    write(tmp_path / "origin", {"README.md": "theirs\n", LIST: f"# theirs\n{LIBRARY[LIST]}"})
    commit_all(tmp_path / "origin")
    git(clone, "fetch", "--quiet")

    codes = [line for line in found(clone, "--merge-base-check") if line.endswith("run/conflict")]
    assert codes == ["README.md:1 run/conflict", f"{LIST}:1 run/conflict"]


def test_without_anything_to_compare_with_each_says_how_to_name_it(tmp_path: Path) -> None:
    make_repository(tmp_path, LIBRARY)
    git(tmp_path, "branch", "--quiet", "--move", "mine")

    assert mergeready(tmp_path, "check", "--changed")[::2] == (
        Exit.ENVIRONMENT,
        (
            "error: nothing tells where this change started: no remote branch, no main, no master\n"
            "hint: name it with --base REF, or: git fetch origin\n"
        ),
    )
    assert mergeready(tmp_path, "check", "--merge-base-check")[::2] == (
        Exit.ENVIRONMENT,
        "error: there is no remote branch to merge into\nhint: name one with --base REF\n",
    )
    assert mergeready(tmp_path, "check", "--changed", "--base", "no\nwhere")[::2] == (
        Exit.USAGE,
        "error: there is no commit 'no\\nwhere' here\nhint: fetch it, or see: git branch --all\n",
    )
