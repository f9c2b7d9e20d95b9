"""An overview as a picture: a lane an IPU, a box a run of parts as wide as its share of the compute."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from pipelined.describe import binary
from pipelined.runs import runs, span

if TYPE_CHECKING:
    from pipelined.overview import Overview

WIDTH, LANE, MARGIN, LEAST = 960, 72, 24, 26
COLOURS = ("#dbeafe", "#dcfce7", "#fef9c3", "#fee2e2", "#ede9fe", "#ffedd5", "#cffafe", "#f5d0fe")
STYLE = "text{font:12px sans-serif;fill:#111}rect{stroke:#475569}path{fill:none;stroke:#475569}"


def overview_svg(view: Overview) -> str:
    """The picture as an SVG document; hovering over a box names its parts and their cost."""
    lanes = max(part.ipu for part in view.parts) + 1
    height = lanes * LANE + 2 * MARGIN
    body = "\n".join([*_lanes(lanes), *_boxes(view)])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH + 2 * MARGIN} {height}" role="img">\n'
        f"<title>{escape(view.model)} over {lanes} IPUs</title>\n<style>{STYLE}</style>\n{body}\n</svg>\n"
    )


def _lanes(lanes: int) -> Iterator[str]:
    for ipu in range(lanes):
        yield f'<text x="4" y="{MARGIN + ipu * LANE + 12}">IPU {ipu}</text>'


def _boxes(view: Overview) -> Iterator[str]:
    """The boxes from left to right, and a line with its bytes wherever a stage ends."""
    total = sum(part.flops for part in view.parts) or 1.0
    grouped = runs(view.parts, lambda part: part.module, lambda part: part.stage)
    room = WIDTH - MARGIN - LEAST * len(grouped)
    x, before = float(MARGIN), grouped[0][0]
    for group in grouped:
        share = sum(part.flops for part in group) / total
        width, y = LEAST + room * share, MARGIN + group[0].ipu * LANE + 18
        name = escape(span([part.module for part in group]))
        size = binary(sum(part.bytes for part in group))
        yield (
            f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="34" rx="4"'
            f' fill="{COLOURS[group[0].ipu % len(COLOURS)]}"><title>{name}: {size}, {share:.1%} of the compute</title>'
            "</rect>"
        )
        if width > 7 * len(name):
            yield f'<text x="{x + 5:.1f}" y="{y + 21}">{name}</text>'
        if group[0].stage != before.stage:
            top = MARGIN + before.ipu * LANE + 35
            yield f'<path d="M{x:.1f} {top} V{y}"/>'
            yield f'<text x="{x + 4:.1f}" y="{(top + y) / 2:.0f}">{binary(view.payload_bytes[before.stage])}</text>'
        x, before = x + width, group[0]
