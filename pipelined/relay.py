"""Have a forward pass inside `generate` computed by all stages, and its output in every process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from hashlib import blake2b
from typing import Any

import torch
import torch.distributed as dist
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten

from pipelined.agreement import agree, content
from pipelined.cache import advance, caches_in, spread
from pipelined.engine import Program, program
from pipelined.errors import PipelineError
from pipelined.fills import Fill, fill
from pipelined.microbatches import merge
from pipelined.recent import Recent
from pipelined.runner import Runner
from pipelined.subbatches import SHAPES, Forward, Group, SubBatches, restored, rows, with_cache

PROGRAMS = 16
"""How many programs keep their buffers."""


class Relay:
    """Passes forward passes through the stages; every process calls it with the same arguments."""

    def __init__(self, runner: Runner, microbatches: int) -> None:
        self.runner = runner
        self._subbatches = SubBatches(runner, microbatches)
        self.raised_by_all = False
        """Whether every process raises the error that is on its way."""
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
        self.runner.check()
        with self._together():
            state = torch.get_rng_state()
            dist.broadcast(state, src=ranks.global_rank(0), group=ranks.pipeline())
            torch.set_rng_state(state)
            if ranks.device.type == "cuda":
                state = torch.cuda.get_rng_state(ranks.device).to(ranks.device)
                dist.broadcast(state, src=ranks.global_rank(0), group=ranks.pipeline())
                torch.cuda.set_rng_state(state.cpu(), ranks.device)

    @property
    def is_entered(self) -> bool:
        """Whether it is a dry run or a stage that calls the model."""
        return self._subbatches.is_entered

    def enter(self, **arguments: Any) -> Any:
        """What the model's forward is to do then."""
        return self._subbatches.enter(**arguments)

    def run(self, name: str, forward: Forward, arguments: dict[str, Any], *, unit: int) -> Any:
        """What this forward returns; a cache in it is the one in the arguments, which stands for those of all stages.

        There are as many sub-batches as microbatches, or fewer; `unit` is how many rows must stay together. What is
        wrong with the arguments every process raises, and the session lives on.
        """
        groups: list[Group] = []
        error = None
        cache = next(iter(caches_in(arguments).values()), None)
        try:
            groups = self._subbatches.of(name, forward, arguments, cache, unit)
        except Exception as raised:  # noqa: BLE001 - whatever it is, all processes are to raise it
            error = raised
        self.agree(_spoken(name, arguments, groups), error)
        with self._together(), torch.no_grad():
            return self._passed(forward, groups, cache)

    def _passed(self, forward: Forward, groups: Sequence[Group], cache: Any) -> Any:
        made = [self._programs.get(group.signature, partial(self._program, group)) for group in groups]
        if cache is not None:
            spread(cache, rows(groups), len(made[0].stages), _filling(made[0], groups[0].dry.fills))
        outputs: list[Any] = []
        with self._subbatches.entering(forward):
            for group, one in zip(groups, made, strict=True):
                self._outputs.clear()
                caches = [] if cache is None else [parts[group.numbers] for parts in cache.parts[: len(one.stages)]]
                one.run_each(
                    [_given(group, own) for own in caches] or [group.batches] * len(one.stages),
                    step=0,
                    skipped=[partial(_skipped, own, group.dry.fills) for own in caches] or None,
                )
                outputs += [self._outputs.pop(index) for index in sorted(self._outputs)]
        merged = merge(outputs, rows(groups)) if outputs else None
        shared = self._shared(tuple(group.signature for group in groups), merged, made[0].last_ipu)
        if cache is not None:
            advance(cache, [(group.numbers, group.dry.fills) for group in groups], alone=not made[0].stages)
        return restored(shared, cache)

    def _program(self, group: Group) -> Program:
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


def _given(group: Group, caches: Sequence[Any]) -> list[dict[str, Any]]:
    """The arguments of a stage, with the stage's own caches."""
    return [with_cache(batch, one) for batch, one in zip(group.batches, caches, strict=True)]


def _skipped(caches: Sequence[Any], fills: Sequence[Sequence[Fill]], call: int, number: int) -> None:
    """Have a stage's cache grow by what another stage adds to its own."""
    fill(caches[number], fills[call])


def _filling(made: Program, fills: Sequence[Sequence[Fill]]) -> dict[str, int]:
    """Which block fills the cache, and in which stage."""
    calls = zip(made.flow.calls, made.plan.stage_of_call, fills, strict=True)
    return {call.module: stage for call, stage, added in calls if added}


def _outlined(leaf: Any) -> Any:
    return leaf.to("meta") if isinstance(leaf, torch.Tensor) else leaf


def _spoken(name: str, arguments: dict[str, Any], groups: Sequence[Group]) -> str:
    """What all processes must be about to do: tokens and masks are compared, but not what was computed from them."""
    tensors = [one for one in tree_leaves(arguments) if isinstance(one, torch.Tensor)]
    whole = content([{str(index): one} for index, one in enumerate(tensors) if not one.is_floating_point()])
    kind = blake2b(repr([group.signature for group in groups]).encode(), digest_size=4).hexdigest()
    return f"the {name} on {[list(one.shape) for one in tensors[:1]]}, arguments {kind}, tokens {whole:08x}"
