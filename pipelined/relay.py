"""Have a forward pass inside `generate` computed by all stages, and its output in every process."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

import torch
import torch.distributed as dist
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten

from pipelined.agreement import agree, content
from pipelined.cache import Fills, SpreadCache, caches_in, check_cache, husk, length_of, outline, settle, spread
from pipelined.engine import Program, program
from pipelined.errors import PipelineError
from pipelined.flows import flow_of
from pipelined.growth import DryRun, Known
from pipelined.microbatches import merge, rows_of, split_rows
from pipelined.recent import Recent
from pipelined.runner import Runner
from pipelined.stage import Skipped

Forward = Callable[..., Any]

PROGRAMS, SHAPES = 16, 64
"""How many programs keep their buffers, and how many signatures their dry runs."""

_CACHE = "the cache that was given"


@dataclass(frozen=True)
class _Group:
    """Sub-batches alike, in a row, from number `first` on; `length` is the cache's where it matters."""

    first: int
    batches: list[dict[str, Any]]
    key: str
    dry: DryRun
    length: int | None

    @property
    def signature(self) -> tuple[str, int, int | None]:
        return self.key, len(self.batches), self.length


class Relay:
    """Passes the rows of a batch through the stages in sub-batches; every process calls it with the same arguments."""

    def __init__(self, runner: Runner, microbatches: int) -> None:
        self.runner, self.microbatches = runner, microbatches
        self.entered: Forward | None = None
        """What the model's forward is to do while a dry run or a stage calls it."""
        self.raised_by_all = False
        """Whether every process raises the error that is on its way."""
        self._known: Recent[Known] = Recent(SHAPES)
        self._programs: Recent[Program] = Recent(PROGRAMS)
        self._templates: Recent[Any] = Recent(SHAPES)
        self._outputs: dict[int, Any] = {}
        runner.closing.append(self._close)

    def agree(self, words: str, error: Exception | None) -> None:
        """Go on if every process of the replica says the same words and none has an error; else all of them raise."""
        with self._together():
            verdict = agree(words, error, self.runner.ranks, everywhere=False)
        if verdict is not None:
            self.raised_by_all = True
            raise verdict from error

    def share_random_state(self) -> None:
        """Give every process of the replica the first one's random numbers."""
        ranks = self.runner.ranks
        with self._together():
            state = torch.get_rng_state()
            dist.broadcast(state, src=ranks.global_rank(0), group=ranks.pipeline())
            torch.set_rng_state(state)
            if ranks.device.type == "cuda":
                state = torch.cuda.get_rng_state(ranks.device).to(ranks.device)
                dist.broadcast(state, src=ranks.global_rank(0), group=ranks.pipeline())
                torch.cuda.set_rng_state(state.cpu(), ranks.device)

    def run(self, name: str, forward: Forward, arguments: dict[str, Any], *, unit: int) -> Any:
        """What this forward returns; a cache in it is the one in the arguments, which stands for those of all stages.

        There are as many sub-batches as microbatches, or fewer; `unit` is how many rows must stay together. What is
        wrong with the arguments every process raises, and the session lives on.
        """
        groups: list[_Group] = []
        error = None
        cache = next(iter(caches_in(arguments).values()), None)
        try:
            groups = self._grouped(name, forward, arguments, cache, unit)
        except Exception as raised:  # noqa: BLE001 - whatever it is, all processes are to raise it
            error = raised
        self.agree(f"{[group.signature for group in groups]}, tokens {_tokens(arguments):08x}", error)
        with self._together(), torch.no_grad():
            return self._passed(forward, groups, cache)

    def _grouped(self, name: str, forward: Forward, arguments: dict[str, Any], cache: Any, unit: int) -> list[_Group]:
        if cache is not None:
            check_cache(cache)
        units = -(-rows_of(arguments) // unit)
        batches = split_rows(arguments, -(-units // self.microbatches) * unit)
        keyed = [(index, self._key(name, batch, cache)) for index, batch in enumerate(batches)]
        groups = []
        for key, alike in groupby(keyed, key=lambda one: one[1]):
            numbers = [index for index, _ in alike]
            empty = _husk(cache, numbers[0], self.runner.ranks.device)
            known = self._known.get(key, Known)
            first = {**batches[numbers[0]], **dict.fromkeys(caches_in(arguments), empty)}
            dry, length = known.at(length_of(cache), partial(self._dry_run, forward, first, empty))
            groups.append(_Group(numbers[0], [batches[index] for index in numbers], key, dry, length))
        return groups

    def _key(self, name: str, batch: dict[str, Any], cache: Any) -> str:
        """What a dry run depends on besides the length of the cache, which all masks grow with."""
        if cache is None:
            return f"{name} {self.runner.key(batch)}"
        fixed = {
            name: "mask" if name.endswith("mask") and value is not None else value for name, value in batch.items()
        }
        return f"{name} {self.runner.key(fixed)} {outline(cache)}"

    def _dry_run(self, forward: Forward, batch: dict[str, Any], cache: Any) -> DryRun:
        fills = Fills()

        def started(**arguments: Any) -> Any:
            fills.of_call.clear()
            return _bare(forward(**arguments))

        length = length_of(cache)
        with self._entering(started), fills.watched(self.runner.model, cache):
            flow = flow_of(self.runner.model, batch)
        return DryRun(length, flow, tuple(tuple(one) for one in fills.of_call))

    def _passed(self, forward: Forward, groups: Sequence[_Group], cache: Any) -> Any:
        made = [self._programs.get(group.signature, partial(self._program, group)) for group in groups]
        if cache is not None:
            _spread_over(cache, made[0], groups)
        outputs: list[Any] = []
        with self._entering(lambda **arguments: _bare(forward(**arguments))):
            for group, one in zip(groups, made, strict=True):
                self._outputs.clear()
                one.run_each(_by_stage(one, group, cache), step=0)
                outputs += [self._outputs.pop(index) for index in sorted(self._outputs)]
        merged = merge(outputs, [rows_of(batch) for group in groups for batch in group.batches]) if outputs else None
        shared = self._shared(tuple(group.signature for group in groups), merged, made[0].last_ipu)
        if cache is not None:
            _advance(cache, made[0], groups)
        return _with_cache(shared, cache)

    def _program(self, group: _Group) -> Program:
        runner = self.runner
        return program(
            runner.model,
            group.dry.flow,
            runner.ranks,
            self._finish,
            microbatches=len(group.batches),
            schedule=runner.schedule,
            training=False,
            seed=runner.seed,
        )

    def _finish(self, output: Any, microbatch: int) -> torch.Tensor:
        self._outputs[microbatch] = output
        return torch.zeros(1, device=self.runner.ranks.device)

    def _shared(self, key: Any, output: Any, last: int) -> Any:
        """The output of the last stage in every process; how it is built is sent once for each signature."""
        ranks = self.runner.ranks
        source, group = ranks.global_rank(last), ranks.pipeline()

        def template() -> Any:
            sent = [tree_map(_outlined, output)]
            dist.broadcast_object_list(sent, src=source, group=group, device=ranks.device)
            return sent[0]

        leaves, spec = tree_flatten(self._templates.get(key, template))
        own = tree_leaves(output) if ranks.ipu == last else leaves
        for index, (leaf, mine) in enumerate(zip(leaves, own, strict=True)):
            if not isinstance(leaf, torch.Tensor):
                continue
            if (mine.shape, mine.dtype) != (leaf.shape, leaf.dtype):
                raise PipelineError(
                    f"the model returned {list(mine.shape)} where it returned {list(leaf.shape)} before"
                )
            leaves[index] = mine.contiguous() if ranks.ipu == last else torch.empty_like(leaf, device=ranks.device)
            dist.broadcast(leaves[index], src=source, group=group)
        return tree_unflatten(leaves, spec)

    @contextmanager
    def _entering(self, forward: Forward) -> Iterator[None]:
        self.entered = forward
        try:
            yield
        finally:
            self.entered = None

    @contextmanager
    def _together(self) -> Iterator[None]:
        try:
            with self.runner.together():
                yield
        except Exception:
            self.raised_by_all = True
            raise

    def _close(self) -> None:
        for made in self._programs:
            made.close()
        self._programs.clear()


def _spread_over(cache: Any, made: Program, groups: Sequence[_Group]) -> None:
    """Give every stage of this process a cache for each sub-batch, if none has been given yet."""
    filling = tuple(
        (call.module, stage)
        for call, stage, fills in zip(made.flow.calls, made.plan.stage_of_call, groups[0].dry.fills, strict=True)
        if fills
    )
    rows = [rows_of(batch) for group in groups for batch in group.batches]
    if not isinstance(cache, SpreadCache):
        parts = [[copy.deepcopy(cache) for _ in rows] for _ in made.stages or (None,)]
        spread(cache, parts, rows, filling)
    elif (cache.rows, cache.filling) != (rows, filling):
        raise PipelineError("the cache was filled by other stages, or with other rows", hint="begin with a new cache")


def _by_stage(made: Program, group: _Group, cache: Any) -> list[list[dict[str, Any]]]:
    """The arguments of each stage, with the stage's own caches; what other stages add to them is added as shapes."""
    if cache is None:
        return [group.batches] * len(made.stages)
    found = []
    for stage, parts in zip(made.stages, cache.parts, strict=bool(made.stages)):
        own = parts[group.first : group.first + len(group.batches)]
        stage.skipped = _filling(own, group.dry)
        pairs = zip(group.batches, own, strict=True)
        found.append([{**batch, **dict.fromkeys(caches_in(batch), part)} for batch, part in pairs])
    return found


def _filling(parts: Sequence[Any], dry: DryRun) -> Skipped:
    return lambda call, number: _fill(parts[number], dry.fills[call])


def _advance(cache: Any, made: Program, groups: Sequence[_Group]) -> None:
    """Have the cache that `generate` sees, and those that no stage fills, grow as all others did."""
    _fill(cache, [fill for fills in groups[0].dry.fills for fill in fills])
    for group in groups:
        for part in (part for parts in cache.parts for part in parts[group.first : group.first + len(group.batches)]):
            if not made.stages:
                _fill(part, [fill for fills in group.dry.fills for fill in fills])
            settle(part)


def _fill(cache: Any, fills: Sequence[Any]) -> None:
    for fill in fills:
        fill.apply(cache)


def _husk(cache: Any, number: int, device: torch.device) -> Any:
    return husk(cache.parts[0][number] if isinstance(cache, SpreadCache) else cache, device)


def _bare(output: Any) -> Any:
    """The output without caches, and without what an encoder returned: that is an argument."""
    if not isinstance(output, dict):
        return output
    caches = caches_in(output)
    kept = {name: _CACHE if name in caches else value for name, value in output.items() if name[:8] != "encoder_"}
    return type(output)(**kept)


def _with_cache(output: Any, cache: Any) -> Any:
    if isinstance(output, dict):
        for name in [name for name, value in output.items() if isinstance(value, str) and value == _CACHE]:
            output[name] = cache
    return output


def _outlined(leaf: Any) -> Any:
    return leaf.to("meta") if isinstance(leaf, torch.Tensor) else leaf


def _tokens(arguments: dict[str, Any]) -> int:
    """A number that differs where tokens or masks differ; what else there is was computed from them."""
    leaves = [one for one in tree_leaves(arguments) if isinstance(one, torch.Tensor) and not one.is_floating_point()]
    return content([{str(index): one for index, one in enumerate(leaves)}])
