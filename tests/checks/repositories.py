"""Real repositories and files for tests."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from hashlib import sha1
from pathlib import Path

from checks.tree import Tree


def git(folder: Path, *words: str, **variables: str) -> str:
    """What a git command prints; the test fails where the command does."""
    done = subprocess.run(
        ("git", "-C", str(folder), *words),
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",
        env={**os.environ, **variables},
        check=False,
    )
    assert done.returncode == 0, f"git {' '.join(words)}: {done.stdout}{done.stderr}"
    return done.stdout.strip()


def write(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Put files below a folder, text as UTF-8 and with the line ends it has."""
    for path, content in files.items():
        target = Path(os.fsdecode(os.fsencode(f"{folder}/{path}")))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode())


def make_repository(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """A new repository at a folder with one commit that holds these files."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet")
    write(folder, files)
    commit_all(folder)
    return folder


def commit_all(folder: Path, message: str = "work") -> str:
    """Commit everything that is not ignored; return the id of the commit."""
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", message)
    return git(folder, "rev-parse", "HEAD")


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder but git's own, by path."""
    found = {}
    for where, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != ".git"]
        for name in names:
            path = Path(where, name)
            if path.is_file():
                found[path.relative_to(folder).as_posix()] = path.read_bytes()
    return found


def blob(content: bytes) -> str:
    """The id that git gives to the content of a file."""
    return sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def keys(contents: Mapping[str, bytes]) -> dict[str, str]:
    """The keys of a tree that holds these files."""
    return {path: blob(content) for path, content in contents.items()}


def read(tree: Tree) -> dict[str, bytes]:
    """Every file of a tree."""
    return {path: tree.read(path) for path in sorted(tree.keys)}
