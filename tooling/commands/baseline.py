"""Accept findings as they are, so that only new ones are reported; or forget acceptances that nothing needs.

What is accepted is stored with a hash of the divergence: if it grows, it is a finding again.

Examples:
  mergeready baseline accept                              everything found now
  mergeready baseline accept copied-code --path 'src/*'   of one rule, in some files
  mergeready baseline prune                               drop what is no longer found
"""

from __future__ import annotations

import argparse
from contextlib import closing
from fnmatch import fnmatchcase

from checks import baseline
from checks.baseline import Acceptance
from checks.edits import Change
from checks.errors import CheckError
from checks.run import Judge, Outcome
from checks.settings import RULE_NAMES
from checks.text import decode, visible_line
from checks.tree import Tree
from checks.write import write_changes
from tooling.checkout import add_options, open_checkout
from tooling.choice import rule_chooser
from tooling.console import Console
from tooling.errors import Exit


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `baseline`."""
    parser.add_argument("action", choices=("accept", "prune"), help="add what is found now, or drop what is not")
    parser.add_argument("rules", metavar="RULE", nargs="*", help="only these rules")
    parser.add_argument("--path", metavar="GLOB", action="append", default=[], help="only these files; may be repeated")
    parser.add_argument("--dry-run", action="store_true", help="say what would be written, and write nothing")
    add_options(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    """Judge the tree and write the baseline."""
    checkout = open_checkout(options)
    tree = checkout.tree()
    with closing(checkout.cache()) as cache, console.progress("checking") as started:
        outcome = Judge(cache, rule_chooser(options.rules, (), ()), jobs=checkout.jobs)(tree, started)
    path = outcome.settings.baseline
    old = _content(tree, path)
    before = baseline.parse(decode(old or b""), path)
    added, dropped = _plan(outcome, options)
    after = {*before, *added} - {*dropped}
    for row in added:
        console.print(visible_line(f"+ {row.code} {row.path}: {row.message}"), "green")
    for row in dropped:
        console.print(visible_line(f"- {row.code} {row.path}: {row.message}"), "red")
    if not options.dry_run and (added or dropped):
        write_changes(checkout.root, [Change(path, old, baseline.render(after).encode())])
    verb = "would hold" if options.dry_run else "holds"
    console.print(f"{path} {verb} {len(after)} acceptances ({len(added)} new, {len(dropped)} dropped)")
    return Exit.DONE


def _plan(outcome: Outcome, options: argparse.Namespace) -> tuple[tuple[Acceptance, ...], tuple[Acceptance, ...]]:
    """What to add and what to drop."""
    if options.action == "prune":
        return (), tuple(row for row in outcome.stale if _chosen(row.path, options))
    found = [found for found in outcome.findings if found.rule in RULE_NAMES]
    return tuple(sorted({baseline.acceptance(f) for f in found if _chosen(f.path, options)})), ()


def _chosen(path: str, options: argparse.Namespace) -> bool:
    return not options.path or any(fnmatchcase(path, pattern) for pattern in options.path)


def _content(tree: Tree, path: str) -> bytes | None:
    try:
        return tree.read(path) if path in tree.keys else None
    except OSError as error:
        raise CheckError(f"cannot read {path}: {error.strerror}", environment=True) from error
