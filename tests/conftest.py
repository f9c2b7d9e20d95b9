"""What every test can rely on: a git that knows no configuration but ours, fixed dates and widths, no colours.

A test marked `slow` is skipped unless RUN_SLOW=1, which `nox -s slow` sets.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from importlib import util
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# No test depends on speed: neither may hypothesis, which otherwise fails an example that takes 200 ms.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

IDENTITY = {
    "GIT_AUTHOR_NAME": "Ada Author",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_AUTHOR_DATE": "2026-01-02T03:04:05+00:00",
    "GIT_COMMITTER_NAME": "Carl Committer",
    "GIT_COMMITTER_EMAIL": "carl@example.org",
    "GIT_COMMITTER_DATE": "2026-01-02T03:04:05+00:00",
}
TERMINAL = {"COLUMNS": "100", "LINES": "40", "NO_COLOR": "1", "TERM": "dumb", "TZ": "UTC", "LC_ALL": "C.UTF-8"}
# What CI sets and our own commands read: a test that wants it sets it.
FROM_OUTSIDE = ("CI", "FORCE_COLOR", "CLICOLOR_FORCE", "PY_COLORS", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")


def pytest_configure() -> None:
    """Let Ctrl-C reach the processes that tests start, also where we were started in the background.

    A shell has its background jobs ignore the signal, and what is ignored is inherited.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_report_header() -> str:
    """Say which copy of the package is under test: the installed one, or the sources."""
    found = {name: util.find_spec(name) for name in ("checks", "tooling", "pipelined")}
    places = {str(Path(spec.origin).parents[1]) for spec in found.values() if spec and spec.origin}
    return f"mergeready under test: {', '.join(sorted(places))}"


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Look for doctests in the packages only: a module here that is no test is imported by the tests that need it."""
    is_module = collection_path.suffix == ".py" and collection_path.name != "conftest.py"
    return True if is_module and not collection_path.name.startswith("test_") else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the slow tests out unless they are asked for."""
    if os.environ.get("RUN_SLOW") == "1":
        return
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.skip(reason="slow: run by `nox -s slow`, or with RUN_SLOW=1"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what tests counted and told with `record_property`, also those that ran in other processes."""
    for report in terminalreporter.getreports("passed"):
        for name, value in report.user_properties if report.when == "call" else ():
            terminalreporter.write_line(f"{report.nodeid}: {value} {name}")


@pytest.fixture(scope="session", autouse=True)
def isolated_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the user's configuration and the outer process's settings away from every test."""
    home = tmp_path_factory.mktemp("home")
    configuration = home / ".gitconfig"  # where a git before 2.32 looks, which does not know GIT_CONFIG_GLOBAL
    configuration.write_text('[init]\n\tdefaultBranch = main\n[protocol "file"]\n\tallow = always\n', encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(("GIT_", "GITHUB_", "MERGEREADY_", "NOX_")) or name in FROM_OUTSIDE:
                patch.delenv(name)
        patch.setenv("GIT_CONFIG_GLOBAL", str(configuration))
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        patch.setenv("GIT_TERMINAL_PROMPT", "0")
        patch.setenv("HOME", str(home))
        patch.setenv("USERPROFILE", str(home))
        for name, value in {**IDENTITY, **TERMINAL}.items():
            patch.setenv(name, value)
        yield


@pytest.fixture(autouse=True)
def environment_is_left_as_found(isolated_environment: None) -> Iterator[None]:
    """Fail a test that changes a variable for those after it; `monkeypatch` puts back what it sets."""
    before = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    yield
    after = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    assert after == before
