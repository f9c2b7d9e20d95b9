"""Say what a rule or a code means, or why there is a finding at a line and what can be done about it.

Examples:
  mergeready explain copied-code
  mergeready explain copied-code/body
  mergeready explain src/diffusers/models/unet.py:120
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from difflib import get_close_matches

from checks.model import Finding
from checks.reports import human, pages
from checks.run import Judge, Outcome, codes
from checks.settings import RULE_NAMES
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
    path, _, line = options.what.rpartition(":")
    lines = _about_line(path, int(line), options) if path and line.isdecimal() else _about_name(options.what)
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
    relative = _relative(path, checkout)
    judge = Judge(checkout.cache(), rule_chooser((), (), ()), jobs=checkout.jobs)
    tree = checkout.tree()
    if relative not in tree.keys:
        raise UserError(f"{path} is not a file that is looked at", hint="name it relative to here or to the root")
    outcome = judge(tree)
    here = [found for found in _all(outcome) if found.path == relative and line in (found.line, *found.anchors)]
    if not here:
        near = sorted(abs(found.line - line) for found in _all(outcome) if found.path == relative)
        yield f"no rule finds anything at {relative}:{line}", "green"
        if near:
            nearest = next(f for f in _all(outcome) if f.path == relative and abs(f.line - line) == near[0])
            yield f"the nearest finding of this file is at line {nearest.line}: {nearest.code}", ""
    for found in here:
        yield from _about_finding(found, outcome)


def _about_finding(found: Finding, outcome: Outcome) -> Iterator[Line]:
    yield from human.finding(found)
    if found.source:
        yield f"    compared with {found.source[0]}:{found.source[1]}", ""
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
    comment = f"<!-- mergeready: skip[{found.rule}] why -->" if found.path.endswith((".md", ".mdx")) else ""
    yield f"to suppress it:  {comment or f'# mergeready: skip[{found.rule}] why'}   on that line or above it", ""
    yield f"to accept it:    mergeready baseline accept {found.rule} --path {found.path}", ""


def _all(outcome: Outcome) -> tuple[Finding, ...]:
    return (*outcome.findings, *outcome.silenced, *outcome.accepted)


def _relative(path: str, checkout: Checkout) -> str:
    """A path as the tree names it, given from here or from the root."""
    from_here = os.path.relpath(os.path.abspath(path), checkout.root).replace(os.sep, "/")
    return from_here if not from_here.startswith("../") else path.replace(os.sep, "/")
