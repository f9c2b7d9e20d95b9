"""List the rules: what each one asks for, and whether it can mend what it finds.

Examples:
  mergeready rules
  mergeready rules --format json
  mergeready rules --format markdown > docs/rules.md
"""

from __future__ import annotations

import argparse
import json

from checks.engine import load_rule
from checks.settings import RULE_NAMES
from tooling.console import Console
from tooling.errors import Exit


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `rules`."""
    parser.add_argument("--format", choices=("human", "json", "markdown"), default="human", help="how to write it")


def run(options: argparse.Namespace, console: Console) -> int:
    """Print the list."""
    if options.format == "markdown":
        from checks.reports import pages

        console.data(pages.all_rules(RULE_NAMES))
    elif options.format == "json":
        console.data(json.dumps({"schema": 1, "rules": [_row(name) for name in RULE_NAMES]}, indent=2))
    else:
        for name in RULE_NAMES:
            row = _row(name)
            console.print(f"{name:<20} {'fixes' if row['fixable'] else '     '}  {row['summary']}")
    return Exit.DONE


def _row(name: str) -> dict[str, object]:
    rule = load_rule(name)
    return {
        "rule": name,
        "summary": (rule.__doc__ or "").partition("\n")[0],
        "fixable": bool(rule.FIXABLE),
        "codes": {f"{name}/{what}": text for what, text in rule.CODES.items()},
        "options": dict(rule.OPTIONS),
    }
