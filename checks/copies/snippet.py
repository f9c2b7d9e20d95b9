"""Wrap a body or a header into a text that a formatter or a parser takes, and unwrap it again."""

from __future__ import annotations

from collections.abc import Sequence

_END = "_end_of_the_snippet_"  # keeps comments at the end in place, and a body of `...` on a line of its own


def wrap_body(indent: str, header: str, body: Sequence[str]) -> str:
    """A body below a header of its kind, at its own depth, so that lines break where they break in the file."""
    kind = "class _:" if header.lstrip().startswith("class") else "def _():"
    kind = f"async {kind}" if header.lstrip().startswith("async") else kind
    return _wrap(indent, [indent + kind, *body], _indent_of(body) or f"{indent}    ")


def wrap_header(indent: str, header: str) -> str:
    """A header without its body."""
    return _wrap(indent, [header.rstrip("\n")], f"{indent}    ")


def unwrap_body(snippet: str) -> tuple[str, ...] | None:
    """The body in a formatted snippet, None where it cannot be told from what was put round it."""
    lines = _unwrap(snippet)
    return lines[1:] if lines and lines[0].strip().endswith((" _:", "_():")) else None


def unwrap_header(snippet: str) -> tuple[str, ...] | None:
    """The header in a formatted snippet, the same way."""
    return _unwrap(snippet) or None


def _wrap(indent: str, lines: Sequence[str], inner: str) -> str:
    levels = range(len(indent.expandtabs(4)) // 4)
    return "\n".join((*(f"{'    ' * level}if _:" for level in levels), *lines, f"{inner}{_END}", ""))


def _unwrap(snippet: str) -> tuple[str, ...]:
    lines = snippet.split("\n")
    first = next((number for number, line in enumerate(lines) if line.strip() not in ("if _:", "")), 0)
    last = next((number for number, line in enumerate(lines) if line.strip() == _END), 0)
    return tuple(lines[first:last])


def _indent_of(body: Sequence[str]) -> str:
    first = next((line for line in body if line.strip()), "")
    return first[: len(first) - len(first.lstrip())]
