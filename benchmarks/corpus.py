"""A real tree to measure on: a checkout of diffusers, cloned so that nothing is changed in yours."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
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
def clone(tree: Path | None) -> Iterator[Path]:
    """A clone of the commit checked out in `tree`, in a temporary folder; ends the process where there is none."""
    if tree is None or not (Path(tree) / "utils" / "check_copies.py").is_file():
        raise SystemExit(
            f"{tree or 'no tree'}: name a checkout of diffusers with --tree or {VARIABLE}, made by\n"
            "  git clone https://github.com/huggingface/diffusers"
        )
    with TemporaryDirectory(prefix="bench-") as folder:
        target = Path(folder) / "tree"
        git(Path(folder), "clone", "--quiet", "--no-hardlinks", "--depth=1", Path(tree).resolve().as_uri(), str(target))
        yield target


def git(folder: Path, *arguments: str) -> str:
    """What a git command prints."""
    program = shutil.which("git") or "git"
    identity = ("-c", "user.name=Bench", "-c", "user.email=bench@example.org", "-c", "commit.gpgSign=false")
    command = [program, *identity, *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, encoding="utf-8").stdout
