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
from tooling.reporting import write_file


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `rules`."""
    parser.add_argument("--format", choices=("human", "json", "markdown"), default="human", help="how to write it")
    parser.add_argument("--output", metavar="FILE", help="write it there instead of to the terminal")


def run(options: argparse.Namespace, console: Console) -> int:
    """Write the list."""
    text = _FORMATS[options.format]()
    if options.output:
        write_file(text, options.output)
    else:
        console.data(text)
    return Exit.DONE


def _markdown() -> str:
    from checks.reports import pages

    return pages.all_rules(RULE_NAMES)


def _json() -> str:
    return json.dumps({"schema": 1, "rules": [_row(name) for name in RULE_NAMES]}, indent=2)


def _human() -> str:
    rows = map(_row, RULE_NAMES)
    return "\n".join(f"{row['rule']:<20} {'fixes' if row['fixable'] else '     '}  {row['summary']}" for row in rows)


def _row(name: str) -> dict[str, object]:
    rule = load_rule(name)
    return {
        "rule": name,
        "summary": (rule.__doc__ or "").partition("\n")[0],
        "fixable": bool(rule.FIXABLE),
        "codes": {f"{name}/{what}": text for what, text in rule.CODES.items()},
        "options": dict(rule.OPTIONS),
    }


_FORMATS = {"human": _human, "json": _json, "markdown": _markdown}
