"""What our git commands cost over the bare ones: the same work on one repository, in turns, so noise hits both.

    python benchmarks/git_overhead.py [--rounds 11]

Prints the medians and the ratios, and exits with 1 where one is over its allowance.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

FILES, COMMITS, BEHIND = 3000, 100, 20
ALLOWED = {"rebase": 1.3, "status": 4.0}
IGNORED = ("__pycache__/", "*.py[cod]", "*.so", "build/", "dist/", "*.egg-info/", ".venv/", "*.log", "wandb/", "*.swp")
OURS = [sys.executable, "-c", "import sys; from tooling.cli import main; sys.exit(main())"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=11)
    rounds = parser.parse_args().rounds
    folder = Path(tempfile.mkdtemp(prefix="mergeready-bench-"))
    try:
        work = build(folder)
        bare, ours = in_turns(lambda: timed(["git", "status"], work), lambda: timed([*OURS, "status"], work), rounds)
        results = {"status": (bare, ours)}
        results["rebase"] = in_turns(lambda: bare_rebase(work), lambda: our_rebase(work), rounds)
    finally:
        shutil.rmtree(folder)
    print(f"{FILES} files, a branch of {COMMITS} commits, {BEHIND} behind; medians of {rounds} rounds")
    for name, (bare, ours) in results.items():
        print(
            f"{name:8} git {bare * 1000:7.1f} ms   ours {ours * 1000:7.1f} ms   {ours / bare:5.2f} of {ALLOWED[name]}"
        )
    return int(any(ours / bare > ALLOWED[name] for name, (bare, ours) in results.items()))


def build(folder: Path) -> Path:
    """A repository, its upstream, and a branch that is behind."""
    up, work = folder / "up", folder / "work"
    up.mkdir()
    git(up, "init", "--quiet", "--initial-branch=main")
    for number in range(FILES):
        path = up / where(number)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"x = {number}\n" * 50)
    (up / ".gitignore").write_text("".join(f"{pattern}\n" for pattern in IGNORED))
    commit(up, "Begin")
    git(folder, "clone", "--quiet", "--origin=upstream", str(up), str(work))
    git(work, "remote", "add", "origin", str(up))
    git(work, "config", "mergeready.upstreamRemote", "upstream")
    git(work, "switch", "--quiet", "--create", "feature")
    for number in range(COMMITS):
        path = work / where(number)
        path.write_text(f"{path.read_text()}y = {number}\n")
        commit(work, f"Commit {number}")
    for number in range(BEHIND):
        (up / f"up{number}.py").write_text("z\n")
        commit(up, f"Upstream {number}")
    git(work, "tag", "start")
    return work


def where(number: int) -> str:
    """The path of a file: 350 folders, as deep as those of a model library."""
    return f"src/library/models/family{number % 50}/model{number % 350}/file{number}.py"


def bare_rebase(work: Path) -> float:
    """Fetch and rebase with git alone."""
    reset(work)
    return timed(["sh", "-c", "git fetch --quiet upstream && git rebase --quiet upstream/main"], work)


def our_rebase(work: Path) -> float:
    """The same with ours."""
    reset(work)
    return timed([*OURS, "rebase"], work)


def reset(work: Path) -> None:
    """Take the branch back to where it was, and upstream's too."""
    git(work, "reset", "--quiet", "--hard", "start")
    git(work, "update-ref", "refs/remotes/upstream/main", "start~100")


def in_turns(bare: Callable[[], float], ours: Callable[[], float], rounds: int) -> tuple[float, float]:
    """The medians of two measurements that alternate; the first pair warms up and does not count."""
    pairs = [(bare(), ours()) for _ in range(rounds + 1)][1:]
    return statistics.median(pair[0] for pair in pairs), statistics.median(pair[1] for pair in pairs)


def timed(argv: list[str], work: Path) -> float:
    """Seconds that a command takes; it must succeed."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    begun = time.perf_counter()
    subprocess.run(argv, cwd=work, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begun


def commit(place: Path, message: str) -> None:
    git(place, "add", "--all")
    git(place, "commit", "--quiet", "--message", message)


def git(place: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=Bench", "-c", "user.email=bench@example.org")
    subprocess.run(["git", *identity, *arguments], cwd=place, check=True)


if __name__ == "__main__":
    sys.exit(main())
