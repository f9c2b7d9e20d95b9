"""Hold a pipeline of several processes to one process that computes the same microbatches one after the other."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
import transformers

from pipelined import IPUConfig, to_pipelined
from pipelined.distributed import distribute
from pipelined.execution import Execution
from pipelined.flows import without_cache
from pipelined.microbatches import loss_of
from pipelined.session import Session
from tests.pipelined.batches import Batch, cut, rows_of, training_batch, with_loss
from tests.pipelined.families import all_classes, original, registered_classes
from tests.pipelined.outcomes import flattened, outcome
from tests.pipelined.tiny import tiny_model

WITHIN = 1e-6
"""The largest difference that counts as none: parts of a shared parameter's gradient are summed in another order."""
MICROBATCHES = 4


@dataclass(frozen=True)
class Exactness:
    """How a pipeline's loss and gradients compare with the plain model's, over all processes.

    `gradient` is the largest difference; `missing` names parameters whose gradients no process has, or which have one
    where the plain model's has none.
    """

    loss: bool
    gradient: float
    missing: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.loss and self.gradient <= WITHIN and not self.missing:
            return "exact"
        loss = "equal" if self.loss else "another"
        return f"loss {loss}, gradients differ by {self.gradient:.1e}, missing {', '.join(self.missing) or 'none'}"


def config_of(ipus: int, *, replicas: int = 1, schedule: str = "1f1b", **more: Any) -> IPUConfig:
    """A config for this many processes, with four microbatches a step."""
    execution = Execution(microbatches=MICROBATCHES, schedule=schedule)
    return IPUConfig(ipus_per_replica=ipus, replication_factor=replicas, execution=execution, **more)


def of_classes(names: Sequence[str], ipus: int, *, replicas: int = 1) -> dict[str, Exactness | str]:
    """For each class of that name what `exactness` says, or what was raised; the same in every process."""
    found: dict[str, Exactness | str] = {}
    for name in names:
        config = config_of(ipus, replicas=replicas)
        try:
            model, batch = scored(name, config, rows=2 * MICROBATCHES * replicas)
            found[name] = of_model(model, batch, config)
        except Exception as error:  # noqa: BLE001 - whatever it is, it stands in the table
            found[name] = f"{type(error).__name__}: {error}"
    return found


def scored(name: str, config: IPUConfig, *, rows: int = 8) -> tuple[Any, Batch]:
    """A tiny pipelined model of that class, and a batch that it returns a loss for."""
    model = to_pipelined(tiny_model(_class_of(name)), config, force=True)
    batch = training_batch(model, rows)
    with torch.no_grad():
        has_loss = loss_of(model(**batch)) is not None
    return model if has_loss else with_loss(model), batch


def _class_of(name: str) -> Any:
    if name in registered_classes():
        return original(name)
    # To find those that transformers does not name at its top, all of its models are imported, which takes long.
    return getattr(transformers, name, None) or all_classes()[name]


def of_model(model: Any, batch: Batch, config: IPUConfig) -> Exactness:
    """What `exactness` says of a pipelined model that is not parallelized yet."""
    plain = copy.deepcopy(model)
    microbatches = cut(batch, MICROBATCHES * config.replication_factor)
    with distribute(model, config, example=microbatches[0], timeout=120) as pipe:
        return exactness(pipe, plain, microbatches)


def exactness(pipe: Session, plain: Any, microbatches: Sequence[Batch]) -> Exactness:
    """Compare one forward and backward pass, from no gradients; each replica is given as many of the microbatches."""
    replicas, replica = pipe.ranks.replicas, pipe.ranks.replica
    each = len(microbatches) // replicas
    by_replica = [microbatches[at * each : (at + 1) * each] for at in range(replicas)]
    loss = pipe.forward_backward(by_replica[replica])
    expected = torch.stack([forward_backward(plain, own, 1 / replicas) for own in by_replica]).sum() / replicas
    return compared(pipe, plain, equal=bool(loss == expected))


def forward_backward(plain: Any, microbatches: Sequence[Batch], weight: float = 1.0) -> torch.Tensor:
    """Add up the gradients of a plain model, whose loss is the mean of the microbatches' losses; return the loss.

    `weight` is one for the gradients alone.
    """
    losses = []
    for batch in microbatches:
        loss = loss_of(plain(**without_cache(plain, batch)))
        assert loss is not None
        weighted = loss / len(microbatches)
        (weighted * weight).backward()
        losses.append(weighted.detach().float().reshape(()))
    return torch.stack(losses).sum()


def compared(pipe: Session, plain: Any, *, equal: bool) -> Exactness:
    """The gradients that there are, beside the plain model's; `equal` says in each process whether the loss was."""
    wanted = {name: one.grad for name, one in plain.named_parameters(remove_duplicate=False)}
    found = {name: one.grad for name, one in pipe.parameters().items()}
    worst = max((difference(grad, wanted[name]) for name, grad in found.items()), default=0.0)
    odd = {name for name, grad in found.items() if (grad is None) != (wanted[name] is None)}
    told: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(told, (equal, worst, odd, set(found)))
    unheld = {name for name, one in plain.named_parameters() if one.requires_grad}.difference(*(one[3] for one in told))
    missing = unheld.union(*(one[2] for one in told))
    return Exactness(all(one[0] for one in told), max(one[1] for one in told), tuple(sorted(missing)))


def difference(one: torch.Tensor | None, other: torch.Tensor | None) -> float:
    """The largest difference of two tensors' elements; none where either is missing."""
    return 0.0 if one is None or other is None or not one.numel() else float((one - other).abs().max())


def evaluated(pipe: Session, plain: Any, batch: Batch, rows: Sequence[int]) -> list[str]:
    """The places of the output that are not bit for bit those of a plain model given these many rows at a time."""
    found = flattened(pipe.evaluate(batch))
    starts = [sum(rows[:at]) for at in range(len(rows))]
    parts = [
        outcome(plain, without_cache(plain, rows_of(batch, at, many))) for at, many in zip(starts, rows, strict=True)
    ]
    wanted = {place: _joined([part[place] for part in parts], rows) for place in parts[0]}
    return sorted(found.keys() ^ wanted.keys()) + [
        place for place in found.keys() & wanted.keys() if not torch.equal(found[place], wanted[place])
    ]


def _joined(parts: Sequence[torch.Tensor], rows: Sequence[int]) -> torch.Tensor:
    """Rows one after the other; the mean by rows of a loss."""
    if parts[0].dim():
        return torch.cat(list(parts))
    total: Any = sum(part * many for part, many in zip(parts, rows, strict=True))
    return total / sum(rows)


def trained(model: Any, batch: Batch, config: IPUConfig, *, steps: int = 3) -> float:
    """The largest difference from a plain model over some steps of AdamW: of the losses, and of the parameters after.

    The first loss is the same bit for bit, or the difference is infinite.
    """
    plain = copy.deepcopy(model)
    reference = torch.optim.AdamW(plain.parameters(), lr=1e-3)
    losses, expected = [], []
    with distribute(model, config, optimizer=lambda own: torch.optim.AdamW(own, lr=1e-3), timeout=120) as pipe:
        for _ in range(steps):
            losses.append(pipe.train_step(batch).loss)
            reference.zero_grad()
            expected.append(forward_backward(plain, cut(batch, MICROBATCHES)))
            reference.step()
        wanted: Mapping[str, Any] = dict(plain.named_parameters(remove_duplicate=False))
        pairs = [(one.detach(), wanted[name].detach()) for name, one in pipe.parameters().items()]
    worst = max(difference(one, other) for one, other in [*pairs, *zip(losses, expected, strict=True)])
    return worst if losses[0] == expected[0] else float("inf")
