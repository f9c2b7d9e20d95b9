"""Find what breaks the repository's own rules, and mend what can be mended safely.

Looks at the files that git tracks and at untracked ones that it does not ignore. Nothing of the repository is
imported or run. Without settings, the layout of transformers, diffusers, optimum and ordinary packages is recognised.

Examples:
  mergeready check                              every rule
  mergeready check copied-code lazy-inits       two of them
  mergeready check --fix                        mend what can be mended
  mergeready check --diff                       show what --fix would do
  mergeready check --changed                    only what your change caused
  mergeready check --format sarif --output out.sarif
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING

from checks.reports import FORMATS
from tooling.checkout import Checkout, add_options, open_checkout
from tooling.console import Console
from tooling.errors import Exit, UserError

if TYPE_CHECKING:
    from checks.cache import Cache
    from checks.run import Judge, Outcome


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `check`."""
    parser.add_argument("rules", metavar="RULE", nargs="*", help="rules to run (default: all that the settings select)")
    parser.add_argument("--only", metavar="RULE", action="append", default=[], help="run this rule; may be repeated")
    parser.add_argument(
        "--skip", metavar="RULE", action="append", default=[], help="leave this rule out; may be repeated"
    )
    mend = parser.add_argument_group("mending")
    mend.add_argument("--fix", action="store_true", help="write the fixes; nothing is written if any cannot be")
    mend.add_argument("--diff", action="store_true", help="show the fixes as a diff and write nothing, also with --fix")
    change = parser.add_argument_group("what changed")
    change.add_argument("--changed", action="store_true", help="report only what the change since the base caused")
    change.add_argument("--base", metavar="REF", default="", help="the branch to compare with (default: the trunk)")
    change.add_argument(
        "--merge-base-check", action="store_true", help="judge the result of merging HEAD into the base"
    )
    report = parser.add_argument_group("report")
    report.add_argument("--format", choices=FORMATS, default="human", help="how to write it (default: human)")
    report.add_argument("--output", metavar="FILE", help="write the report there, and only the summary to the terminal")
    report.add_argument("--statistics", action="store_true", help="add what each rule looked at, found and took")
    report.add_argument("--show-settings", action="store_true", help="print the settings in force and stop")
    add_options(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    """Judge the tree, mend it if asked, and report."""
    _refuse_contradictions(options)
    with closing(open_checkout(options)) as checkout:
        from checks.run import Judge
        from tooling.choice import rule_chooser

        rules = rule_chooser(options.rules, options.only, options.skip)
        with closing(checkout.cache()) as cache:
            if options.show_settings:
                return _show_settings(checkout, cache, console)
            outcome = _judged(checkout, Judge(cache, rules, jobs=checkout.jobs), options, console)
    return _report(outcome, options, console)


def _judged(checkout: Checkout, judge: Judge, options: argparse.Namespace, console: Console) -> Outcome:
    if options.merge_base_check:
        from tooling.changed import judge_merge

        return judge_merge(checkout, judge, options.base)
    view: Callable[..., Outcome] = judge
    if options.changed:
        from tooling.changed import changed_judge

        view = changed_judge(checkout, judge, options.base)
    if options.fix or options.diff:
        from tooling.fixing import fix_checkout

        # Beside a report that a program reads, the diff goes where people look.
        say = console.print if options.format == "human" else console.note
        return fix_checkout(
            checkout, view, console, write=options.fix and not options.diff, show=say if options.diff else None
        )
    with console.progress("checking") as started:
        return view(checkout.tree(), started)


def _refuse_contradictions(options: argparse.Namespace) -> None:
    if options.merge_base_check and (options.fix or options.diff or options.changed):
        raise UserError("--merge-base-check judges a tree that is not on disk, so it cannot be combined")
    if options.base and not (options.changed or options.merge_base_check):
        raise UserError("--base says what to compare with", hint="add --changed or --merge-base-check")
    if options.no_git and (options.changed or options.merge_base_check):
        raise UserError("without git there is nothing to compare with", hint="drop --no-git")


def _show_settings(checkout: Checkout, cache: Cache, console: Console) -> int:
    from checks.settings import read_settings
    from checks.store import Store

    settings = read_settings(Store(checkout.tree(), cache, 1))
    shown = {**settings._asdict(), "profile": settings.profile._asdict()}
    console.data(json.dumps(shown, indent=2))
    return Exit.DONE


def _report(outcome: Outcome, options: argparse.Namespace, console: Console) -> int:
    from tooling.reporting import write_report

    write_report(outcome, options.format, options.output, console, statistics=options.statistics)
    return Exit.FINDINGS if outcome.findings else Exit.DONE
