"""What the tests of the git commands share: a bench, and output in which ids and times do not vary."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.tooling.git.repositories import Bench, Result, build, copy_of

_ID = re.compile(r"\b[0-9a-f]{40}\b|\b[0-9a-f]{10}\b")
_STAMP = re.compile(r"\d{8}T\d{6}\.\d{6}Z")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bench that all others are copies of."""
    return build(tmp_path_factory.mktemp("template")).root


@pytest.fixture
def bench(template: Path, tmp_path: Path) -> Bench:
    """Upstream, a fork and a clone, for one test."""
    return copy_of(template, tmp_path / "bench")


def stable(bench: Bench, result: Result) -> str:
    """What was printed, with ids, times and the folder of the test replaced."""
    printed = (result.out + result.err).replace(str(bench.root), "ROOT").replace(bench.root.as_posix(), "ROOT")
    return _DAY.sub("DAY", _STAMP.sub("TIME", _ID.sub("ID", printed)))
