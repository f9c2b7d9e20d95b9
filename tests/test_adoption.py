"""Another repository adopts our hooks, through pre-commit and through prek: a violation is refused, then mended.

The hooks come from this checkout as it is, changes that are not committed included. Both tools build them an
environment from the package registry, as they do for everyone.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

SOURCE = '''\
def scale(states, factor):
    """Scale the states."""
    return states * factor
'''
DRIFTED = '''\
# Copied from library.first.scale
def scale(states, factor):
    """Scale the states."""
    return states + factor
'''
MENDED = DRIFTED.replace("+", "*")
CONFIGURATION = """\
repos:
  - repo: {hooks}
    rev: {commit}
    hooks:
      - id: mergeready-check
      - id: mergeready-fix
        stages: [manual]
"""


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository that holds this checkout as one commit."""
    folder = tmp_path_factory.mktemp("hooks")
    listed = git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)
    commit_all(folder)
    return folder


@pytest.mark.parametrize("tool", ["pre-commit", "prek"])
def test_a_violation_is_refused_at_the_commit_and_passes_once_it_is_mended(
    tool: str, hooks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PREK_HOME", str(tmp_path / "cache"))
    library = tmp_path / "library"
    configuration = CONFIGURATION.format(hooks=hooks.as_posix(), commit=git(hooks, "rev-parse", "HEAD").strip())
    write(
        library,
        {
            ".pre-commit-config.yaml": configuration,
            "library/__init__.py": "",
            "library/first.py": SOURCE,
            "library/second.py": DRIFTED,
        },
    )
    git(library, "init", "--quiet")
    git(library, "add", "--all")
    run(library, tool, "install")

    refused = run(library, "git", "commit", "--message", "Add a copy", expect=1)
    nothing = git(library, "rev-list", "--all")
    run(library, tool, "run", "--hook-stage", "manual", "mergeready-fix", expect=1)
    mended = (library / "library" / "second.py").read_text(encoding="utf-8")
    git(library, "add", "--all")
    run(library, "git", "commit", "--message", "Add a copy")

    assert [line.strip().split(": ")[0] for line in refused.splitlines() if "copied-code/" in line] == [
        "library/second.py:4:1"
    ]
    assert nothing == ""
    assert mended == MENDED
    assert git(library, "log", "--format=%s") == "Add a copy\n"


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def commit_all(folder: Path) -> None:
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--no-verify", "--message", "All files")


def git(folder: Path, *words: str) -> str:
    return run(folder, "git", *words)


def run(folder: Path, *words: str, expect: int = 0) -> str:
    """What a command prints, errors included; the test fails where it ends otherwise than expected."""
    program = shutil.which(words[0])
    assert program, f"{words[0]} is not installed"
    command = [program, *words[1:]]
    done = subprocess.run(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=False
    )
    assert done.returncode == expect, f"{words}\n{done.stdout}"
    return done.stdout
