"""A bench for every test: built once, copied for each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tooling.git.repositories import Bench, build, copy_of


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bench that all others are copies of."""
    return build(tmp_path_factory.mktemp("template")).root


@pytest.fixture
def bench(template: Path, tmp_path: Path) -> Bench:
    """Upstream, a fork and a clone, for one test."""
    return copy_of(template, tmp_path / "bench")
