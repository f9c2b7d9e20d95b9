"""Objects are read by one process that is asked line by line; no name gets it out of step."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.tooling.pr.branches import Branch
from tooling.pr.objects import LARGEST, GitObjects

EMPTY = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"


@pytest.fixture
def branch(tmp_path: Path) -> Branch:
    return Branch(tmp_path / "lib", {"a.txt": "a\n", "empty.txt": "", "large.txt": b"x" * (LARGEST + 1)})


@pytest.fixture
def objects(branch: Branch) -> Iterator[GitObjects]:
    with closing(GitObjects(str(branch.folder))) as found:
        yield found


def test_a_name_with_a_line_end_is_not_taken_for_two(objects: GitObjects) -> None:
    assert [objects.read(key) for key in ("HEAD:no\nHEAD:a.txt", "HEAD:a.txt", "HEAD:empty.txt", "HEAD:a.txt")] == [
        None,
        b"a\n",
        b"",
        b"a\n",
    ]


def test_what_is_read_ahead_is_what_is_read_by_itself(branch: Branch, objects: GitObjects) -> None:
    keys = [EMPTY, "HEAD:a.txt", "HEAD:none.txt", "1" * 40, branch.git("rev-parse", "HEAD:large.txt")]
    with closing(GitObjects(str(branch.folder))) as alone:
        expected = [(alone.size(key), alone.read(key)) for key in keys]

    objects.read_ahead(keys)

    assert [(objects.size(key), objects.read(key)) for key in keys] == expected


def test_a_name_that_is_no_text_is_asked_for_as_it_is(branch: Branch, objects: GitObjects) -> None:
    name = b"caf\xe9.py"
    tree = branch.feed(b"100644 blob %s\t%s\0" % (EMPTY.encode(), name), "mktree", "-z").decode()

    assert objects.read(f"{tree}:{name.decode('utf-8', 'surrogateescape')}") == b""
