"""Pass microbatches through the stages: find what they need, agree on it with the other processes, and run."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch.utils._pytree import tree_map

from pipelined.agreement import agree, content
from pipelined.alarm import Alarm
from pipelined.dataflow import Dataflow
from pipelined.engine import Program, program
from pipelined.errors import PipelineError
from pipelined.flows import flow_of, without_cache
from pipelined.microbatches import Batch, loss_of, named, rows_of, signature
from pipelined.ranks import Ranks
from pipelined.settings import configured, modes, trains
from pipelined.spans import span
from pipelined.throughput import Throughput, tokens_of

Kept = TypeVar("Kept")

PROGRAMS, FLOWS = 8, 64
"""How many signatures keep their buffers, and how many their dry runs; what was used longest ago goes first."""

ALIKE = 8
"""How many dry runs a signature has at most, where the forward takes another way for other inputs."""


@dataclass(frozen=True)
class Passed:
    """What came of it: in every process the weighted losses, and where the last stage is the outputs by microbatch."""

    losses: torch.Tensor
    outputs: tuple[Any, ...]
    last_ipu: int


@dataclass
class _Ends:
    """What the last stage makes of the outputs of the microbatches that are on their way."""

    weight: float = 1.0
    losses: dict[int, torch.Tensor] = field(default_factory=dict)
    outputs: dict[int, Any] = field(default_factory=dict)

    def train(self, output: Any, microbatch: int) -> torch.Tensor:
        weighted: torch.Tensor = loss_of(output) * self.weight
        if not weighted.requires_grad:
            raise PipelineError("the loss depends on nothing that trains", hint="set requires_grad of some parameters")
        self.losses[microbatch] = weighted.detach()
        return weighted

    def keep(self, output: Any, microbatch: int) -> torch.Tensor:
        self.outputs[microbatch] = output
        return torch.zeros(1)


class Runner:
    """Runs one model in one session; every process calls the same methods in the same order."""

    def __init__(self, model: Any, ranks: Ranks, *, schedule: str, seed: int) -> None:
        self.model, self.ranks, self.schedule, self.seed = model, ranks, schedule, seed
        self.alarm = Alarm(ranks.size, dist.get_rank())
        self._flows: OrderedDict[tuple[str, int], list[Dataflow]] = OrderedDict()
        self._programs: OrderedDict[Any, Program] = OrderedDict()
        self._ends = _Ends()
        self.is_open = False
        """Whether the model's blocks are answered for."""
        self.throughput = Throughput()
        self.trained: Program | None = None
        """What ran when a step was trained last."""
        self.closing: list[Callable[[], None]] = []
        """Called before the connections are closed."""

    def run(self, make: Callable[[], Sequence[Batch]], *, step: int, training: bool, whole: bool = False) -> Passed:
        """Pass the microbatches that `make` gives through; those alike and in a row go together.

        In training gradients are added up. A loss counts by one over the number of microbatches, or if `whole` fully.
        What `make` or a dry run raises, before anything is sent, every process raises, and the session lives on.
        """
        if training:
            self.throughput.begin()
        with span("agreeing"):
            groups = self._agreed(make, step=step, training=training)
        count = sum(len(batches) for batches, _, _ in groups)
        losses, outputs, last = [], [], 0
        # Counted over replicas too: what two of them draw for their first microbatch must not be the same.
        before = self.ranks.replica * count
        with self.together(), nullcontext() if training else torch.no_grad():
            for batches, flow, key in groups:
                made = self._program(key, flow, len(batches), training=training)
                self._ends = _Ends(1.0 if whole else 1.0 / count)
                made.run(batches, step, before=before)
                last, before = made.last_ipu, before + len(batches)
                self.trained = made if training else self.trained
                losses.append(self._losses(len(batches), last))
                outputs += [self._ends.outputs[index] for index in sorted(self._ends.outputs)]
        if training:
            batches = [batch for alike, _, _ in groups for batch in alike]
            self.throughput.end(sum(map(rows_of, batches)), sum(tokens_of(self.model, batch) for batch in batches))
        return Passed(torch.cat(losses), tuple(outputs), last)

    def broadcast(self, value: Any, ipu: int) -> Any:
        """A value of one IPU, in every process of its replica and on its device."""
        sent = [tree_map(lambda leaf: leaf.cpu() if isinstance(leaf, torch.Tensor) else leaf, value)]
        with span("sharing"), self.together():
            source, group = self.ranks.global_rank(ipu), self.ranks.pipeline()
            dist.broadcast_object_list(sent, src=source, group=group, device=self.ranks.device)
        return tree_map(self.moved, sent[0])

    def key(self, batch: Batch) -> str:
        """What a dry run depends on."""
        return f"{signature(batch)} {modes(self.model, self.ranks.device.type)}"

    @contextmanager
    def together(self) -> Iterator[None]:
        """Whatever is raised inside is raised in every process, and ends the session."""
        self.alarm.check()
        try:
            yield
        except Exception as error:  # noqa: BLE001 - whatever it is, the others wait for this process
            self.alarm.sound(error, self.close)

    def check(self) -> None:
        """PipelineError if the session has failed, or does not stand in a `with` statement."""
        self.alarm.check()
        if not self.is_open:
            raise PipelineError("the session is not open", hint="write with distribute(...) as pipe: ...")

    def close(self) -> None:
        """Give up buffers and connections."""
        for close in self.closing:
            close()
        for made in self._programs.values():
            made.close()
        self._programs.clear()
        self.ranks.close()

    def _agreed(
        self, make: Callable[[], Sequence[Batch]], *, step: int, training: bool
    ) -> list[tuple[list[Batch], Dataflow, str]]:
        """Groups of microbatches alike with their flow and key; all processes agree on them, or all raise."""
        self.check()
        words, error = "", None
        groups: list[tuple[list[Batch], Dataflow, str]] = []
        try:
            batches = make()
            trained = trains(self.model) if training else ""
            groups = self._grouped(batches, trained)
            if training:
                _refuse_untrainable([flow for _, flow, _ in groups])
            # The flow too: processes that see another one would wait for what the others never send.
            listed = "; ".join(f"{len(alike)} of {key}" for alike, _, key in groups)
            words = f"step {step}, training {training}, content {content(batches):08x}: {listed}"
        except Exception as raised:  # noqa: BLE001 - whatever it is, all processes are to raise it
            error = raised
        with self.together():
            verdict = agree(words, error, self.ranks)
        if verdict is not None:
            raise verdict from error
        return groups

    def _grouped(self, batches: Sequence[Batch], trained: str) -> list[tuple[list[Batch], Dataflow, str]]:
        if not batches:
            raise ValueError("there are no microbatches")
        found: list[tuple[list[Batch], Dataflow, str]] = []
        own = configured(self.model)
        for given in batches:
            batch = tree_map(self.moved, without_cache(self.model, named(given)))
            words = self.key(batch)
            flow = self._flow(batch, (words, own))
            # Not by the configuration, which saving changes in one process: all have to make the same programs.
            key = f"{words} {trained} flow={flow.digest:08x}"
            if found and found[-1][2] == key:
                found[-1][0].append(batch)
            else:
                found.append(([batch], flow, key))
        return found

    def moved(self, leaf: Any) -> Any:
        return leaf.to(self.ranks.device) if isinstance(leaf, torch.Tensor) else leaf

    def _flow(self, batch: Batch, key: tuple[str, int]) -> Dataflow:
        known = _used(self._flows, key, FLOWS) if key in self._flows else self._flows.setdefault(key, [])
        for flow in known:
            if flow.decided is None or flow.decided.hold(batch):
                return flow
        found = flow_of(self.model, batch)
        self._flows[key] = [found, *known][:ALIKE]
        return found

    def _program(self, key: str, flow: Dataflow, count: int, *, training: bool) -> Program:
        full = (key, count, training)
        if full not in self._programs:
            self._programs[full] = program(
                self.model,
                flow,
                self.ranks,
                self._finish,
                microbatches=count,
                schedule=self.schedule,
                training=training,
                seed=self.seed,
            )
        return _used(self._programs, full, PROGRAMS)

    def _finish(self, output: Any, microbatch: int) -> torch.Tensor:
        ends = self._ends
        return ends.train(output, microbatch) if torch.is_grad_enabled() else ends.keep(output, microbatch)

    def _losses(self, count: int, last: int) -> torch.Tensor:
        """The losses by microbatch, in every process; zeros where there are none."""
        device = self.ranks.device
        losses = torch.zeros(count, device=device)
        if self._ends.losses:
            losses = torch.stack([self._ends.losses[index].float().reshape(()) for index in range(count)])
        with span("sharing"):
            dist.broadcast(losses, src=self.ranks.global_rank(last), group=self.ranks.pipeline())
        return losses


def _refuse_untrainable(flows: Sequence[Dataflow]) -> None:
    """PipelineError where the model returns nothing that a step of training could be made of."""
    for flow in flows:
        if flow.loss is None:
            raise PipelineError("the model returned no loss", hint="give it labels")
        if any(size != 1 for size in flow.loss):
            raise PipelineError(
                f"the model returned a loss of shape {list(flow.loss)}", hint="return one number, such as the mean"
            )


def _used(kept: OrderedDict[Any, Kept], key: Any, most: int) -> Kept:
    """The entry, as the one used last; the one used longest ago goes where there are too many."""
    kept.move_to_end(key)
    while len(kept) > most:
        kept.popitem(last=False)
    return kept[key]
