"""The command line: find the command, parse its options, run it, and turn how it ends into an exit code.

Only the command that was asked for is imported, and nothing at all for `--version`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from tooling.version import VERSION


def main(argv: Sequence[str] | None = None) -> int:
    """Run `mergeready` with these arguments, those of the process by default; return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments in (["--version"], ["-V"]):
        print(f"mergeready {VERSION}")
        return 0
    try:
        from tooling.dispatch import dispatch
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130  # what `Exit.INTERRUPTED` is, which this was about to import
    if "_ARGCOMPLETE" in os.environ:
        from tooling.completion import complete

        complete()
    return dispatch(arguments)
