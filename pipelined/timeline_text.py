"""A timeline as lines of text, as wide as there is room: `F0 F1 B0--- ..` or, where that does not fit, `FFBB.`.

Small letters are the passes of a stage that is not the first one of its IPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from pipelined.timeline import Lane, Span, Timeline

WAITING = "."
Piece = tuple[str, str]
"""Text, and the kind of step that it stands for: F, B, I, W, `.` for waiting, nothing for what is no step."""

_WORDS = {"F": "forward", "B": "backward", "I": "backward for inputs", "W": "backward for weights"}


def timeline_lines(found: Timeline, width: int) -> Iterator[list[Piece]]:
    """A line an IPU, no longer than the width; where even a letter a tick is too long, one below the other."""
    names = [f"IPU {lane.ipu}  " for lane in found.lanes]
    margin = max(map(len, names))
    room = max(width - margin, 1)
    scale = _scale(found, room)
    drawn = [_draw(lane, found, scale) for lane in found.lanes]
    for begin in range(0, max(map(len, drawn)), room):
        if begin:
            yield []
        for name, columns in zip(names, drawn, strict=True):
            runs = groupby(columns[begin : begin + room], key=lambda column: column[1])
            yield [(f"{name:<{margin}}", ""), *(("".join(text for text, _ in run), kind) for kind, run in runs)]


def timeline_table(found: Timeline) -> list[str]:
    """What each IPU computes, waits and holds, as columns with a head."""
    head = f"{'IPU':<5}{'busy':>8}{'idle':>8}{'bubble':>9}{'held':>6}"
    rows = [
        f"{lane.ipu:<5}{_number(lane.busy):>8}{_number(lane.idle):>8}{lane.idle / found.ticks:>9.1%}{lane.held:>6}"
        for lane in found.lanes
    ]
    return [head, *rows]


def timeline_legend(found: Timeline) -> str:
    """What the letters in the lines and the columns of the table mean."""
    kinds = {span.step.kind for lane in found.lanes for span in lane.spans}
    words = [f"{kind} {word}" for kind, word in _WORDS.items() if kind in kinds]
    several = len(set(found.ipu_of_stage)) < len(found.ipu_of_stage)
    small = "; small letters: not the first stage of the IPU" if several else ""
    return f"{', '.join(words)}, {WAITING} waiting{small}; held: activations at once"


def _number(ticks: float) -> str:
    return str(ticks) if isinstance(ticks, int) else f"{ticks:.1f}"


def _scale(found: Timeline, room: int) -> float:
    """Columns a tick: enough for each step's name and a blank, or for the name, or one."""
    name = max(len(_name(span, lane, found)) for lane in found.lanes for span in lane.spans)
    if not isinstance(found.ticks, int):
        return min(room / found.ticks, name + 1)
    return next((columns for columns in (name + 1, name) if columns * found.ticks <= room), 1)


def _draw(lane: Lane, found: Timeline, scale: float) -> list[Piece]:
    """Each column of a lane: its character and its kind."""
    columns: list[Piece] = []
    for span in lane.spans:
        begin, end = round(span.start * scale), round(span.end * scale)
        columns += [(WAITING, WAITING)] * (begin - len(columns))
        columns += [(character, span.step.kind) for character in _box(_name(span, lane, found), end - begin)]
    columns += [(WAITING, WAITING)] * (round(found.ticks * scale) - len(columns))
    return columns[:-1] if columns[-1][0] == " " else columns


def _box(name: str, width: int) -> str:
    if width < len(name):
        return name[0] * width
    blank = " " if width > len(name) else ""
    return f"{name:-<{width - len(blank)}}{blank}"


def _name(span: Span, lane: Lane, found: Timeline) -> str:
    """The kind and the microbatch; small where the stage is not the first one of its IPU."""
    name = f"{span.step.kind}{span.step.microbatch}"
    return name if span.step.stage == found.ipu_of_stage.index(lane.ipu) else name.lower()
