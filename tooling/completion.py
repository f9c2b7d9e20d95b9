"""Answer the shell's question how a command line could go on; never entered otherwise."""

from __future__ import annotations

import argcomplete

from tooling.parsing import whole_parser


def complete() -> None:
    """Write the completions for the line in the environment and end the process."""
    argcomplete.autocomplete(whole_parser())
