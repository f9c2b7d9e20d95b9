"""Read TOML of any quality."""

from __future__ import annotations

from typing import Any

_LARGEST = 1_000_000  # characters; the parser takes three seconds and 150 MB for them


def load_toml(text: str) -> dict[str, Any]:
    r"""The tables of a text; ValueError that says why there are none, and no other exception, however odd the text.

    >>> load_toml("[a]\nb = 1\n")
    {'a': {'b': 1}}
    """
    if not text:
        return {}
    if len(text) > _LARGEST:
        raise ValueError(f"longer than {_LARGEST} characters")
    import tomllib

    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
