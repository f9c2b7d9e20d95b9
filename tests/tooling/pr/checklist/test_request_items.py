"""The items that judge what is written on a pull request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.tooling.pr.branches import Branch, brief
from tooling.pr.checklist.linked_issue import references
from tooling.pr.event import Request

REQUEST = Request(
    event="pull_request", head_ref="topic", base_ref="main", default_branch="main", source="the pull_request event"
)


@pytest.fixture(scope="module")
def branch(tmp_path_factory: pytest.TempPathFactory) -> Branch:
    branch = Branch(tmp_path_factory.mktemp("request") / "lib")
    branch.commit("Scale by two", {"src/lib/scale.py": 'def scale(states):\n    """Scale."""\n    return states * 2\n'})
    branch.commit("Say so in the notes", {"NOTES.md": "It scales by two.\n"})
    return branch


def judged(branch: Branch, item: str, **words: Any) -> tuple[str, str]:
    request = REQUEST._replace(head=branch.git("rev-parse", "HEAD"), base=branch.git("rev-parse", "main"), **words)
    decision = branch.decide(item, request)
    return decision.verdict.value, decision.code


@pytest.mark.parametrize(
    ("title", "verdict", "code"),
    [
        ("", "fail", "title/empty"),
        ("[Trainer] ", "fail", "title/empty"),
        ("🚀 ", "fail", "title/empty"),
        ("Update README.md", "fail", "title/default"),
        ("Create src/lib/new_file.py", "fail", "title/default"),
        ("Patch 1", "fail", "title/default"),
        ("Fix #1234", "warn", "title/number"),
        ("[Trainer] #12", "warn", "title/number"),
        ("Let the trainer resume from a checkpoint of an older…", "warn", "title/cut"),
        ("Fix it", "warn", "title/length"),
        ("Let it " + "be " * 40, "warn", "title/length"),
        ("Let \x1b[31mred\x1b[0m text pass", "warn", "title/characters"),
        ("Let \u202etext pass\u202c backwards", "warn", "title/characters"),
        ("Topic", "warn", "title/branch"),
        ("[Trainer] Let it resume from an older checkpoint", "manual", "title/judge"),
        ("🚀 Let it resume from an older checkpoint", "manual", "title/judge"),
        ("Bump actions/checkout from 4 to 5", "manual", "title/judge"),
        ('Revert "Update README.md"', "manual", "title/judge"),
        ("修复分词器的错误", "manual", "title/judge"),
    ],
)
def test_a_title_is_refused_for_what_a_machine_can_see_and_never_passed(
    branch: Branch, title: str, verdict: str, code: str
) -> None:
    assert judged(branch, "title", title=title) == (verdict, code)


def test_a_title_that_repeats_the_only_commit_is_fine_though_the_branch_says_the_same(tmp_path: Path) -> None:
    branch = Branch(tmp_path / "lib")
    branch.git("branch", "--move", "scale-the-states-by-two")
    branch.commit("Scale the states by two", {"a.txt": "a\n"})

    assert branch.decide("title").code == "title/judge"


@pytest.mark.parametrize(
    ("title", "state"),
    [
        ("swipe left", "ready"),
        ("WIPO list", "ready"),
        ("[wip] x", "draft"),
        ("x (WIP)", "ready"),
        ("Draft: x", "draft"),
    ],
)
def test_s23_work_in_progress_is_a_mark_at_the_start(branch: Branch, title: str, state: str) -> None:
    assert judged(branch, "work-in-progress", title=title, draft=False)[1] == f"work-in-progress/{state}"


def test_while_it_is_a_draft_what_would_fail_is_a_warning_and_it_is_not_ready(branch: Branch) -> None:
    request = REQUEST._replace(
        title="", body="", draft=True, head=branch.git("rev-parse", "HEAD"), base=branch.git("rev-parse", "main")
    )
    checklist = branch.judge(request)

    assert {each.code: each.verdict.value for each in checklist.decisions}["title/empty"] == "warn"
    assert (checklist.ready, checklist.passes(strict=False), checklist.passes(strict=True)) == (False, True, False)


TEMPLATE = "# What does this PR do?\n<!-- Fixes #1 is how to link -->\n\nFixes # (issue)\n\n- [ ] Did you read it?\n"


@pytest.mark.parametrize(
    ("body", "verdict", "code"),
    [
        (TEMPLATE, "manual", "linked-issue/none"),
        ("Fixes #12", "pass", "linked-issue/closes"),
        ("resolves: octo/cat#7\r\n", "pass", "linked-issue/closes"),
        ("Closes https://github.com/octo/cat/issues/7.", "pass", "linked-issue/closes"),
        ("Fixes [it](https://github.com/octo/cat/issues/12)", "pass", "linked-issue/closes"),
        ("Fixes GH-12", "pass", "linked-issue/closes"),
        ("Does not fix #12, it only helps.", "manual", "linked-issue/mentioned"),
        ("It doesn't really fix #12.", "manual", "linked-issue/mentioned"),
        ("discloses #42", "manual", "linked-issue/mentioned"),
        ("Follows the precedent of #3. Fixes #4", "pass", "linked-issue/closes"),
        ("Use `Fixes #12`.\n\n```\nFixes #13\n```\n\n> Fixes #14\n", "manual", "linked-issue/none"),
        ("Fixes #0", "manual", "linked-issue/none"),
        ("Fixes #１２", "manual", "linked-issue/none"),
        ("color #123abc and &#39;", "manual", "linked-issue/none"),
        ("", "manual", "linked-issue/none"),
        (None, "manual", "linked-issue/unsaid"),
    ],
)
def test_s17_an_issue_is_linked_by_the_words_of_the_author_alone(
    branch: Branch, body: str | None, verdict: str, code: str
) -> None:
    assert judged(branch, "linked-issue", body=body) == (verdict, code)


def test_of_a_list_the_keyword_closes_the_first_alone() -> None:
    assert references("Fixes #1, #2") == (("#1",), ("#2",))


def test_a_branch_that_names_an_issue_fails_a_description_that_does_not(branch: Branch) -> None:
    assert judged(branch, "linked-issue", body="Mends it.", head_ref="fix-1234") == ("fail", "linked-issue/hidden")
    assert judged(branch, "linked-issue", body="Mends it.", head_ref="v-4.2") == ("manual", "linked-issue/none")
    assert judged(branch, "linked-issue", body="Mends it.", labels=("bug",)) == ("warn", "linked-issue/hidden")


def test_a_keyword_is_inert_where_the_base_is_not_the_default_branch(branch: Branch) -> None:
    assert judged(branch, "linked-issue", body="Fixes #12", base_ref="v4") == ("warn", "linked-issue/inert")


def test_an_issue_that_was_linked_in_the_sidebar_counts(branch: Branch) -> None:
    assert judged(branch, "linked-issue", body="", closes=(5,)) == ("pass", "linked-issue/closes")


BOXES = """\
- [x] done
- [X] done too
  - [ ] **nested** and `open`
- [ ] not needed: docs only
- a [ ] in the middle

```
- [ ] in code
```
<!-- - [ ] in a comment -->
1. [ ] numbered
"""


def test_open_boxes_are_named_where_they_are_boxes(branch: Branch) -> None:
    request = REQUEST._replace(body=BOXES, head=branch.git("rev-parse", "HEAD"), base=branch.git("rev-parse", "main"))
    decision = branch.decide("template-boxes", request)

    assert brief(decision) == ("warn", "template-boxes/open", ("nested and open", "numbered"))
    assert [row.line for row in decision.evidence] == [3, 11]


def test_a_description_without_boxes_is_skipped_and_one_with_ticks_alone_passes(branch: Branch) -> None:
    assert judged(branch, "template-boxes", body="[ ] no list") == ("skip", "template-boxes/none")
    assert judged(branch, "template-boxes", body="- [x] a") == ("pass", "template-boxes/done")
