"""A model spread over processes: what `distribute` gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import torch
import torch.distributed as dist
from torch import nn

from pipelined.calls import answered
from pipelined.checkpoint import Training, load_checkpoint, save_checkpoint
from pipelined.errors import PipelineError
from pipelined.generate import generate
from pipelined.holders import Holders
from pipelined.microbatches import Batch, merge, rows_of, split, split_rows
from pipelined.ownership import Ownership
from pipelined.profile import Profile
from pipelined.profiling import Profiler
from pipelined.ranks import Ranks
from pipelined.relay import Relay
from pipelined.reloading import load_weights
from pipelined.runner import Runner
from pipelined.saving import save_pretrained
from pipelined.small import Stateful
from pipelined.spans import span
from pipelined.throughput import Throughput
from pipelined.tied import clip, set_aside, synchronize

MakeOptimizer = Callable[[list[nn.Parameter]], torch.optim.Optimizer]


@dataclass(frozen=True)
class Trained:
    """What a step of training came to: the loss, and the norm of all gradients where they were clipped."""

    loss: torch.Tensor
    norm: torch.Tensor | None = None


class Session:
    """A model of which this process computes its part; every process calls the same methods in the same order.

    `model` is the pipelined model. Of its parameters those that this process does not hold are on the meta device.
    `step` counts the steps of training; it is a part of the key of every random number.
    """

    def __init__(self, model: Any, runner: Runner, holders: Holders, *, microbatches: int) -> None:
        self.model, self.holders, self.microbatches = model, holders, microbatches
        self.optimizer: torch.optim.Optimizer | None = None
        self.max_grad_norm: float | None = None
        self.profiler: Profiler | None = None
        self.step = 0
        self._runner = runner
        self._relay = Relay(runner, microbatches)
        self._open = ExitStack()

    def __enter__(self) -> Self:
        self._open.callback(self._runner.close)
        self._open.enter_context(answered(self.model))
        self._runner.is_open = True
        self._runner.alarm.opened()
        if self.profiler is not None:
            self._open.enter_context(self.profiler.recording())
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        self._runner.is_open = False
        if error is not None:
            self._runner.alarm.left(error)
        self._open.close()

    @property
    def ranks(self) -> Ranks:
        """This process's place among the others."""
        return self._runner.ranks

    @property
    def statistics(self) -> Throughput:
        """What this replica has trained, and how fast."""
        return self._runner.throughput

    def profile(self) -> Profile:
        """What all processes spent their time on since the last call, or since the session began.

        PipelineError without `distribute(..., profile=True)`.
        """
        if self.profiler is None:
            raise PipelineError("nothing was recorded", hint="distribute(..., profile=True)")
        runner = self._runner
        with runner.together():
            return self.profiler.gather(
                self.ranks, runner.trained, runner.schedule, steps=self.step, tokens=self.statistics.tokens_per_second
            )

    def parameters(self) -> dict[str, nn.Parameter]:
        """The parameters that this process holds, by their first name: what an optimizer here is for."""
        found = dict(self.model.named_parameters(remove_duplicate=False))
        return {name: found[name] for name in self.holders.held_by(self.ranks.ipu)}

    def train_step(self, batch: Batch, *, num_items_in_batch: int | None = None) -> Trained:
        """Forward, backward, clip and update, over all microbatches of a batch that every IPU of a replica is given.

        The loss is the mean of the microbatches' losses. With `num_items_in_batch`, the items of this replica's batch,
        it is the sum over all items of all replicas, divided by their number. ValueError in every process, and nothing
        sent, where the batch cannot be cut into equal microbatches.
        """
        if self.optimizer is None:
            raise PipelineError("there is no optimizer", hint="distribute(..., optimizer=lambda parameters: ...)")
        self.optimizer.zero_grad()
        loss = self._forward_backward(lambda: split(batch, self.microbatches), num_items_in_batch)
        norm = None if self.max_grad_norm is None else self.clip(self.max_grad_norm)
        with span("updating"):
            self.optimizer.step()
        return Trained(loss, norm)

    def forward_backward(self, microbatches: Sequence[Batch], *, num_items_in_batch: int | None = None) -> torch.Tensor:
        """Add the gradients of these microbatches to what is there, and return the loss, the same in every process.

        They may differ in shape; those alike and in a row go through the pipeline together.
        """
        return self._forward_backward(lambda: microbatches, num_items_in_batch)

    def accumulate(self, microbatches: Sequence[Batch]) -> torch.Tensor:
        """Set the gradients of the sum of these microbatches' losses, averaged over replicas; return each loss.

        The losses are those of this replica, the same in its processes. Gradients must have been zeroed.
        """
        passed = self._runner.run(lambda: microbatches, step=self.step, training=True, whole=True)
        self.step += 1
        with self._runner.together():
            synchronize(self.parameters(), self.holders, self.ranks, mean=True)
        return passed.losses

    def clip(self, max_norm: float) -> torch.Tensor:
        """Scale the gradients of the whole model so that their 2-norm is at most this; return what it was."""
        with self._runner.together():
            return clip(self.parameters(), self.holders, self.ranks, max_norm)

    def evaluate(self, batch: Batch, *, everywhere: bool = True, microbatches: int | None = None) -> Any:
        """What the model returns for a batch, without gradients: in every process, or only where the last stage is.

        A batch that cannot be cut into equal microbatches ends in a smaller one. Elsewhere the result is None.
        """
        parts: list[Batch] = []

        def make() -> list[Batch]:
            parts.extend(split_rows(batch, -(-rows_of(batch) // (microbatches or self.microbatches))))
            return parts

        passed = self._runner.run(make, step=self.step, training=False)
        with self._runner.together():
            merged = merge(passed.outputs, [rows_of(one) for one in parts]) if passed.outputs else None
        return self._runner.broadcast(merged, passed.last_ipu) if everywhere else merged

    def evaluate_each(self, batches: Sequence[Batch], *, keep: Callable[[Any], Any] | None = None) -> list[Any]:
        """What the model returns for each of these batches, which go through the pipeline together, in every process.

        `keep` makes of it what is wanted, before it is sent to all.
        """
        passed = self._runner.run(lambda: batches, step=self.step, training=False)
        with self._runner.together():
            kept = [one if keep is None else keep(one) for one in passed.outputs]
        outputs: list[Any] = self._runner.broadcast(kept, passed.last_ipu)
        return outputs

    def generate(self, *args: Any, **kwargs: Any) -> Any:
        """What the model's own `generate` returns, in every process of the replica and without dropout.

        The samples go through the stages in as many sub-batches as there are microbatches. Random numbers are those of
        the replica's first process. A streamer may be given to one process alone. PipelineError in every process for
        a static cache, or one that was filled elsewhere.
        """
        return generate(self._relay, args, kwargs)

    def state_dict(self, *, everywhere: bool = False) -> dict[str, Any]:
        """The model's, under the keys of the original class: in main memory of process 0, or of all processes.

        Where it is not wanted it is empty.
        """
        return self._part.gathered(everywhere=everywhere)

    def own_state_dict(self) -> dict[str, Any]:
        """Of the model's state dict what belongs to this process; those of a replica together are the whole."""
        return self._part.own()

    def save_pretrained(self, folder: str | Path, *, max_shard_size: int | str = "50GB") -> None:
        """Save as the original class does, each process its part; `from_pretrained` of that class loads it.

        Of a PEFT model the adapters are saved. A process that dies meanwhile leaves a folder that loads as before.
        """
        save_pretrained(self._part, folder, max_shard_size=max_shard_size)

    def save_checkpoint(
        self, folder: str | Path, *, keep: int | None = None, also: Mapping[str, Stateful] | None = None
    ) -> Path:
        """Save all that training depends on into a new folder in this one, and return that.

        `also` are things with a state, such as a learning rate scheduler, by name. With `keep` only so many of the
        newest remain. A process that dies meanwhile leaves those that were there.
        """
        return save_checkpoint(self._part, folder, self._training(also), keep=keep)

    def load_checkpoint(self, folder: str | Path, *, also: Mapping[str, Stateful] | None = None) -> None:
        """Go on from a checkpoint, or from the newest in the folder: the next step is what it would have been then.

        It may be of another number of IPUs or replicas. PipelineError, and nothing changed, where it does not fit.
        """
        self.step = load_checkpoint(self._part, folder, self._training(also))

    def load_weights(self, folder: str | Path) -> None:
        """Take over the weights that `save_pretrained` wrote, each process those that it holds.

        Of a PEFT model these are the adapters. PipelineError, and nothing changed, where they do not fit.
        """
        load_weights(self._part, folder)

    @property
    def _part(self) -> Ownership:
        return Ownership(self.model, self.holders, self.ranks, self._runner.together)

    def _training(self, also: Mapping[str, Stateful] | None) -> Training:
        return Training(self.step, self._runner.seed, self.optimizer, also or {})

    def _forward_backward(self, make: Callable[[], Sequence[Batch]], num_items: int | None) -> torch.Tensor:
        items = {} if num_items is None else {"num_items_in_batch": self._of_all_replicas(num_items)}
        with set_aside(self.parameters().values()):
            passed = self._runner.run(
                lambda: [{**batch, **items} for batch in make()], step=self.step, training=True, whole=bool(items)
            )
            self.step += 1
            with self._runner.together():
                synchronize(self.parameters(), self.holders, self.ranks, mean=not items)
                return self._over_replicas(passed.losses.sum(), mean=not items)

    def _of_all_replicas(self, items: int) -> torch.Tensor:
        """A tensor, not a number: what is a number is a part of the signature, and each would need a dry run."""
        with self._runner.together():
            return self._over_replicas(torch.tensor(items, device=self.ranks.device), mean=False)

    def _over_replicas(self, number: torch.Tensor, *, mean: bool) -> torch.Tensor:
        if self.ranks.replicas > 1:
            dist.all_reduce(number, group=self.ranks.of_replicas())
        return number / self.ranks.replicas if mean else number
