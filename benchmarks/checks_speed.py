"""How long the checks take on a real tree, beside the tree's own scripts for the rules that both have.

Cold is without a cache, warm with one, edited after one file has changed. The targets are those of the design: cold
at most 1/2 of the scripts' total, warm at most 1/8, edited at most 1/6; everything on, warm, at most 5 times
`git status`; memory below 400 MiB; `--version` at most 3 times an empty Python.

    nox -s bench -- checks_speed --tree ../diffusers
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from corpus import add_options, clone, git, settle
from timing import Case, Timing, console_script, ratio, run_in_turn

SCRIPTS = {
    "check_copies.py": (),
    "check_dummies.py": (),
    "check_inits.py": (),
    "check_doc_toc.py": (),
    "custom_init_isort.py": ("--check_only",),
}
SHARED_RULES = ("copied-code", "dummy-objects", "lazy-inits", "doc-toc", "init-order")
EDITED = "src/diffusers/pipelines/flux/pipeline_flux.py"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=7, help="timed runs of each command (default: 7)")
    add_options(parser)
    options = parser.parse_args()
    with clone(options.tree) as tree:
        print(f"{len(git(tree, 'ls-files').splitlines())} files; {options.runs} runs each, in turn")
        beside_scripts(tree, options.runs)
        beside_git(tree, options.runs)
        growth(tree, max(3, options.runs // 2))


def beside_scripts(tree: Path, runs: int) -> None:
    """Print our time for the shared rules as a share of the scripts' total."""
    scripts = [[sys.executable, f"utils/{name}", *options] for name, options in SCRIPTS.items()]
    check = [[console_script("mergeready"), "check", *SHARED_RULES]]
    edits = numbered_edits(tree / EDITED)
    cases = [
        Case("scripts", scripts),
        Case("cold", check, lambda: forget(tree)),
        Case("warm", check),
        Case("edited", check, lambda: next(edits)),
    ]
    timings = run_in_turn(cases, tree, runs=runs)
    print(f"{'scripts':<12}{timings['scripts'].median:8.3f} s")
    for name, target in (("cold", 1 / 2), ("warm", 1 / 8), ("edited", 1 / 6)):
        show(timings[name], timings["scripts"], target)
    git(tree, "checkout", "--quiet", "--", ".")


def beside_git(tree: Path, runs: int) -> None:
    """Print the time of a warm run with every rule beside `git status`, and of `--version` beside an empty Python."""
    mergeready = console_script("mergeready")
    cases = [Case("git status", [["git", "status"]]), Case("all, warm", [[mergeready, "check"]])]
    timings = run_in_turn(cases, tree, runs=2 * runs)
    show(timings["all, warm"], timings["git status"], 5)
    cases = [Case("empty", [[sys.executable, "-c", "pass"]]), Case("--version", [[mergeready, "--version"]])]
    timings = run_in_turn(cases, tree, runs=2 * runs)
    show(timings["--version"], timings["empty"], 3)


def growth(tree: Path, runs: int) -> None:
    """Print the cold time of every rule on the tree once, twice and four times over."""
    base = 0.0
    for times in (1, 2, 4):
        enlarge(tree, times)
        case = Case(f"{times}x, cold", [[console_script("mergeready"), "check"]], lambda: forget(tree))
        timing = run_in_turn([case], tree, runs=runs)[case.name]
        base = base or timing.median
        print(f"{case.name:<12}{timing.median:8.3f} s  {timing.median / base:5.2f} of 1x  peak {timing.peak:4.0f} MiB")


def enlarge(tree: Path, times: int) -> None:
    """Put further copies of the library into the repository, until it holds it `times` over."""
    for number in range(1, times):
        library = tree / "src" / "diffusers"
        if not (library / f"more_{number}").exists():
            shutil.copytree(library, library / f"more_{number}", ignore=shutil.ignore_patterns("more_*"))
    git(tree, "add", "--all")
    git(tree, "commit", "--quiet", "--allow-empty", "--no-verify", "--message", "More of the same")
    settle(tree)


def forget(tree: Path) -> None:
    """Drop the cache."""
    shutil.rmtree(tree / ".git" / "mergeready", ignore_errors=True)


def numbered_edits(path: Path) -> Iterator[None]:
    """Change a file with each step, never twice to the same text."""
    text = path.read_text(encoding="utf-8")
    number = 0
    while True:
        number += 1
        path.write_text(f"{text}\n# edit {number}\n", encoding="utf-8")
        yield


def show(ours: Timing, theirs: Timing, target: float) -> None:
    """Print one figure with its ratio and whether that meets the target."""
    share = ratio(ours, theirs)
    verdict = "ok" if share <= target else "MISSED"
    print(
        f"{ours.name:<12}{ours.median:8.3f} s  {share:6.3f} of {theirs.name} (target {target:.3f}: {verdict})"
        f"  peak {ours.peak:4.0f} MiB"
    )


if __name__ == "__main__":
    main()
