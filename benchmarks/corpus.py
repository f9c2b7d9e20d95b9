"""A real tree to measure on: a checkout of diffusers, cloned so that nothing is changed in yours."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

VARIABLE = "MERGEREADY_BENCH_TREE"


def add_options(parser: argparse.ArgumentParser) -> None:
    """The option that names the tree."""
    parser.add_argument(
        "--tree",
        type=Path,
        default=os.environ.get(VARIABLE),
        help=f"a checkout of huggingface/diffusers (default: ${VARIABLE}); the figures we quote are of 58eb52c0",
    )


@contextmanager
def clone(tree: Path | None, *, depth: int = 1) -> Iterator[Path]:
    """A clone of the last `depth` commits of `tree`, in a temporary folder; ends the process where there is none."""
    if tree is None or not (Path(tree) / "utils" / "check_copies.py").is_file():
        raise SystemExit(
            f"{tree or 'no tree'}: name a checkout of diffusers with --tree or {VARIABLE}, made by\n"
            "  git clone https://github.com/huggingface/diffusers"
        )
    with TemporaryDirectory(prefix="bench-") as folder:
        target = Path(folder) / "tree"
        source = Path(tree).resolve().as_uri()
        git(Path(folder), "clone", "--quiet", "--no-hardlinks", f"--depth={depth}", source, str(target))
        settle(target)
        yield target


def settle(tree: Path) -> None:
    """Make the index of a fresh checkout like that of one in use.

    Git reads every file again that is as young as its index, in `git status` as in our listing, until the index is
    written a while after the files.
    """
    time.sleep(2)
    git(tree, "update-index", "--really-refresh", "--force-write-index")


@contextmanager
def unpacked(archive: Path) -> Iterator[Path]:
    """A repository made of the sources in an unpacked source archive, in a temporary folder."""
    if not (archive / "src").is_dir():
        raise SystemExit(f"{archive}: name an unpacked source archive, which has a folder src")
    with TemporaryDirectory(prefix="bench-") as folder:
        target = Path(folder) / "tree"
        shutil.copytree(archive / "src", target / "src")
        shutil.copy(archive / "setup.py", target)
        git(target, "init", "--quiet")
        git(target, "add", "--all")
        git(target, "commit", "--quiet", "--no-verify", "--message", "As it was published")
        yield target


def git(folder: Path, *arguments: str) -> str:
    """What a git command prints."""
    program = shutil.which("git") or "git"
    identity = ("-c", "user.name=Bench", "-c", "user.email=bench@example.org", "-c", "commit.gpgSign=false")
    command = [program, *identity, *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, encoding="utf-8").stdout
