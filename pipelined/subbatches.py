"""The rows of a forward pass inside `generate` in sub-batches, with what is known of each before anything runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

from transformers.generation.utils import ALL_CACHE_NAMES

from pipelined.cache import caches_in, check_cache, empty_copy, length_of, outline
from pipelined.errors import PipelineError
from pipelined.fills import Fills
from pipelined.flows import flow_of
from pipelined.growth import DryRun, Known
from pipelined.microbatches import rows_of, split_rows
from pipelined.recent import Recent
from pipelined.runner import Runner

Forward = Callable[..., Any]

SHAPES = 64
"""How many signatures keep their dry runs."""

CACHE = "the cache that was given"
"""Stands in an output for the cache, which is no tensor to be sent."""


@dataclass(frozen=True)
class Group:
    """Sub-batches alike, in a row, from number `first` on; `length` is the cache's where it matters."""

    first: int
    batches: list[dict[str, Any]]
    key: str
    dry: DryRun
    length: int | None

    @property
    def signature(self) -> tuple[str, int, int | None]:
        """What a program for these is known by."""
        return self.key, len(self.batches), self.length

    @property
    def numbers(self) -> slice:
        """Which of all sub-batches these are."""
        return slice(self.first, self.first + len(self.batches))


class SubBatches:
    """Cuts arguments into sub-batches, and finds out by dry runs what flows through the model for them."""

    def __init__(self, runner: Runner, microbatches: int) -> None:
        self._runner, self._microbatches = runner, microbatches
        self._entered: Forward | None = None
        self._known: Recent[Known] = Recent(SHAPES)

    def of(self, name: str, forward: Forward, arguments: dict[str, Any], cache: Any, unit: int) -> list[Group]:
        """As many sub-batches as microbatches, or fewer; `unit` is how many rows must stay together.

        PipelineError where the cache cannot be on several stages, and where the model cannot be cut.
        """
        if cache is not None:
            check_cache(cache)
        units = -(-rows_of(arguments) // unit)
        batches = split_rows(arguments, -(-units // self._microbatches) * unit)
        keyed = [(number, f"{name} {self._key(batch, cache)}") for number, batch in enumerate(batches)]
        groups = []
        for key, alike in groupby(keyed, key=lambda one: one[1]):
            numbers = [number for number, _ in alike]
            dry_run = partial(self._dry_run, forward, batches[numbers[0]], cache, numbers[0])
            dry, length = self._known.get(key, Known).at(length_of(cache), dry_run)
            groups.append(Group(numbers[0], [batches[number] for number in numbers], key, dry, length))
        return groups

    @contextmanager
    def entering(self, forward: Forward) -> Iterator[None]:
        """While this lasts, who calls the model calls this."""
        self._entered = forward
        try:
            yield
        finally:
            self._entered = None

    @property
    def is_entered(self) -> bool:
        """Whether a dry run or a stage is about to call the model, or has."""
        return self._entered is not None

    def enter(self, **arguments: Any) -> Any:
        """What the model's forward does meanwhile; no caches are in what it returns.

        PipelineError where there is one that was not given, or another kind of memory: stages would fill it in part.
        """
        assert self._entered is not None
        output = self._entered(**arguments)
        given, returned = caches_in(arguments), caches_in(output)
        own = [name for name in ALL_CACHE_NAMES if output.get(name) is not None and (name not in returned or not given)]
        if own:
            raise PipelineError(f"the forward keeps {own[0]!r} of its own making", hint="generate with use_cache=False")
        return _bare(output)

    def _key(self, batch: Mapping[str, Any], cache: Any) -> str:
        """What a dry run depends on besides the length of the cache, which all masks grow with."""
        if cache is None:
            return self._runner.key(batch)
        fixed = {
            name: "mask" if name.endswith("mask") and value is not None else value for name, value in batch.items()
        }
        return f"{self._runner.key(fixed)} {outline(cache)}"

    def _dry_run(self, forward: Forward, batch: dict[str, Any], cache: Any, number: int) -> DryRun:
        empty = empty_copy(cache, number, self._runner.ranks.device)
        length, fills = length_of(empty), Fills()

        def started(**arguments: Any) -> Any:
            # A dry run that fails may be followed by another.
            fills.of_call.clear()
            return forward(**arguments)

        with self.entering(started), fills.watched(self._runner.model, empty):
            flow = flow_of(self._runner.model, with_cache(batch, empty))
        return DryRun(length, flow, tuple(tuple(one) for one in fills.of_call))


def with_cache(batch: Mapping[str, Any], cache: Any) -> dict[str, Any]:
    """The arguments with this cache in place of the one in them."""
    return {**batch, **dict.fromkeys(caches_in(batch), cache)}


def restored(output: Any, cache: Any) -> Any:
    """An output of a forward that was entered, with this cache in it."""
    names = [name for name, value in output.items() if isinstance(value, str) and value == CACHE]
    for name in names:
        output[name] = cache
    return output


def _bare(output: Any) -> Any:
    """The output without caches, and without what an encoder returned: that is an argument."""
    caches = caches_in(output)
    kept = {name: CACHE if name in caches else value for name, value in output.items() if name[:8] != "encoder_"}
    return type(output)(**kept)


def rows(groups: Sequence[Group]) -> list[int]:
    """How many rows each of all sub-batches has."""
    return [rows_of(batch) for group in groups for batch in group.batches]
