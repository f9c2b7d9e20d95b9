"""The options that all git commands share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser


def add_options(parser: ArgumentParser, *, dry_run: bool = True, fetch: bool = False) -> None:
    """The options that all git commands have; `fetch` adds that of a dry run which could ask remotes."""
    if fetch:
        parser.add_argument("--fetch", action="store_true", help="with --dry-run: ask the remotes first")
    if dry_run:
        parser.add_argument(
            "--dry-run", action="store_true", help="show the plan and what would come of it; change nothing"
        )
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object, and nothing else, on standard output"
    )
