"""Extraction on several processes: the same facts in the same order, and one message when a process is lost."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from checks.errors import CheckError
from checks.extractor import Extractor
from checks.parallel import Extracted, Workers
from checks.text import decode
from checks.tree import FolderTree
from tests.checks.repositories import write

LENGTH: Extractor[int] = Extractor("length", len, int)
LINES: Extractor[list[str]] = Extractor("lines", str.splitlines, list)
# Runs the text of a file, in the process that reads it.
RUN: Extractor[list[str]] = Extractor("run", exec, list)


@pytest.mark.parametrize("count", [3, 149, 150, 200])
def test_however_many_files_and_processes_the_facts_are_the_same(tmp_path: Path, count: int) -> None:
    write(tmp_path, {f"{number:03}": b"a\r\n" * number for number in range(count)})
    tree = FolderTree(str(tmp_path))
    paths = sorted(tree.keys)
    found: list[list[Extracted]] = []
    for jobs in (1, 3):
        with closing(Workers(jobs)) as workers:
            found.extend(
                list(workers.extract_all(tree, part, (LENGTH, LINES), lambda path: decode(tree.read(path))))
                for part in (paths, paths[:5])
            )

    assert found[0] == found[2]
    assert found[1] == found[3] == found[0][:5]
    assert [path for path, _ in found[0]] == paths
    assert found[0][2] == ("002", ["4", '["a","a"]'])


def test_a_process_that_is_ended_from_outside_is_one_message(tmp_path: Path) -> None:
    write(tmp_path, {f"{number:03}": "import os; os._exit(9)" for number in range(150)})
    tree = FolderTree(str(tmp_path))

    with closing(Workers(2)) as workers, pytest.raises(CheckError) as caught:
        list(workers.extract_all(tree, sorted(tree.keys), (RUN,), lambda _: ""))

    assert (str(caught.value), caught.value.hint, caught.value.environment) == (
        "a process that reads files was ended from outside",
        "where memory is short, use fewer with --jobs",
        True,
    )
