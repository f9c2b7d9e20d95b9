"""The items that judge the commits of a branch and its place, not what is in its files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tooling.pr.branches import Branch, brief


@pytest.fixture
def branch(tmp_path: Path) -> Branch:
    return Branch(tmp_path / "lib")


def test_work_on_the_trunk_itself_is_a_warning(branch: Branch) -> None:
    branch.git("switch", "--quiet", "main")
    branch.git("update-ref", "refs/remotes/origin/main", "HEAD")
    branch.commit("Work", {"a.txt": "a\n"})
    assert brief(branch.decide("branch-name")) == ("warn", "branch-name/trunk", ("main",))

    branch.git("switch", "--quiet", "--create", "topic")
    assert brief(branch.decide("branch-name")) == ("pass", "branch-name/own", ("topic",))

    branch.git("checkout", "--quiet", "--detach")
    assert brief(branch.decide("branch-name")) == ("skip", "branch-name/unknown-name", ())


def test_merges_are_named_and_those_that_change_more_than_they_merge_are_counted(branch: Branch) -> None:
    branch.commit("Edit", {"a.txt": "a\n"})
    branch.git("switch", "--quiet", "main")
    branch.commit("Go on", {"b.txt": "b\n"})
    branch.git("switch", "--quiet", "work")
    branch.git("merge", "--quiet", "--no-commit", "main")
    branch.commit("Merge the trunk", {"evil.txt": "e\n"})

    decision = branch.decide("merge-commits")

    assert brief(decision) == ("warn", "merge-commits/found", ("Merge the trunk",))
    assert decision.message == "merges: 1 of 2 commits; with changes that no parent has: 1"


def test_commits_that_wait_to_be_squashed_are_named(branch: Branch) -> None:
    branch.commit("Fix it", {"a.txt": "a\n"})
    branch.commit("fixup! Fix it", {"a.txt": "b\n"})

    assert brief(branch.decide("fixup-commits")) == ("warn", "fixup-commits/found", ("fixup! Fix it",))


def test_a_branch_may_lack_as_many_commits_of_its_base_as_the_settings_say(branch: Branch) -> None:
    branch.commit("Work", {"mergeready.toml": "[pr.behind]\nlimit = 1\n"})
    branch.git("switch", "--quiet", "main")
    branch.commit("Go on", {"b.txt": "1\n"})
    branch.git("switch", "--quiet", "work")
    assert branch.decide("behind").code == "behind/near"

    branch.git("switch", "--quiet", "main")
    branch.commit("Go on", {"b.txt": "2\n"})
    branch.git("switch", "--quiet", "work")
    assert branch.decide("behind").message == "commits behind its base: 2 (allowed: 1)"


def test_conflict_markers_are_found_and_headings_of_equal_signs_are_not(branch: Branch) -> None:
    conflict = "a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> topic\n"
    branch.commit("Merge badly", {"a.py": conflict, "heading.rst": "Title\n=======\n\n>>> code\n"})

    assert brief(branch.decide("conflict-markers")) == ("fail", "conflict-markers/found", ("a.py:2 conflict marker",))


def test_markers_that_the_base_has_already_are_not_the_branch_s(tmp_path: Path) -> None:
    conflict = "<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> topic\n"
    branch = Branch(tmp_path / "lib", {"docs/conflicts.md": conflict})
    branch.commit("Add a sentence", {"docs/conflicts.md": f"How it looks:\n{conflict}"})

    assert branch.decide("conflict-markers").code == "conflict-markers/none"


def test_a_submodule_that_moves_is_a_failure(tmp_path: Path) -> None:
    inner = Branch(tmp_path / "inner", {"a.txt": "a\n"})
    branch = Branch(tmp_path / "lib")
    branch.git("submodule", "--quiet", "add", str(inner.folder), "third_party/inner")
    branch.git("commit", "--quiet", "--message", "Add a submodule")
    pointer = branch.git("rev-parse", "HEAD:third_party/inner")[:12]

    assert brief(branch.decide("submodules")) == (
        "fail",
        "submodules/moved",
        (f"third_party/inner:0 nothing to {pointer}",),
    )


def test_the_user_s_configuration_of_submodules_and_diffs_has_no_say(branch: Branch) -> None:
    branch.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},third_party/inner")
    branch.git("commit", "--quiet", "--message", "Point at something")
    for key, value in {
        "diff.ignoreSubmodules": "all",
        "diff.renames": "false",
        "color.ui": "always",
        "diff.external": "false",
    }.items():
        branch.git("config", key, value)

    assert branch.decide("submodules").verdict == "fail"


def test_a_message_is_read_in_the_encoding_it_declares(branch: Branch) -> None:
    branch.git("config", "i18n.commitEncoding", "latin-1")
    (branch.folder / "message").write_bytes("fixup! Grüße".encode("latin-1"))
    branch.git("commit", "--quiet", "--allow-empty", "--file", "message")

    assert brief(branch.decide("fixup-commits"))[2] == ("fixup! Grüße",)


def test_a_commit_in_an_unknown_encoding_is_read_all_the_same(branch: Branch) -> None:
    branch.git("config", "i18n.commitEncoding", "no-such-encoding")
    branch.commit("squash! Plain", {"a.txt": "a\n"})

    assert brief(branch.decide("fixup-commits"))[2] == ("squash! Plain",)
