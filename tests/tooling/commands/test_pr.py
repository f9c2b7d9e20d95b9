"""`mergeready pr` as it is typed, in real repositories; the numbers are those of the scenarios it was asked for."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.tooling.pr.branches import Branch
from tooling.cli import main


@pytest.fixture
def branch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Branch:
    branch = Branch(tmp_path / "lib")
    monkeypatch.chdir(branch.folder)
    return branch


def run_json(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, dict[str, str]]:
    """The exit code, and the verdict of every item."""
    status = main(["pr", "--format", "json", *options])
    document = json.loads(capsys.readouterr().out)
    return status, {item["code"]: item["verdict"] for item in document["items"]}


def write_event(branch: Branch, **payload: Any) -> str:
    path = branch.folder.parent / "event.json"
    path.write_text(json.dumps(payload), encoding="utf-8")
    return str(path)


def pull_payload(branch: Branch, **fields: Any) -> dict[str, Any]:
    """A small pull request from the branch `work` to `main`."""
    repository = {"full_name": "octo/lib", "default_branch": "main"}
    return {
        "repository": repository,
        "pull_request": {
            "number": 7,
            "title": "Let it scale by any factor",
            "body": "Fixes #3",
            "draft": False,
            "user": {"login": "octocat"},
            "head": {"ref": "work", "sha": branch.git("rev-parse", "work"), "repo": repository},
            "base": {"ref": "main", "sha": branch.git("rev-parse", "main"), "repo": repository},
            **fields,
        },
    }


def test_the_whole_page_of_a_small_branch(branch: Branch, capsys: pytest.CaptureFixture[str]) -> None:
    branch.commit("Grow", {"src/lib/grow.py": "def grow(states):\n    return states + 1\n"})
    (branch.folder / "open.txt").write_text("not committed\n", encoding="utf-8")

    status = main(["pr"])

    assert (status, capsys.readouterr().out) == (
        1,
        """\
warn    title             the title has 4 columns; 10 to 100 read well
                          Grow
                          from the only commit
                          -> write what changes for a user
manual  linked-issue      no description is known yet
                          -> give it with --body
pass    work-in-progress  it is ready for review
skip    template-boxes    the description has no boxes
pass    branch-name       the branch has a name of its own
pass    merge-commits     no merge commits
pass    fixup-commits     no commit waits to be squashed
pass    behind            commits behind its base: 0 (allowed: 50)
pass    conflict-markers  no conflict markers
pass    submodules        no submodule is touched
pass    binary-files      changed files that were looked at, all text: 1
fail    docstrings        without a docstring: 1 of 1 public definitions that are new or edited
                          src/lib/grow.py:1: grow
                          -> say what the caller gets
fail    new-tests         new modules without a test: 1
                          src/lib/grow.py:1: grow
                          -> add a test module that uses them
skip    new-model         no model is new
manual  tests             no run is recorded for this tree
                          -> mergeready tests -- pytest, or nox -s tests
skip    slow-tests        no slow test is touched
note: files with changes that are not committed, and not judged: 1
not ready: 8 pass, 2 fail, 1 warn, 2 manual, 3 skip
""",
    )


def test_s11_in_a_shallow_clone_with_a_back_merge_nothing_that_needs_a_base_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(shallow_clone(tmp_path))

    status, found = run_json(capsys, "--base", "origin/main")

    needing = {"branch-name", "merge-commits", "fixup-commits", "behind", "conflict-markers", "submodules"} | {
        "binary-files",
        "docstrings",
        "new-tests",
        "new-model",
        "slow-tests",
    }
    assert (status, {code: verdict for code, verdict in found.items() if code.partition("/")[0] in needing}) == (
        1,
        {f"{name}/no-history": "unknown" for name in needing},
    )


def test_s11_with_fetch_the_clone_is_deepened_until_the_branch_is_whole_and_judged_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clone = shallow_clone(tmp_path)
    monkeypatch.chdir(clone)
    before = read_refs(clone)

    status, found = run_json(capsys, "--base", "origin/main", "--fetch")

    assert (status, found["merge-commits/found"], found["binary-files/text"]) == (0, "warn", "pass")
    assert read_refs(clone) == before


def test_the_head_of_an_event_is_fetched_as_objects_and_never_checked_out(
    branch: Branch, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    branch.commit("Say more", {"README.md": "More.\n"})
    branch.git("update-ref", "refs/pull/7/head", "work")
    payload = pull_payload(branch)
    clone = branch.folder.parent / "clone"
    branch.git("switch", "--quiet", "main")
    branch.git("clone", "--quiet", "--depth=1", "--single-branch", branch.folder.as_uri(), str(clone))
    monkeypatch.chdir(clone)
    path = write_event(branch, **payload)

    _, without = run_json(capsys, "--event", path)
    status, found = run_json(capsys, "--event", path, "--fetch")

    assert (without["docstrings/no-history"], status, found["binary-files/text"]) == ("unknown", 0, "pass")
    assert (clone / "README.md").exists() is False


def test_a_remote_that_is_not_there_ends_with_6(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clone = shallow_clone(tmp_path)
    (tmp_path / "origin").rename(tmp_path / "gone")
    monkeypatch.chdir(clone)

    assert main(["pr", "--base", "origin/main", "--fetch"]) == 6
    assert capsys.readouterr().err.startswith("error: origin does not give what this clone lacks: ")


def shallow_clone(folder: Path) -> Path:
    """A clone of 20 commits of a branch of 30, into which its base was merged."""
    origin = Branch(folder / "origin")
    for number in range(30):
        origin.git("switch", "--quiet", "main")
        origin.commit(f"Go on {number}", {"trunk.txt": f"{number}\n"})
        origin.git("switch", "--quiet", "work")
        origin.commit(f"Work {number}", {"work.txt": f"{number}\n"})
    origin.git("merge", "--quiet", "--no-edit", "main")
    origin.git("clone", "--quiet", "--depth=20", "--no-single-branch", origin.folder.as_uri(), str(folder / "clone"))
    return folder / "clone"


def read_refs(clone: Path) -> str:
    done = subprocess.run(["git", "show-ref", "--head"], cwd=clone, capture_output=True, encoding="utf-8", check=True)
    return done.stdout


def test_a_shallow_clone_that_holds_the_whole_branch_is_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    origin = Branch(tmp_path / "origin")
    for number in range(30):
        origin.git("switch", "--quiet", "main")
        origin.commit(f"Go on {number}", {"trunk.txt": f"{number}\n"})
    origin.git("switch", "--quiet", "--create", "late")
    origin.commit("Work on it", {"work.txt": "1\n"})
    clone = tmp_path / "clone"
    origin.git("clone", "--quiet", "--depth=20", "--no-single-branch", origin.folder.as_uri(), str(clone))
    monkeypatch.chdir(clone)

    status, found = run_json(capsys, "--base", "origin/main")

    assert (status, found["behind/near"], found["binary-files/text"]) == (0, "pass", "pass")


def test_s15_a_folder_of_somebody_else_ends_with_6_and_says_how_to_trust_it(branch: Branch) -> None:
    before = branch.git("config", "--list", "--show-origin")

    done = run_process(branch, "pr", GIT_TEST_ASSUME_DIFFERENT_OWNER="1")

    assert (done.returncode, done.stdout, done.stderr.splitlines()) == (
        6,
        "",
        [
            "error: git does not trust this folder: somebody else owns it",
            f"hint: if you trust it: git config --global --add safe.directory {shlex.quote(str(branch.folder))}",
        ],
    )
    assert branch.git("config", "--list", "--show-origin") == before


def test_s18_a_merge_group_reports_and_judges_the_queued_commits(
    branch: Branch, capsys: pytest.CaptureFixture[str]
) -> None:
    base = branch.git("rev-parse", "main")
    head = branch.commit("Scale twice", {"src/lib/twice.py": 'def twice(x):\n    """Twice."""\n    return 2 * x\n'})
    branch.commit("Not in the queue", {"a.bin": b"\0"})
    group = {
        "head_sha": head,
        "head_ref": f"refs/heads/gh-readonly-queue/release/4.2/pr-12-{base}",
        "base_sha": base,
        "base_ref": "refs/heads/release/4.2",
    }
    path = write_event(branch, action="checks_requested", merge_group=group, repository={"full_name": "octo/lib"})

    status, found = run_json(capsys, "--event", path)

    assert {
        code: verdict for code, verdict in found.items() if code.startswith(("title", "linked", "work", "templ"))
    } == {
        "title/no-words": "skip",
        "linked-issue/no-words": "skip",
        "work-in-progress/no-words": "skip",
        "template-boxes/no-words": "skip",
    }
    assert (found["binary-files/text"], found["docstrings/all"]) == ("pass", "pass")
    assert (status, found["new-tests/module"]) == (1, "fail")


def test_s18_a_merge_group_without_faults_ends_with_0(branch: Branch, capsys: pytest.CaptureFixture[str]) -> None:
    base = branch.git("rev-parse", "main")
    head = branch.commit("Say more", {"README.md": "More.\n"})
    group = {"head_sha": head, "head_ref": f"refs/heads/gh-readonly-queue/main/pr-1-{base}", "base_sha": base}

    assert run_json(capsys, "--event", write_event(branch, merge_group=group))[0] == 0


def test_s34_inside_a_hook_of_commit_all_the_verdict_is_that_of_outside(branch: Branch) -> None:
    branch.commit("Say more", {"README.md": "More.\n"})
    outside = run_process(branch, "pr", "--format", "json").stdout
    hook = branch.folder / ".git" / "hooks" / "pre-commit"
    code = "import sys; from tooling.cli import main; sys.exit(main(['pr', '--format', 'json']))"
    hook.write_text(f'#!/bin/sh\n"{sys.executable}" -c "{code}" > ../inside.json\n', encoding="utf-8")
    hook.chmod(0o755)
    (branch.folder / "README.md").write_text("Even more.\n", encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}

    subprocess.run(["git", "commit", "-a", "-q", "-m", "Say even more"], cwd=branch.folder, env=environment, check=True)

    inside = json.loads((branch.folder.parent / "inside.json").read_text(encoding="utf-8"))
    assert inside["items"] == json.loads(outside)["items"]


def test_s38_a_branch_called_like_an_option_is_refused_and_nothing_is_run(
    branch: Branch, capsys: pytest.CaptureFixture[str]
) -> None:
    head = branch.commit("Say more", {"README.md": "More.\n"})
    payload = pull_payload(branch)
    payload["pull_request"]["head"]["ref"] = "--exec=touch${IFS}x"
    from_event = main(["pr", "--event", write_event(branch, **payload)])
    branch.git("update-ref", "refs/heads/--exec=touch${IFS}x", head)
    branch.git("symbolic-ref", "HEAD", "refs/heads/--exec=touch${IFS}x")
    from_head = main(["pr"])

    assert (from_event, from_head, (branch.folder / "x").exists()) == (3, 3, False)
    assert "could be taken for an option" in capsys.readouterr().err


def test_a_base_is_never_an_option_either(branch: Branch, capsys: pytest.CaptureFixture[str]) -> None:
    branch.commit("Say more", {"README.md": "More.\n"})

    status = main(["pr", "--base=--output=stolen"])

    assert (status, (branch.folder / "stolen").exists()) == (2, False)
    assert capsys.readouterr().err.startswith("error: there is no commit '--output=stolen' here")


def test_the_merge_that_actions_check_out_is_judged_from_its_two_parents(
    branch: Branch, capsys: pytest.CaptureFixture[str]
) -> None:
    frozen = branch.git("rev-parse", "main")
    head = branch.commit("Say more", {"README.md": "More.\n"})
    branch.git("switch", "--quiet", "main")
    branch.commit("Go on", {"trunk.bin": b"\0"})
    branch.git("checkout", "--quiet", "--detach")
    branch.git("merge", "--quiet", "--no-ff", "--no-edit", head)
    payload = pull_payload(branch)
    payload["pull_request"]["base"]["sha"] = frozen

    status, found = run_json(capsys, "--event", write_event(branch, **payload))

    assert (status, found["behind/near"], found["binary-files/text"]) == (0, "pass", "pass")


def test_a_head_that_is_not_in_the_clone_is_unknown_and_fails(
    branch: Branch, capsys: pytest.CaptureFixture[str]
) -> None:
    payload = pull_payload(branch)
    payload["pull_request"]["head"]["sha"] = "1" * 40

    status, found = run_json(capsys, "--event", write_event(branch, **payload))

    assert (status, found["docstrings/no-history"]) == (1, "unknown")


def test_a_push_is_judged_against_the_default_branch_and_a_schedule_as_at_a_terminal(
    branch: Branch, capsys: pytest.CaptureFixture[str]
) -> None:
    branch.git("update-ref", "refs/remotes/origin/main", "main")
    head = branch.commit("Show it", {"a.png": b"\x89PNG\r\n\x1a\n"})
    repository = {"full_name": "octo/lib", "default_branch": "main"}
    push = write_event(branch, ref="refs/heads/work", after=head, pusher={"name": "ada"}, repository=repository)
    pushed = run_json(capsys, "--event", push)
    schedule = write_event(branch, schedule="17 4 * * 1", repository=repository)
    scheduled = run_json(capsys, "--event", schedule)

    assert [
        (status, found["title/no-words"], found["binary-files/binary"]) for status, found in (pushed, scheduled)
    ] == [
        (1, "skip", "fail"),
        (1, "skip", "fail"),
    ]


def test_a_comment_on_a_pull_request_without_a_token_leaves_the_commits_unknown(
    branch: Branch, capsys: pytest.CaptureFixture[str]
) -> None:
    issue = {"number": 7, "title": "Let it scale", "body": "Fixes #3", "pull_request": {"url": "x"}}

    status, found = run_json(capsys, "--event", write_event(branch, issue=issue, comment={"body": "/rerun"}))

    assert (status, found["docstrings/no-history"], found["linked-issue/closes"]) == (1, "unknown", "pass")


def test_a_stranger_s_settings_do_not_judge_the_stranger(branch: Branch, capsys: pytest.CaptureFixture[str]) -> None:
    branch.commit("Loosen", {"mergeready.toml": '[pr]\nskip = ["binary-files"]\n', "a.bin": b"\0"})

    _, own = run_json(capsys)
    _, others = run_json(capsys, "--event", write_event(branch, **pull_payload(branch)))

    assert (own.get("binary-files/left-out"), others.get("binary-files/binary")) == ("skip", "fail")


def test_a_stranger_s_settings_do_not_even_count_where_the_base_is_not_known(
    branch: Branch, capsys: pytest.CaptureFixture[str]
) -> None:
    branch.commit("Loosen", {"mergeready.toml": '[pr]\nskip = ["binary-files", "docstrings"]\n'})
    payload = pull_payload(branch)
    payload["pull_request"]["head"]["sha"] = "1" * 40

    status, found = run_json(capsys, "--event", write_event(branch, **payload))

    assert (status, found["binary-files/no-history"], found["docstrings/no-history"]) == (1, "unknown", "unknown")


def test_a_base_that_is_named_wins_over_that_of_the_event(branch: Branch, capsys: pytest.CaptureFixture[str]) -> None:
    branch.commit("fixup! Show it", {"a.txt": "a\n"})
    branch.git("branch", "other")
    branch.commit("Say more", {"README.md": "More.\n"})
    path = write_event(branch, **pull_payload(branch))

    assert "fixup-commits/found" in run_json(capsys, "--event", path)[1]
    assert "fixup-commits/none" in run_json(capsys, "--event", path, "--base", "other")[1]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read: No such file or directory"),
        (b"", "is empty"),
        (b"{", "is not JSON in UTF-8"),
        (b"\xff\xfe{\0}\0", "is not JSON in UTF-8"),
        (b"\xef\xbb\xbf{}", "starts with a byte order mark"),
        (b"[]", "is JSON, but not an object"),
        (b"[" * 100_000, "is not JSON in UTF-8"),
        (b" " * (50 * 2**20), "is 52,428,800 bytes; GitHub sends at most 26,214,400"),
    ],
    ids=["missing", "empty", "cut", "utf-16", "bom", "list", "deep", "huge"],
)
def test_a_payload_that_is_none_ends_with_6_and_its_path(
    branch: Branch, capsys: pytest.CaptureFixture[str], content: bytes | None, message: str
) -> None:
    path = branch.folder.parent / "event.json"
    if content is not None:
        path.write_bytes(content)

    status = main(["pr", "--event", str(path)])

    assert (status, capsys.readouterr().err.splitlines()[0]) == (6, f"error: the event payload {path} {message}")


def test_a_misspelt_setting_is_named_with_the_right_one(branch: Branch, capsys: pytest.CaptureFixture[str]) -> None:
    branch.commit("Set", {"mergeready.toml": "[pr.behind]\nlimits = 3\n"})

    status = main(["pr"])

    assert (status, capsys.readouterr().err) == (
        2,
        "error: mergeready.toml: pr.behind has no 'limits'\nhint: did you mean 'limit'?\n",
    )


def test_severity_can_be_set_for_an_item_or_a_code(branch: Branch, capsys: pytest.CaptureFixture[str]) -> None:
    settings = '[pr.severity]\nnew-tests = "warn"\n"title/length" = "fail"\n'
    module = 'def f():\n    """Doc."""\n'
    branch.commit("Set", {"mergeready.toml": settings, "src/lib/m.py": module})

    status, found = run_json(capsys)

    assert (status, found["new-tests/module"], found["title/length"]) == (1, "warn", "fail")


def test_a_clean_branch_passes_and_strictly_not_with_warnings(
    branch: Branch, capsys: pytest.CaptureFixture[str]
) -> None:
    branch.commit("Say more about scaling", {"README.md": "More.\n"})
    assert run_json(capsys, "--strict")[0] == 0

    branch.commit("fixup! Say more about scaling", {"README.md": "Even more.\n"})
    assert (run_json(capsys)[0], run_json(capsys, "--strict")[0]) == (0, 1)


def test_a_repository_without_a_commit_is_unknown_and_not_an_accident(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    monkeypatch.chdir(tmp_path)

    status, found = run_json(capsys)

    assert (status, found["docstrings/no-history"]) == (1, "unknown")


def run_process(branch: Branch, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own."""
    code = "import sys; from tooling.cli import main; sys.exit(main())"
    environment = {**os.environ, **variables, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    return subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=branch.folder,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
