"""The gates: what a change has to pass, here and in CI.

Plain `nox` runs quality, repo-consistency, tests and tests_models. `nox -s fixup` mends what a machine can mend in the
files you changed, and `nox -s tests -- -k words` runs some of the tests. What follows `--` goes to the session's tool.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

import nox

ROOT = Path(__file__).parent
PYPROJECT = nox.project.load_toml("pyproject.toml")

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "virtualenv"
nox.options.reuse_venv = "yes"
nox.options.sessions = ["quality", "repo-consistency", "tests", "tests_models"]


@nox.session(tags=["fix"])
def style(session: nox.Session) -> None:
    """Rewrite all files (or those named) the way ruff and black want them."""
    paths = session.posargs or ["."]
    session.install(*group("style"))
    session.run("ruff", "check", "--fix", *paths)
    session.run("black", *paths)


@nox.session(tags=["check"])
def quality(session: nox.Session) -> None:
    """Check style, types, spelling and workflows; change nothing."""
    paths = session.posargs or ["."]
    # The dependencies without the package: mypy reads our sources from here, and theirs from there.
    session.install(*PYPROJECT["project"]["dependencies"], *group("quality"))
    session.run("ruff", "check", *paths)
    session.run("black", "--check", *paths)
    session.run("mypy", *session.posargs)
    for system in () if session.posargs else ("win32", "darwin"):
        # What only one system has is looked at by its own types; a cache of its own, or each run would start anew.
        session.run("mypy", "--platform", system, "--cache-dir", f".mypy_cache/{system}", "checks", "tooling")
    session.run("codespell", *paths)
    for schema, files in SCHEMAS.items():
        session.run("check-jsonschema", "--builtin-schema", schema, *(str(path) for path in ROOT.glob(files)))
    session.run("zizmor", "--offline", "--no-progress", "--persona=pedantic", ".github", "action.yml")


@nox.session(name="repo-consistency", tags=["check"])
def repo_consistency(session: nox.Session) -> None:
    """Run `mergeready check` on this repository."""
    session.install(".")
    session.run("mergeready", "check", *session.posargs)


@nox.session(tags=["check"])
def pr(session: nox.Session) -> None:
    """Judge this branch by the pull request checklist; in a workflow, the pull request of its event."""
    session.install(".[github]")
    session.run("mergeready", "pr", *session.posargs)


@nox.session(tags=["fix"])
def fixup(session: nox.Session) -> None:
    """Mend the files you changed: ruff, formatter, then the fixes of our own rules."""
    session.install(".", *group("style"))
    session.run("mergeready", "fixup", *session.posargs)


@nox.session(tags=["test"])
def tests(session: nox.Session) -> None:
    """Test the package as users get it: built, installed, and away from its sources."""
    record = session.cache_dir / f"tests-{platform.python_version()}.json"
    asked = fingerprint(session)
    # In CI the second command of the README finds the tree that the first one has just tested; it reports that result.
    if os.environ.get("CI") and record.is_file() and (known := json.loads(record.read_text()))["tree"] == asked:
        session.log("this very tree has passed in this environment; its result was")
        print(known["result"])
        return
    record.unlink(missing_ok=True)
    session.install(".", *group("tests"))
    result = run_pytest(session)
    record.parent.mkdir(parents=True, exist_ok=True)
    record.write_text(json.dumps({"tree": asked, "result": result}))


@nox.session(tags=["test"])
def tests_models(session: nox.Session) -> None:
    """Test the pipelined models, with torch and transformers; that nothing was collected is a failure."""
    install_models(session)
    # By group: tests that compare what a few processes have done want them started once, not once a worker.
    everything = [str(ROOT / "tests" / "pipelined"), "-n", "auto", "--dist", "loadgroup"]
    run_pytest(session, *([] if session.posargs else everything))


@nox.session(tags=["test"])
def coverage_of_models(session: nox.Session) -> None:
    """Try every model class of transformers, or those named, and write docs/models.md and the README's table anew."""
    written = [ROOT / "docs" / "models.md", ROOT / "README.md"]
    install_models(session)
    before = [path.read_text(encoding="utf-8") if path.is_file() else "" for path in written]
    session.run("python", "-m", "tests.pipelined.coverage", *session.posargs)
    if before != [path.read_text(encoding="utf-8") for path in written]:
        session.error("docs/models.md or the README was stale: it is written anew, commit it")


@nox.session(tags=["test"])
def slow(session: nox.Session) -> None:
    """Run the tests marked slow, those of models too, in parallel; that none ran is a failure."""
    install_models(session)
    result = run_pytest(session, "-m", "slow", "-n", "auto", "--dist", "loadgroup", env={"RUN_SLOW": "1"})
    if result.startswith("0 passed, 0 failed"):
        session.error(f"no slow test ran: {result}")


@nox.session(tags=["git"])
def rebase(session: nox.Session) -> None:
    """Replay your branch on upstream: `mergeready rebase`, which takes everything after `--`."""
    run_git_command(session, "rebase")


@nox.session(tags=["git"])
def sync(session: nox.Session) -> None:
    """Bring your fork's main branch up to date: `mergeready sync`, which takes everything after `--`."""
    run_git_command(session, "sync")


@nox.session(tags=["bench"])
def bench(session: nox.Session) -> None:
    """Run all benchmarks, or those named before the first option: `nox -s bench -- checks_speed --help`."""
    options = [word for word in session.posargs if word.startswith("-")][:1]
    cut = session.posargs.index(options[0]) if options else len(session.posargs)
    named, passed_on = session.posargs[:cut], session.posargs[cut:]
    scripts = [ROOT / "benchmarks" / f"{Path(name).stem}.py" for name in named]
    # The other modules there are what benchmarks share.
    everything = [path for path in sorted((ROOT / "benchmarks").glob("*.py")) if "__main__" in path.read_text("utf-8")]
    chosen = scripts or everything
    with_torch = any("import torch" in script.read_text("utf-8") for script in chosen)
    session.install(".", *group("bench"), *(group("models") if with_torch else ()))
    for script in chosen:
        session.run("python", str(script), *passed_on)


@nox.session(tags=["docs"])
def docs(session: nox.Session) -> None:
    """Write the pages of rules and items anew, then build the docs; a stale page or a broken link is a failure."""
    pages = [ROOT / "docs" / "rules.md", ROOT / "docs" / "pr-items.md"]
    session.install(".", *group("docs"))
    before = [page.read_text(encoding="utf-8") if page.is_file() else "" for page in pages]
    session.run("mergeready", "rules", "--format", "markdown", "--output", str(pages[0]))
    session.run("mergeready", "pr", "items", "--format", "markdown", "--output", str(pages[1]))
    session.run("towncrier", "build", "--draft", "--version", "next", silent=True)
    session.run("properdocs", "build", "--strict", "--clean", *session.posargs)
    if before != [page.read_text(encoding="utf-8") for page in pages]:
        session.error("a page in docs/ was stale: it is written anew, commit it")


SCHEMAS = {
    "vendor.github-workflows": ".github/workflows/*.yml",
    "vendor.github-actions": "action.yml",
    "vendor.github-issue-forms": ".github/ISSUE_TEMPLATE/[!c]*.yml",
    "vendor.github-issue-config": ".github/ISSUE_TEMPLATE/config.yml",
    "vendor.dependabot": ".github/dependabot.yml",
    "custom.github-workflows-require-timeout": ".github/workflows/*.yml",
}
"""Schemas that come with check-jsonschema, so that no network is asked, and the files they describe."""


def group(name: str) -> tuple[str, ...]:
    """The requirements of a dependency group in pyproject.toml."""
    return nox.project.dependency_groups(PYPROJECT, name)


def install_models(session: nox.Session) -> None:
    """Install the package with one exact torch; with pip, which takes the build that the configured index prefers."""
    session.install(".", *group("models"), *group("tests"))


def run_git_command(session: nox.Session, name: str) -> None:
    """Run a command that moves branches; Ctrl-C leaves git all the time that it needs to stop in order."""
    session.install(".")
    # By default nox kills half a second after Ctrl-C, in the middle of whatever git is writing.
    session.run("mergeready", name, *session.posargs, interrupt_timeout=600, terminate_timeout=600)


def run_pytest(session: nox.Session, *options: str, env: dict[str, str] | None = None) -> str:
    """Run pytest away from the sources, so that it imports what is installed; return 'N passed, N failed, N skipped'.

    `mergeready tests` records the run, so that `mergeready pr` knows what passed on this tree.
    Paths among the arguments after `--` are taken from the root of the repository, and run instead of everything.
    """
    words = [str(ROOT / word) if (ROOT / word.partition("::")[0]).exists() else word for word in session.posargs]
    everything = ["-n", "auto", "--dist", "worksteal", "--doctest-modules", "--pyargs", "checks", "tooling"]
    everything.append(str(ROOT / "tests"))
    # Not the session's own folder for such files: that lies in this repository, and tests need a place in none.
    with tempfile.TemporaryDirectory(prefix="mergeready-") as elsewhere, session.chdir(elsewhere):
        report = str(Path(elsewhere, "report.xml"))
        session.run(
            *("mergeready", "tests", "--root", str(ROOT), "--report", report, "--"),
            *("pytest", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT), "--junit-xml", report),
            *(() if any(word.startswith(str(ROOT)) for word in (*options, *words)) else everything),
            *options,
            *words,
            env={"PYTHONWARNDEFAULTENCODING": "1", **(env or {})},
        )
        suite = ET.parse(report).getroot().find("testsuite")  # noqa: S314 - the file is pytest's own
    assert suite is not None
    ran, failed, errors, skipped = (int(suite.attrib[name]) for name in ("tests", "failures", "errors", "skipped"))
    return f"{ran - failed - errors - skipped} passed, {failed + errors} failed, {skipped} skipped"


def fingerprint(session: nox.Session) -> str:
    """A hash of all that decides a result: each file that git would carry, the arguments, the interpreter."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    digest = hashlib.sha256(repr((session.posargs, platform.python_version(), os.environ.get("RUN_SLOW"))).encode())
    for name in sorted(set(listed.stdout.split(b"\0"))):
        path = ROOT / os.fsdecode(name)
        digest.update(name + b"\0" + (hashlib.sha256(path.read_bytes()).digest() if path.is_file() else b"gone"))
    return digest.hexdigest()
