"""Say what a rule or a code means, or why there is a finding at a line and what can be done about it.

Examples:
  mergeready explain copied-code
  mergeready explain copied-code/body
  mergeready explain src/diffusers/models/unet.py:120
"""

from __future__ import annotations

import argparse
import glob
import os
import re
import shlex
from collections.abc import Iterator
from contextlib import closing
from difflib import get_close_matches

from checks.model import Finding
from checks.reports import human, pages
from checks.run import Judge, Outcome, codes
from checks.settings import RULE_NAMES
from checks.text import visible_line
from tooling.checkout import Checkout, add_options, open_checkout
from tooling.choice import rule_chooser
from tooling.console import Console
from tooling.errors import Exit, UserError

Line = tuple[str, str]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `explain`."""
    parser.add_argument("what", metavar="RULE|CODE|PATH:LINE", help="what to explain")
    add_options(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    """Print the explanation."""
    place = re.fullmatch(r"(.+):([0-9]{1,9})", options.what, re.DOTALL)
    lines = _about_line(place[1], int(place[2]), options) if place else _about_name(options.what)
    for text, style in lines:
        console.print(text, style)
    return Exit.DONE


def _about_name(what: str) -> Iterator[Line]:
    known = codes()
    rule = what.partition("/")[0]
    if what in known:
        yield f"{what}: {known[what]}", "bold"
        yield "", ""
    elif what not in RULE_NAMES:
        near = get_close_matches(what, (*RULE_NAMES, *known), n=1)
        hint = f"did you mean {near[0]!r}?" if near else "see: mergeready rules; a finding is named PATH:LINE"
        raise UserError(f"there is no rule or code {what!r}", hint=hint)
    if rule in RULE_NAMES:
        for text in pages.rule(rule).split("\n"):
            yield text, ""


def _about_line(path: str, line: int, options: argparse.Namespace) -> Iterator[Line]:
    checkout = open_checkout(options)
    tree = checkout.tree()
    relative = next((name for name in _names(path, checkout) if name in tree.keys), "")
    if not relative:
        raise UserError(f"{path} is not a file that is looked at", hint="name it relative to here or to the root")
    with closing(checkout.cache()) as cache:
        outcome = Judge(cache, rule_chooser((), (), ()), jobs=checkout.jobs)(tree)
    found_here = [found for found in _all(outcome) if found.path == relative]
    at_line = [found for found in found_here if line in (found.line, *found.anchors)]
    if not at_line:
        yield f"no rule finds anything at {visible_line(relative)}:{line}", "green"
    if found_here and not at_line:
        nearest = min(found_here, key=lambda found: abs(found.line - line))
        yield f"the nearest finding of this file is at line {nearest.line}: {nearest.code}", ""
    for found in at_line:
        yield from _about_finding(found, outcome)


def _about_finding(found: Finding, outcome: Outcome) -> Iterator[Line]:
    yield from human.finding(found)
    if found.source:
        yield f"    compared with {visible_line(found.source[0])}:{found.source[1]}", ""
    for text in found.detail.split("\n") if found.detail else ():
        yield f"    {text}", {"+": "green", "-": "red", "@": "cyan"}.get(text[:1], "")
    yield f"    {codes()[found.code]}", ""
    if found in outcome.silenced:
        yield "    a comment suppresses it", "dim"
    elif found in outcome.accepted:
        yield "    the baseline accepts it", "dim"
    else:
        yield from _ways_out(found)
    yield "", ""


def _ways_out(found: Finding) -> Iterator[Line]:
    if found.edits:
        yield f"to mend it:      mergeready check {found.rule} --fix   (--diff shows it first)", ""
    if found.rule not in RULE_NAMES:
        return
    comment = f"<!-- mergeready: skip[{found.rule}] why -->" if found.path.endswith((".md", ".mdx")) else ""
    yield f"to suppress it:  {comment or f'# mergeready: skip[{found.rule}] why'}   on that line or above it", ""
    # Whoever named the file may have thought of those who copy this line into a shell.
    pattern = shlex.quote(visible_line(glob.escape(found.path)))
    yield f"to accept it:    mergeready baseline accept {found.rule} --path {pattern}", ""


def _all(outcome: Outcome) -> tuple[Finding, ...]:
    return (*outcome.findings, *outcome.silenced, *outcome.accepted)


def _names(path: str, checkout: Checkout) -> tuple[str, str]:
    """What the tree may call a path: one given from here, or from the root."""
    from_here = os.path.relpath(os.path.abspath(path), checkout.root)
    return from_here.replace(os.sep, "/"), os.path.normpath(path).replace(os.sep, "/")
