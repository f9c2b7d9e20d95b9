"""What is where and what crosses, for people to read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pipelined.runs import runs, span

if TYPE_CHECKING:
    from pipelined.blocks import BlockMark
    from pipelined.overview import Overview, Part, Share


def allocation_table(marks: Iterable[BlockMark]) -> str:
    """One line a block and its IPU; neighbours in one list that share an IPU stand in one line."""
    grouped = runs(marks, lambda mark: mark.module, lambda mark: mark.ipu_id)
    rows = [(span([mark.module for mark in group]), group[0].ipu_id) for group in grouped]
    width = max((len(name) for name, _ in rows), default=0)
    return "\n".join(f"  {name:<{width}}  IPU {'-' if ipu is None else ipu}" for name, ipu in rows)


def overview_table(view: Overview) -> str:
    """The parts with their cost, the sum of each IPU, and what crosses each boundary."""
    total = sum(part.flops for part in view.parts)
    head = ("IPU", "part", "parameters", "bytes", "compute")
    grouped = runs(view.parts, lambda part: part.module, lambda part: part.stage)
    parts = [_row(span([part.module for part in group]), group, total) for group in grouped]
    sums = [_row("all, each parameter once", [share], total) for share in view.shares]
    lines = [*_columns([head, *parts]), "", *_columns([head, *sums]), ""]
    lines.append(f"stages      {' -> '.join(f'IPU {ipu}' for ipu in view.ipu_of_stage)}")
    batch = ", ".join(f"{name} {'x'.join(map(str, shape))}" for name, shape in view.batch.items())
    lines.append(f"boundaries  {', '.join(map(binary, view.payload_bytes)) or 'none'}, for {batch}")
    if view.glue_parameters:
        lines.append(f"in no part  {view.glue_parameters:,} parameters")
    return "\n".join(lines)


def overview_data(view: Overview) -> dict[str, Any]:
    """The overview as JSON holds it."""
    return {**asdict(view), "batch": {name: list(shape) for name, shape in view.batch.items()}}


def binary(size: float) -> str:
    """A number of bytes as people write it: 1.5 MiB."""
    units = iter(("B", "KiB", "MiB", "GiB", "TiB"))
    unit = next(units)
    while size >= 1024 and unit != "TiB":
        size, unit = size / 1024, next(units)
    return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"


def _row(name: str, group: Sequence[Part | Share], total: float) -> tuple[str, ...]:
    share = sum(one.flops for one in group) / total if total else 0.0
    parameters, size = sum(one.parameters for one in group), sum(one.bytes for one in group)
    return str(group[0].ipu), name, f"{parameters:,}", binary(size), f"{share:.1%}"


def _columns(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """The rows as lines: the first two columns begin at one place, the numbers after them end at one."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    cells = [[(cell, width) for cell, width in zip(row, widths, strict=True)] for row in rows]
    return [
        "  ".join([f"{cell:<{width}}" for cell, width in row[:2]] + [f"{cell:>{width}}" for cell, width in row[2:]])
        for row in cells
    ]
