"""What our git commands cost over the bare ones: the same work on one repository, in turns, so noise hits both.

    nox -s bench -- git_overhead --rounds 21

Prints the medians and the median of the ratios, and exits with 1 where one is over its allowance.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from timing import Case, console_script, ratio, run_in_turn

FILES, COMMITS, BEHIND = 3000, 100, 20
ALLOWED = {"rebase": 1.3, "status": 4.0}
IGNORED = ("__pycache__/", "*.py[cod]", "*.so", "build/", "dist/", "*.egg-info/", ".venv/", "*.log", "wandb/", "*.swp")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=21)
    rounds = parser.parse_args().rounds
    ours = console_script("mergeready")
    with tempfile.TemporaryDirectory(prefix="mergeready-bench-") as folder:
        work = build(Path(folder))
        status = Case("git", [["git", "status"]]), Case("ours", [[ours, "status"]])
        rebase = (
            Case("git", [["git", "fetch", "--quiet", "upstream"], ["git", "rebase", "--quiet", "upstream/main"]]),
            Case("ours", [[ours, "rebase"]]),
        )
        reset(work)
        for command in ("status", "rebase"):  # what fails would be fast
            subprocess.run([ours, command], cwd=work, check=True, stdout=subprocess.DEVNULL)
        results = {
            "status": run_in_turn(status, work, runs=rounds),
            "rebase": run_in_turn([case._replace(prepare=lambda: reset(work)) for case in rebase], work, runs=rounds),
        }
    print(f"{FILES} files, a branch of {COMMITS} commits, {BEHIND} behind; medians of {rounds} rounds")
    for name, timings in results.items():
        bare, own = (timings[side].median * 1000 for side in ("git", "ours"))
        share = ratio(timings["ours"], timings["git"])
        print(f"{name:8} git {bare:7.1f} ms   ours {own:7.1f} ms   {share:5.2f} of {ALLOWED[name]}")
    return int(any(ratio(timings["ours"], timings["git"]) > ALLOWED[name] for name, timings in results.items()))


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


def reset(work: Path) -> None:
    """Take the branch back to where it was, and upstream's too."""
    git(work, "reset", "--quiet", "--hard", "start")
    git(work, "update-ref", "refs/remotes/upstream/main", "start~100")


def commit(place: Path, message: str) -> None:
    git(place, "add", "--all")
    git(place, "commit", "--quiet", "--message", message)


def git(place: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=Bench", "-c", "user.email=bench@example.org")
    subprocess.run(["git", *identity, *arguments], cwd=place, check=True)


if __name__ == "__main__":
    sys.exit(main())
