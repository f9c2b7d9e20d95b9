"""Where a change started: in clones, forks, shallow clones and pull requests."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.change import find_base, newest_base
from checks.errors import CheckError
from tests.checks.repositories import commit_all, git, make_repository, write


def refusal(root: Path, base: str = "") -> tuple[str, str, bool]:
    with pytest.raises(CheckError) as caught:
        find_base(str(root), base)
    return str(caught.value), caught.value.hint, caught.value.environment


def clone_of(tmp_path: Path, *options: str) -> Path:
    """A clone of a repository whose trunk has three commits, `first` to `third` in files of these names."""
    origin = make_repository(tmp_path / "origin", {"first": "1\n"})
    for name in ("second", "third"):
        write(origin, {name: name})
        commit_all(origin, name)
    git(tmp_path, "clone", "--quiet", *options, f"file://{origin}", "clone")
    return tmp_path / "clone"


def commit(folder: Path, name: str) -> str:
    write(folder, {name: f"{name}\n"})
    return commit_all(folder, name)


def tip(folder: Path, name: str = "HEAD") -> str:
    return git(folder, "rev-parse", name)


def test_a_branch_started_where_it_left_the_remote_s_default_branch(tmp_path: Path) -> None:
    clone = clone_of(tmp_path)
    start = tip(clone)
    git(clone, "checkout", "--quiet", "-b", "mine")
    git(clone, "branch", "--quiet", "-D", "main")
    commit(clone, "work")

    assert find_base(str(clone)) == start
    commit(tmp_path / "origin", "fourth")
    git(clone, "fetch", "--quiet")
    assert find_base(str(clone)) == start
    git(clone, "merge", "--quiet", "--no-edit", "origin/main")
    assert find_base(str(clone)) == tip(tmp_path / "origin")


def test_the_remote_s_head_is_enough_and_so_is_any_usual_branch_of_it(tmp_path: Path) -> None:
    clone = clone_of(tmp_path)
    start = tip(clone)
    git(clone, "checkout", "--quiet", "-b", "mine")
    commit(clone, "work")

    git(clone, "remote", "set-head", "origin", "--delete")
    assert find_base(str(clone)) == start
    git(clone, "update-ref", "refs/remotes/origin/trunk", "refs/remotes/origin/main")
    git(clone, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
    git(clone, "update-ref", "-d", "refs/remotes/origin/main")
    assert find_base(str(clone)) == start


def test_upstream_goes_before_origin_which_is_a_fork(tmp_path: Path) -> None:
    clone = clone_of(tmp_path)
    commit(tmp_path / "origin", "fourth")
    git(clone, "remote", "add", "upstream", str(tmp_path / "origin"))
    git(clone, "fetch", "--quiet", "upstream")
    git(clone, "reset", "--quiet", "--hard", "upstream/main")

    assert find_base(str(clone)) == tip(tmp_path / "origin")
    assert newest_base(str(clone)) == tip(tmp_path / "origin")


def test_a_detached_head_has_a_start_too(tmp_path: Path) -> None:
    clone = clone_of(tmp_path)
    start = tip(clone)
    git(clone, "checkout", "--quiet", "--detach")
    commit(clone, "work")

    assert find_base(str(clone)) == start


def test_without_any_remote_the_local_trunk_is_the_base(tmp_path: Path) -> None:
    for name in ("main", "master"):
        repo = make_repository(tmp_path / name, {"a": "a\n"})
        git(repo, "branch", "--quiet", "--move", name)
        start = tip(repo)
        assert find_base(str(repo)) == start
        git(repo, "checkout", "--quiet", "-b", "mine")
        commit(repo, "work")
        assert find_base(str(repo)) == start


@pytest.mark.parametrize("name", ["origin/main", "main", "refs/remotes/origin/main", "HEAD~1", "third-tag"])
def test_the_base_may_be_named_as_git_names_it_or_as_the_remote_does(tmp_path: Path, name: str) -> None:
    clone = clone_of(tmp_path)
    start = tip(clone)
    git(clone, "tag", "third-tag")
    git(clone, "checkout", "--quiet", "-b", "mine")
    git(clone, "branch", "--quiet", "-D", "main")
    commit(clone, "work")

    assert find_base(str(clone), name) == start


@pytest.mark.parametrize("name", ["nowhere", "--output=x", "a b", "$(touch x)", "@{u}", "HEAD:first", ".."])
def test_a_base_that_is_no_commit_is_refused(tmp_path: Path, name: str) -> None:
    repo = make_repository(tmp_path, {"first": "1\n"})

    assert refusal(repo, name) == (f"there is no commit {name!r} here", "fetch it, or see: git branch --all", False)


def test_where_nothing_tells_the_start_the_message_says_how_to(tmp_path: Path) -> None:
    repo = make_repository(tmp_path, {"a": "a\n"})
    git(repo, "branch", "--quiet", "--move", "mine")

    assert refusal(repo) == (
        "nothing tells where this change started: no remote branch, no main, no master",
        "name it with --base REF, or: git fetch origin",
        True,
    )


def test_an_empty_repository_has_no_start(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")

    assert refusal(tmp_path)[0] == "nothing tells where this change started: no remote branch, no main, no master"


def test_a_repository_without_a_commit_of_its_own_has_nothing_to_compare(tmp_path: Path) -> None:
    clone = clone_of(tmp_path)
    git(clone, "checkout", "--quiet", "--orphan", "fresh")

    assert refusal(clone) == ("there is no commit yet to compare with", "", True)


def test_histories_that_never_met_are_refused(tmp_path: Path) -> None:
    clone = clone_of(tmp_path)
    git(clone, "checkout", "--quiet", "--orphan", "fresh")
    commit(clone, "work")

    assert refusal(clone) == (
        "HEAD shares no history with refs/remotes/origin/HEAD",
        "name another with --base REF",
        True,
    )


def test_a_shallow_clone_that_lacks_the_shared_history_says_so(tmp_path: Path) -> None:
    origin = make_repository(tmp_path / "origin", {"first": "1\n"})
    git(origin, "checkout", "--quiet", "-b", "mine")
    commit(origin, "work")
    git(origin, "checkout", "--quiet", "main")
    commit(origin, "second")
    git(tmp_path, "clone", "--quiet", "--depth=1", "--no-single-branch", "--branch=mine", f"file://{origin}", "clone")

    assert refusal(tmp_path / "clone") == (
        "this shallow clone lacks the history it shares with refs/remotes/origin/HEAD",
        "deepen it: git fetch --deepen=200 (or --unshallow)",
        True,
    )
    git(tmp_path / "clone", "fetch", "--quiet", "--deepen=200")
    assert find_base(str(tmp_path / "clone")) == tip(origin, "main~1")


def pull_request(tmp_path: Path, *fetched: str) -> tuple[Path, Path]:
    """What actions/checkout makes of a pull request: the merge ref, detached, without any branch of the remote."""
    origin = make_repository(tmp_path / "origin", {"first": "1\n"})
    git(origin, "checkout", "--quiet", "-b", "topic")
    commit(origin, "one")
    commit(origin, "two")
    git(origin, "checkout", "--quiet", "main")
    commit(origin, "second")
    git(origin, "checkout", "--quiet", "--detach")
    git(origin, "merge", "--quiet", "--no-ff", "--no-edit", "topic")
    git(origin, "update-ref", "refs/pull/1/merge", "HEAD")
    git(origin, "checkout", "--quiet", "main")
    checkout = tmp_path / "checkout"
    git(tmp_path, "init", "--quiet", "checkout")
    git(checkout, "remote", "add", "origin", f"file://{origin}")
    git(checkout, "fetch", "--quiet", *fetched)
    git(checkout, "checkout", "--quiet", "--detach", "FETCH_HEAD")
    return origin, checkout


def test_a_pull_request_started_at_the_first_parent_of_its_merge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    origin, checkout = pull_request(tmp_path, "--depth=2", "origin", "refs/pull/1/merge")
    monkeypatch.setenv("GITHUB_BASE_REF", "main")
    for sha in ("", tip(checkout)):
        monkeypatch.setenv("GITHUB_SHA", sha)
        assert (find_base(str(checkout)), newest_base(str(checkout))) == (tip(origin, "main"),) * 2


def test_a_pull_request_fetched_to_a_depth_of_one_says_what_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, checkout = pull_request(tmp_path, "--depth=1", "origin", "refs/pull/1/merge")
    monkeypatch.setenv("GITHUB_BASE_REF", "main")

    assert refusal(checkout) == (
        "nothing tells where this change started: no remote branch, no main, no master",
        "this clone is shallow; in GitHub Actions check out with fetch-depth: 0, elsewhere: git fetch --unshallow",
        True,
    )


def test_a_workflow_that_checks_out_the_branch_compares_with_the_base_and_not_with_a_parent_of_its_tip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    origin, checkout = pull_request(tmp_path, "origin", "topic", "+refs/heads/*:refs/remotes/origin/*")
    monkeypatch.setenv("GITHUB_BASE_REF", "main")
    monkeypatch.setenv("GITHUB_SHA", tip(origin, "refs/pull/1/merge"))
    git(checkout, "merge", "--quiet", "--no-ff", "--no-edit", "origin/main")

    assert find_base(str(checkout)) == tip(origin, "main")
