"""Hold a table of settings to its shape, so that a misspelt key or a wrong type is said and never ignored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from checks.errors import CheckError


def known(names: Iterable[Any], allowed: Iterable[str], source: str, where: str) -> None:
    """Refuse a name that is not in `allowed`: CheckError with the nearest one that is."""
    allowed = tuple(allowed)
    for name in names:
        if name not in allowed:
            from difflib import get_close_matches

            near = get_close_matches(str(name), allowed, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(allowed)}"
            raise CheckError(f"{source}: {where} has no {str(name)!r}", hint=hint)


def typed(value: Any, like: object, source: str, where: str) -> None:
    """Refuse a value whose type is not that of `like`; the first item of a tuple or mapping there stands for all."""
    if isinstance(like, tuple):
        fits, kind = isinstance(value, list), "a list"
    elif isinstance(like, Mapping):
        fits, kind = isinstance(value, dict), "a table"
    else:
        fits, kind = (
            type(value) is type(like),
            {str: "a string", bool: "true or false", int: "a whole number"}[type(like)],
        )
    if not fits:
        raise CheckError(f"{source}: {where} must be {kind}, not {value!r}")
    if isinstance(like, tuple) and like:
        for item in value:
            typed(item, like[0], source, where)
    if isinstance(like, Mapping) and like:
        for key, item in value.items():
            typed(item, next(iter(like.values())), source, f"{where}.{key}")


def place(source: str, *keys: str) -> str:
    """What a key is called in a settings file.

    >>> place("pyproject.toml", "rules"), place("mergeready.toml", "rules"), place("mergeready.toml")
    ('tool.mergeready.rules', 'rules', 'the top level')
    """
    start = () if source == "mergeready.toml" else ("tool", "mergeready")
    return ".".join((*start, *keys)) or "the top level"
