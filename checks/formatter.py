"""Format snippets as the repository's own formatter would: black in this process, or ruff in one process for all.

Both get the options that the repository states and read no configuration file, so a result depends on nothing else.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from checks.extractor import Extractor
from checks.facts.syntax import Unparsable, parse
from checks.facts.toml import load_toml
from checks.index import Index


class Formatter(NamedTuple):
    """A formatter, `black`, `ruff` or `none`, and the options that decide its output, by their dotted keys."""

    name: str
    options: tuple[tuple[str, str | int], ...] = ()

    @property
    def line_length(self) -> int:
        """The most characters in a line; the default of both formatters where the repository states none."""
        return int(dict(self.options).get("line-length", 88))


def formatter_of(index: Index) -> Formatter:
    """The formatter that the layout settings name, else the one that the repository is configured for."""
    tables = index.facts(_PYPROJECT, "pyproject.toml")
    for path in (".ruff.toml", "ruff.toml"):
        if index.exists(path):
            tables = {**tables, "ruff": index.facts(_RUFF_FILE, path)}
            break
    name = index.settings.profile.formatter
    if name == "auto":
        name = _configured(tables)
    return Formatter(name, tuple((key, value) for key, value in tables.get(name, {}).items() if key in _OPTIONS[name]))


def format_all(index: Index, formatter: Formatter, snippets: Sequence[str]) -> list[str]:
    """Each snippet formatted, empty for one that does not parse; what earlier runs have formatted is remembered.

    Without a formatter, or with one that is not installed, snippets come back as they are.
    """
    run = {"black": _with_black, "ruff": _with_ruff}.get(formatter.name)
    program = _program(formatter.name)
    if run is None or not program:
        return list(snippets)
    state = os.stat(program)
    name = f"{formatter.name} {state.st_size:x}-{state.st_mtime_ns:x} {json.dumps(formatter.options)}"
    return index.remember(name, snippets, lambda missing: run(formatter, missing))


_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "black": ("line-length", "skip-string-normalization", "skip-magic-trailing-comma", "preview"),
    "ruff": (
        *("line-length", "indent-width", "target-version", "preview", "format.preview"),
        *("format.quote-style", "format.indent-style", "format.skip-magic-trailing-comma"),
        *("format.docstring-code-format", "format.docstring-code-line-length"),
    ),
    "none": (),
}
_APART = "# mergeready: the next snippet\n"


def _configured(tables: Mapping[str, Mapping[str, Any]]) -> str:
    """Ruff is the formatter where its table says how to format, and where it is the only one with a table."""
    if "black" in tables:
        return "ruff" if any(key.startswith("format.") for key in tables.get("ruff", ())) else "black"
    return "ruff" if "ruff" in tables else "none"


def _pyproject(text: str) -> dict[str, Any]:
    tool = _toml(text).get("tool", {})
    return {name: _flat(tool[name]) for name in ("black", "ruff") if isinstance(tool, dict) and name in tool}


def _ruff_file(text: str) -> dict[str, Any]:
    return _flat(_toml(text))


_PYPROJECT: Extractor[dict[str, Any]] = Extractor("formatter-pyproject", _pyproject, dict)
_RUFF_FILE: Extractor[dict[str, Any]] = Extractor("formatter-ruff", _ruff_file, dict)


def _toml(text: str) -> dict[str, Any]:
    try:
        return load_toml(text)
    except ValueError:  # the settings say so, if that is where they are
        return {}


def _flat(table: Any) -> dict[str, Any]:
    """Strings, numbers and flags of a table by dotted key, one level down."""
    if not isinstance(table, dict):
        return {}
    inner = {
        f"{key}.{name}": own for key, value in table.items() if isinstance(value, dict) for name, own in value.items()
    }
    return {key.replace("_", "-"): value for key, value in {**table, **inner}.items() if isinstance(value, str | int)}


@cache
def _program(name: str) -> str:
    """The file of an installed formatter, empty where it is not installed."""
    if name == "ruff":
        from ruff.__main__ import find_ruff_bin  # type: ignore[import-untyped]

        try:
            return str(find_ruff_bin())
        except FileNotFoundError:
            return ""
    found = importlib.util.find_spec(name)
    return (found.origin or "") if found else ""


def _with_black(formatter: Formatter, snippets: list[str]) -> list[str]:
    import black
    from black.parsing import InvalidInput

    named = dict(formatter.options)
    mode = black.Mode(
        line_length=formatter.line_length,
        string_normalization=not named.get("skip-string-normalization", False),
        magic_trailing_comma=not named.get("skip-magic-trailing-comma", False),
        preview=bool(named.get("preview", False)),
    )
    results = []
    for snippet in snippets:
        try:
            results.append(black.format_str(snippet, mode=mode))
        except InvalidInput:
            results.append("")
    return results


def _with_ruff(formatter: Formatter, snippets: list[str]) -> list[str]:
    results = _ruff(formatter, snippets)
    if results is None:
        # One snippet that does not parse spoils the batch.
        good = [snippet for snippet in snippets if not isinstance(parse(snippet), Unparsable)]
        by_snippet = dict(zip(good, _ruff(formatter, good) or good, strict=True))
        results = [by_snippet.get(snippet, "") for snippet in snippets]
    return results


def _ruff(formatter: Formatter, snippets: list[str]) -> list[str] | None:
    """The snippets formatted in one process, None where that fails."""
    options = (part for key, value in formatter.options for part in ("--config", f"{key} = {json.dumps(value)}"))
    done = subprocess.run(
        [_program("ruff"), "format", "--isolated", "--no-cache", "--quiet", *options, "-"],
        input=_APART.join(snippets),
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",
        check=False,
    )
    results = [text.strip("\n") + "\n" for text in done.stdout.split(_APART)]
    return results if done.returncode == 0 and len(results) == len(snippets) else None
