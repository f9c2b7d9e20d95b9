"""A template is filled with what is known, and no box is ticked that nobody decided."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from checks import git
from tests.tooling.pr.branches import Branch
from tooling.pr.body import fill, find_template
from tooling.pr.checklist import ITEMS
from tooling.pr.items import load_item
from tooling.pr.judge import judge
from tooling.pr.markdown import boxes
from tooling.pr.objects import GitObjects
from tooling.pr.read import local_request, read_pull

ROOT = Path(__file__).parents[3]
TEMPLATE = """\
# What does this PR do?

<!-- Say it. -->

Fixes # (issue)

- [ ] Did you read the guideline?
- [ ] Did you write any new necessary tests?
- [ ] No image, video, archive or checkpoint is added; what must be shown is linked.
"""


@pytest.fixture
def branch(tmp_path: Path) -> Branch:
    return Branch(tmp_path / "lib")


def filled(branch: Branch, template: str) -> str:
    repository = git.find_repository(str(branch.folder))
    with closing(GitObjects(repository.root)) as objects:
        pull = read_pull(repository, local_request(repository), objects)
        return fill(template, pull, judge(pull))


def test_our_own_template_lists_what_the_items_ask_of_an_author() -> None:
    template = (ROOT / ".github" / "pull_request_template.md").read_text(encoding="utf-8")
    asked = [load_item(name).BOX for name in ITEMS if load_item(name).BOX]

    assert [line.removeprefix("- [ ] ") for line in template.splitlines() if line.startswith("- [ ] ")][:-3] == asked
    assert len(boxes(template)) == len(asked) + 3


def test_summary_issue_and_decided_boxes_are_put_in_and_the_rest_stays(branch: Branch) -> None:
    branch.git("branch", "--move", "fix-12")
    branch.commit("Say how to scale\n\nAsked for by @octocat and user@example.org.", {"README.md": "Scale.\n"})

    assert filled(branch, TEMPLATE) == """\
# What does this PR do?

<!-- Say it. -->

Asked for by `@octocat` and user@example.org.

Fixes #12

- [ ] Did you read the guideline?
- [ ] not needed (nothing public is new): Did you write any new necessary tests?
- [x] No image, video, archive or checkpoint is added; what must be shown is linked. \
*(mergeready: changed files that were looked at, all text: 1)*
"""


def test_several_commits_are_listed_and_nothing_is_ticked_that_failed(branch: Branch) -> None:
    branch.commit("Grow", {"src/lib/grow.py": 'def grow(x):\n    """Grow."""\n    return x\n'})
    branch.commit("Show it", {"grow.png": b"\x89PNG\r\n\x1a\n\0"})
    branch.commit("fixup! Grow", {"a.txt": "a\n"})

    text = filled(branch, TEMPLATE)

    assert "- Grow\n- Show it\n\nFixes # (issue)\n" in text
    assert [box.ticked for box in boxes(text)] == [False, False, False]
    assert "not needed" not in text


def test_filling_twice_ticks_nothing_twice(branch: Branch) -> None:
    branch.commit("Say more", {"README.md": "More.\n"})
    once = filled(branch, TEMPLATE)

    assert [line for line in filled(branch, once).splitlines() if line.startswith("- [x]")] == [
        line for line in once.splitlines() if line.startswith("- [x]")
    ]


@pytest.mark.parametrize(
    ("paths", "found"),
    [
        ((".github/PULL_REQUEST_TEMPLATE.md", "a.py"), ".github/PULL_REQUEST_TEMPLATE.md"),
        (("a.py", "docs/pull_request_template.txt"), "docs/pull_request_template.txt"),
        (("pull_request_template.md",), "pull_request_template.md"),
        (("src/pull_request_template.md", ".github/PULL_REQUEST_TEMPLATE/one.md"), ""),
    ],
)
def test_a_template_is_found_where_github_looks(paths: Sequence[str], found: str) -> None:
    assert find_template(paths) == found
