"""Read the fields of an `IPUConfig` from text: one value of a command line, or a whole file."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from pipelined.errors import IncompatibleIPUConfigError


def read_fields(name_or_path: str | Path, file_name: str) -> dict[str, Any]:
    """The fields in a file, in that file of a folder, or in that of a repository of the Hugging Face hub.

    IncompatibleIPUConfigError where there is no such file, or where it holds something else.
    """
    try:
        values = json.loads(_located(name_or_path, file_name).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise IncompatibleIPUConfigError(
            f"{name_or_path} holds no IPU config: {reason}",
            hint=f"give a file, a folder or a repository of the hub with an {file_name}",
        ) from error
    if not isinstance(values, dict):
        raise IncompatibleIPUConfigError(
            f"{name_or_path} holds a {type(values).__name__}, and an IPU config is an object"
        )
    return values


def parsed(name: str, text: str, *, like: object) -> Any:
    """The text as a value of the type that the field holds now."""
    if isinstance(like, bool):
        if text.lower() in ("true", "1", "y", "yes"):
            return True
        if text.lower() in ("false", "0", "n", "no"):
            return False
        raise ValueError(f"Can't derive true or false from {text} (key {name})")
    if isinstance(like, int | float):
        return type(like)(text)
    if isinstance(like, list):
        return json.loads(re.sub(r"\s+", ",", text))
    if isinstance(like, str):
        return text
    raise ValueError(f"You can only update int, float, bool, list or string values, got {text} for key {name}")


def _located(name_or_path: str | Path, file_name: str) -> Path:
    path = Path(name_or_path)
    if path.is_dir():
        return path / file_name
    if path.is_file():
        return path
    from huggingface_hub import hf_hub_download

    return Path(hf_hub_download(str(name_or_path), file_name))
