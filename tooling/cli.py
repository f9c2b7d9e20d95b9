"""The command line: find the command, parse its options, run it, and turn how it ends into an exit code.

Only the command that was asked for is imported, and nothing at all for `--version`.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

from tooling.version import VERSION


def run() -> int:
    """What the installed command calls: `main`, in a process that has nothing else to do."""
    # Imports make tens of thousands of objects and no garbage, so to look for some after every 700 is idle.
    gc.set_threshold(50_000)
    try:
        return main()
    finally:
        gc.freeze()  # or else the interpreter looks through all of them once more at its end


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
