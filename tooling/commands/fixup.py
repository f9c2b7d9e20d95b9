"""Lint, format and mend the files that you changed since the trunk: committed, staged, unstaged and new ones.

Runs `ruff check --fix` where ruff is configured, then the formatter that the repository is configured for (black or
ruff format), in the version of your environment, then the fixes of `mergeready check --changed`.

Examples:
  mergeready fixup
  mergeready fixup --base upstream/main
  mergeready fixup --dry-run
"""

from __future__ import annotations

import argparse
from contextlib import closing

from checks import change
from checks.commit import CommitTree
from checks.index import Index
from checks.reports import human
from checks.run import Judge
from checks.settings import read_settings
from checks.store import Store
from checks.text import visible_line
from checks.tree import FolderTree, WorkTree
from tooling.changed import changed_judge
from tooling.checkout import Checkout, add_options, open_checkout
from tooling.choice import rule_chooser
from tooling.console import Console
from tooling.errors import Exit, UserError
from tooling.fixing import fix_checkout
from tooling.formatting import Step, plan_steps, run_steps


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `fixup`."""
    parser.add_argument("--base", metavar="REF", default="", help="the branch to compare with (default: the trunk)")
    parser.add_argument("--dry-run", action="store_true", help="say what would be run on which files, and run nothing")
    add_options(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    """Mend the changed files and report what is left."""
    if options.no_git:
        raise UserError("without git nothing tells which files changed", hint="drop --no-git")
    checkout = open_checkout(options)
    tree = checkout.tree()
    commit = change.find_base(checkout.root, options.base)
    files = _changed_python(checkout, commit, tree)
    with closing(checkout.cache()) as cache:
        store = Store(tree, cache, 1)
        steps = plan_steps(Index(store, read_settings(store)))
    if options.dry_run:
        return _tell(steps, files, console)
    content = _run(checkout, steps, files, console)
    # What the tools have written is looked at anew.
    checkout = checkout._replace(listing=None)
    with closing(checkout.cache()) as cache:
        judge = Judge(cache, rule_chooser((), (), ()), jobs=checkout.jobs)
        outcome = fix_checkout(checkout, changed_judge(checkout, judge, commit), console, write=True)
    for text, style in human.lines(outcome):
        console.print(text, style)
    return Exit.DONE if content and not outcome.findings else Exit.FINDINGS


def _changed_python(checkout: Checkout, commit: str, tree: WorkTree | FolderTree) -> tuple[str, ...]:
    """Python files that are there and differ from the commit."""
    base = CommitTree(checkout.root, commit, beside=tree)
    changed = change.changed_paths(base, tree)
    return tuple(sorted(path for path in changed if path in tree.keys and path.endswith((".py", ".pyi"))))


def _tell(steps: tuple[Step, ...], files: tuple[str, ...], console: Console) -> int:
    for step in steps:
        console.print(f"{step.title} on {len(files)} files", "bold")
        for path in files:
            console.print(f"    {visible_line(path)}")
    console.print("mergeready check --changed --fix", "bold")
    return Exit.DONE


def _run(checkout: Checkout, steps: tuple[Step, ...], files: tuple[str, ...], console: Console) -> bool:
    """Whether every tool was content."""
    content = True
    for ran in run_steps(checkout.root, steps, files):
        content = content and ran.content
        console.note(f"{ran.step.title}: {'done' if ran.content else 'not content'}", "green" if ran.content else "red")
        if ran.said:
            console.print(ran.said)
    return content
