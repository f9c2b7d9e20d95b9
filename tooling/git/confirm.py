"""Ask before something large: at a terminal by a question, anywhere else by a refusal that names the way out."""

from __future__ import annotations

import sys

from tooling.git.plan import RefusedError
from tooling.git.text import shown


def confirm(question: str, wanted: str, refusal: RefusedError) -> None:
    """Have the user type what is wanted; `refusal` is raised where nobody is there, another on other words."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise refusal
    sys.stderr.write(f"{shown(question)} Type {shown(wanted)} to go on: ")
    sys.stderr.flush()
    if sys.stdin.readline().strip() != wanted:
        raise RefusedError("confirm", "not confirmed")
