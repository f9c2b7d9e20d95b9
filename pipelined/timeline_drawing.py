"""A timeline as a picture: a lane an IPU, a box a step as wide as it takes long."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from pipelined.drawing import LANE, MARGIN, STYLE, WIDTH
from pipelined.order import Kind
from pipelined.timeline import Lane, Span, Timeline

HEIGHT, LETTER = 34, 8
KINDS: dict[Kind, tuple[str, str]] = {
    "F": ("#bfdbfe", "forward"),
    "B": ("#bbf7d0", "backward"),
    "I": ("#a5f3fc", "backward, for the inputs"),
    "W": ("#fde68a", "backward, for the weights"),
}


def timeline_svg(found: Timeline, model: str) -> str:
    """The picture as an SVG document; hovering over a box says what it is and when it runs."""
    height = len(found.lanes) * LANE + 2 * MARGIN
    title = f"{escape(model)}: {found.schedule}, {found.microbatches} microbatches, {found.bubble:.1%} bubble"
    body = "\n".join(line for lane in found.lanes for line in _lane(lane, found))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH + 2 * MARGIN} {height}" role="img">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n{body}\n</svg>\n"
    )


def _lane(lane: Lane, found: Timeline) -> Iterator[str]:
    """What the IPU does as text, the whole time as one grey box, and its steps on that."""
    top = MARGIN + lane.ipu * LANE
    share = lane.idle / found.ticks
    yield f'<text x="{MARGIN}" y="{top + 12}">IPU {lane.ipu}: {share:.1%} bubble, holds {lane.held} activations</text>'
    yield f'<rect x="{MARGIN}" y="{top + 18}" width="{WIDTH}" height="{HEIGHT}" fill="#f1f5f9"/>'
    for span in lane.spans:
        yield from _box(span, top + 18, WIDTH / found.ticks)


def _box(span: Span, y: int, scale: float) -> Iterator[str]:
    x, width, step = MARGIN + span.start * scale, (span.end - span.start) * scale, span.step
    colour, way = KINDS[step.kind]
    what = f"stage {step.stage}, microbatch {step.microbatch}, {way}: ticks {span.start:g} to {span.end:g}"
    yield (
        f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{HEIGHT}" fill="{colour}"><title>{what}</title></rect>'
    )
    if width > LETTER * len(str(step)):
        yield f'<text x="{x + 3:.1f}" y="{y + 21}">{step}</text>'
