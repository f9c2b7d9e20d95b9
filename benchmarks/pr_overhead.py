"""How long the pull request checklist takes at a terminal, beside `git diff --stat` of the same range.

The branch is the last ten commits of the tree. The target is at most 10 times git; without a network, and from a cold
start of Python each time, for that is what a hook before a push pays.

    nox -s bench -- pr_overhead --tree ../diffusers
"""

from __future__ import annotations

import argparse

from corpus import add_options, clone, git
from timing import Case, console_script, ratio, run_in_turn

COMMITS = 10
TARGET = 10.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=15, help="timed runs of each command (default: 15)")
    add_options(parser)
    options = parser.parse_args()
    with clone(options.tree, depth=COMMITS + 5) as tree:
        base = git(tree, "rev-parse", f"HEAD~{COMMITS}").strip()
        cases = [
            Case("git", [["git", "diff", "--stat", base, "HEAD"]]),
            Case("pr", [[console_script("mergeready"), "pr", "--base", base]]),
        ]
        timings = run_in_turn(cases, tree, runs=options.runs)
        changed = git(tree, "diff", "--shortstat", base, "HEAD").strip()
    print(f"{COMMITS} commits, {changed}; {options.runs} runs each, in turn")
    print(f"git diff --stat  {timings['git'].median * 1000:7.1f} ms")
    share = ratio(timings["pr"], timings["git"])
    print(f"mergeready pr    {timings['pr'].median * 1000:7.1f} ms  {share:5.2f} times git (target {TARGET:g})")
    if share > TARGET:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
