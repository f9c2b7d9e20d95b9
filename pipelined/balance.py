"""Share layers among IPUs by what they cost, not by how many they are.

The most loaded IPU sets the pace of a pipeline. So its load is made as small as it can be, and then the others as even
as they can be: both exactly, by dynamic programming over where one IPU ends and the next begins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from pipelined.errors import PlacementError

INFINITE = float("inf")


@dataclass(frozen=True)
class Load:
    """What a layer, or an IPU, takes: compute in any one unit (operations or seconds), memory in bytes."""

    compute: float = 0.0
    memory: int = 0

    def __add__(self, other: Load) -> Load:
        return Load(self.compute + other.compute, self.memory + other.memory)


@dataclass(frozen=True)
class Balance:
    """How many layers each IPU holds, and what each then carries; as text it explains itself."""

    layers_per_ipu: tuple[int, ...]
    loads: tuple[Load, ...]

    def __str__(self) -> str:
        total = sum(load.compute for load in self.loads) or 1.0
        worst = max(range(len(self.loads)), key=lambda ipu: self.loads[ipu].compute)
        shares = ", ".join(f"{load.compute / total:.0%}" for load in self.loads)
        pace = self.loads[worst].compute * len(self.loads) / total
        return (
            f"layers_per_ipu={list(self.layers_per_ipu)} gives the IPUs {shares} of the compute; IPU {worst} sets the"
            f" pace, with {pace:.2f} times an even share"
        )


def balance(
    layers: Sequence[Load], asked: Sequence[int], *, besides: Sequence[Load] = (), memory_limit: float = INFINITE
) -> Balance:
    """The best counts of layers: one for each of `asked`, where -1 is free and any other number stays.

    `besides` is what each IPU carries anyhow, embeddings and heads. PlacementError where the fixed entries do not fit
    the layers, where free IPUs would stay empty, or where no split keeps every IPU within `memory_limit` bytes.
    """
    _refuse_misfit(len(layers), asked)
    carried = [*besides, *[Load()] * (len(asked) - len(besides))]
    totals = [Load(), *accumulate(layers)]

    def load(ipu: int, start: int, end: int) -> Load:
        return (
            Load(totals[end].compute - totals[start].compute, totals[end].memory - totals[start].memory) + carried[ipu]
        )

    def compute(ipu: int, start: int, end: int) -> float:
        one = load(ipu, start, end)
        return one.compute if one.memory <= memory_limit else INFINITE

    pace, _ = _cuts(len(layers), asked, compute, max)
    if pace == INFINITE:
        raise PlacementError(
            f"{len(layers)} layers and what stands beside them need"
            f" {totals[-1].memory + sum(one.memory for one in carried)} bytes, and no split keeps each of {len(asked)}"
            f" IPUs within {memory_limit:.0f}",
            hint="use more IPUs, or free those with a fixed number of layers by writing -1",
        )

    def square(ipu: int, start: int, end: int) -> float:
        one = compute(ipu, start, end)
        return one * one if one <= pace else INFINITE

    _, cuts = _cuts(len(layers), asked, square, lambda one, other: one + other)
    spans = list(enumerate(pairwise(cuts)))
    return Balance(
        tuple(end - start for _, (start, end) in spans), tuple(load(ipu, start, end) for ipu, (start, end) in spans)
    )


def _cuts(
    layers: int,
    asked: Sequence[int],
    price: Callable[[int, int, int], float],
    join: Callable[[float, float], float],
) -> tuple[float, list[int]]:
    """The cheapest way to cut the layers into one span an IPU: its price, and where each span begins and ends.

    Spans of fixed IPUs have their length, those of free ones at least one layer.
    """
    best: dict[int, tuple[float, list[int]]] = {0: (0.0, [0])}
    for ipu, count in enumerate(asked):
        reached: dict[int, tuple[float, list[int]]] = {}
        for start, (paid, cuts) in best.items():
            ends = range(start + 1, layers + 1) if count == -1 else (start + count,)
            for end in ends:
                if end > layers:
                    continue
                total = join(paid, price(ipu, start, end))
                if end not in reached or total < reached[end][0]:
                    reached[end] = (total, [*cuts, end])
        best = reached
    return best.get(layers, (INFINITE, []))


def _refuse_misfit(layers: int, asked: Sequence[int]) -> None:
    free, fixed = asked.count(-1), sum(count for count in asked if count != -1)
    if (free and fixed + free > layers) or (not free and fixed != layers):
        raise PlacementError(
            f"layers_per_ipu={list(asked)} does not fit {layers} layers: {fixed} are fixed and {free} IPUs are free",
            hint="a free IPU takes at least one layer",
        )
