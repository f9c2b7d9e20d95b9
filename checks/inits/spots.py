"""From syntax nodes to places in the text, in characters: the parser counts bytes."""

from __future__ import annotations

import ast

from checks.inits.model import Spot


def spot_of(node: ast.expr | ast.stmt | ast.alias, lines: list[str] | None) -> Spot:
    """Where a node of a parsed text stands; `lines` are the lines of that text, None for one in ASCII."""
    last, end = node.end_lineno or node.lineno, node.end_col_offset or 0
    if lines is None:
        return Spot(node.lineno, node.col_offset, last, end)
    return Spot(
        node.lineno, _characters(lines[node.lineno - 1], node.col_offset), last, _characters(lines[last - 1], end)
    )


def _characters(line: str, offset: int) -> int:
    return offset if line.isascii() else len(line.encode()[:offset].decode(errors="replace"))
