"""Every item of the checklist and the sentence that stands for it, in the order in which they are reported.

The module of an item has its name, with underscores.
"""

from __future__ import annotations

ITEMS = {
    "title": "the title says what changes",
    "linked-issue": "the description names the issue that it fixes",
    "work-in-progress": "it is not work in progress",
    "template-boxes": "every box of the template is ticked",
    "branch-name": "the branch is not the base branch itself",
    "merge-commits": "the branch holds no merge commits",
    "fixup-commits": "no commit waits to be squashed",
    "behind": "the branch is close to its base",
    "conflict-markers": "no conflict markers are left",
    "submodules": "submodules stay where they were",
    "binary-files": "nothing but text is added",
    "docstrings": "public functions, classes and methods have docstrings",
    "new-tests": "new features have new tests",
    "new-model": "a new model has docs, tests, a registration and a conversion script",
    "tests": "the tests pass",
    "slow-tests": "the slow tests that it touches were run",
}
