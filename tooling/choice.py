"""Which rules a command line asks for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from checks.engine import chosen
from checks.settings import RULE_NAMES, Settings
from tooling.errors import UserError


def rule_chooser(names: Sequence[str], only: Sequence[str], skip: Sequence[str]) -> Callable[[Settings], Sequence[str]]:
    """What picks the rules of a run, given its settings; UserError for a name that no rule has."""
    for name in (*names, *only, *skip):
        if name not in RULE_NAMES:
            from difflib import get_close_matches

            near = get_close_matches(name, RULE_NAMES, n=1)
            hint = f"did you mean {near[0]!r}?" if near else "see: mergeready rules"
            raise UserError(f"there is no rule {name!r}", hint=hint)
    return lambda settings: chosen(settings, names, only, skip, RULE_NAMES)
