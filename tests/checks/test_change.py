"""What merging gives, which files a change touches, and which findings it caused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.change import caused, changed_paths, merged_tree, newest_base
from checks.errors import CheckError
from checks.model import Finding
from checks.tree import MemoryTree
from tests.checks.repositories import commit_all, git, make_repository, write


def commit(folder: Path, name: str) -> str:
    write(folder, {name: f"{name}\n"})
    return commit_all(folder, name)


def tip(folder: Path, name: str = "HEAD") -> str:
    return git(folder, "rev-parse", name)


def test_a_merge_that_is_clean_has_a_tree_and_one_that_is_not_names_its_conflicts(tmp_path: Path) -> None:
    repo = make_repository(tmp_path, {"a": "base\n", "b\nb": "base\n", "c": "base\n"})
    git(repo, "checkout", "--quiet", "-b", "topic")
    write(repo, {"a": "topic\n", "b\nb": "topic\n"})
    commit_all(repo)
    git(repo, "branch", "--quiet", "clean", "main")
    git(repo, "checkout", "--quiet", "clean")
    write(repo, {"c": "clean\n"})
    commit_all(repo)
    git(repo, "checkout", "--quiet", "main")
    write(repo, {"a": "main\n", "b\nb": "main\n"})
    commit_all(repo)

    assert merged_tree(str(repo), tip(repo, "topic"))[1] == ("a", "b\nb")
    tree, conflicts = merged_tree(str(repo), tip(repo, "clean"))
    assert conflicts == ()
    assert git(repo, "show", f"{tree}:a") + git(repo, "show", f"{tree}:c") == "mainclean"


def test_a_merge_that_git_refuses_is_one_message(tmp_path: Path) -> None:
    repo = make_repository(tmp_path, {"a": "a\n"})
    git(repo, "checkout", "--quiet", "--orphan", "fresh")
    commit(repo, "b")

    with pytest.raises(CheckError, match=r"^git cannot try the merge: fatal: refusing to merge unrelated histories$"):
        merged_tree(str(repo), tip(repo, "main"))


def test_without_a_remote_there_is_no_newest_base(tmp_path: Path) -> None:
    repo = make_repository(tmp_path, {"a": "a\n"})

    with pytest.raises(CheckError, match=r"^there is no remote branch to merge into$"):
        newest_base(str(repo))
    with pytest.raises(CheckError, match=r"^there is no commit 'x' here$"):
        newest_base(str(repo), "x")
    assert newest_base(str(repo), "main") == tip(repo)


def test_files_that_were_added_edited_or_deleted_are_changed() -> None:
    base, present = MemoryTree({"a": b"1", "b": b"1", "gone": b""}), MemoryTree({"a": b"1", "b": b"2", "new": b""})

    assert changed_paths(base, present) == {"b", "gone", "new"}


HERE, ELSEWHERE = Finding("a.py", 1, "x/y", "old", accepted="1"), Finding("b.py", 1, "x/y", "old", accepted="1")


@pytest.mark.parametrize(
    ("finding", "at_base", "expected"),
    [
        (HERE, [HERE], True),
        (ELSEWHERE, [ELSEWHERE], False),
        (ELSEWHERE._replace(line=9, reason="words", anchors=(1,)), [ELSEWHERE], False),
        (ELSEWHERE, [], True),
        (ELSEWHERE, [HERE], True),
        (ELSEWHERE._replace(accepted="2"), [ELSEWHERE], True),
        (ELSEWHERE._replace(message="new"), [ELSEWHERE], True),
        (ELSEWHERE._replace(code="x/z"), [ELSEWHERE], True),
    ],
)
def test_a_finding_is_caused_by_a_change_of_its_file_or_if_the_base_did_not_have_it(
    finding: Finding, at_base: list[Finding], *, expected: bool
) -> None:
    assert caused([finding], at_base, frozenset({"a.py"})) == ((finding,) if expected else ())


def found(path: str, line: int, message: str) -> Finding:
    return Finding(path, line, "x/y", message)


FINDINGS = st.lists(st.builds(found, st.sampled_from("abc"), st.integers(1, 3), st.sampled_from("mn")))


@given(FINDINGS, FINDINGS, st.frozensets(st.sampled_from("abc")))
def test_of_equal_findings_as_many_are_caused_as_there_are_more_than_before(
    findings: list[Finding], at_base: list[Finding], changed: frozenset[str]
) -> None:
    kept = caused(findings, at_base, changed)

    for path in "abc":
        for message in "mn":
            now, before, left = (
                sum((each.path, each.message) == (path, message) for each in group)
                for group in (findings, at_base, kept)
            )
            assert left == (now if path in changed else max(0, now - before))
