"""Checkpoints of a session: all that training needs to go on as if it had never stopped, in any placement.

A checkpoint is a folder `step-00000012` of `torch.distributed.checkpoint`, to which each process writes what belongs to
it, and a file with what is small. Tensors are found by the names of parameters, so nothing depends on who had them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.checkpoint import CheckpointException, FileSystemWriter, save

from pipelined.errors import PipelineError
from pipelined.folders import UNFINISHED, begun, finish, fresh, keep_newest
from pipelined.generators import generator_states, set_generator_states
from pipelined.optimizer_state import OptimizerState, arranged, state_of
from pipelined.ownership import Ownership
from pipelined.small import Small, Stateful, read_small, write_small
from pipelined.stored import MODEL, OPTIMIZER, Stored, newest

SHOWN = 3
"""How many of the tensors that differ a message names."""


@dataclass(frozen=True)
class Training:
    """What a session trains with, besides the model; `also` are things such as a learning rate scheduler, by name."""

    step: int
    seed: int
    optimizer: torch.optim.Optimizer | None
    also: Mapping[str, Stateful]


def save_checkpoint(part: Ownership, folder: str | Path, training: Training, *, keep: int | None) -> Path:
    """Write a checkpoint into a folder of checkpoints, and return where it is; every process calls it.

    Of `also` process 0's is saved. Of the checkpoints that are there `keep` remain, the newest, or all. Until it is
    complete nothing that was there before is touched; what a process that dies leaves behind, the next save deletes.
    PipelineError, and the session lives on, where it cannot be written.
    """
    root = Path(folder).absolute()
    unfinished = root / UNFINISHED
    with part.all_or_none():
        if keep is not None and keep < 1:
            raise PipelineError(f"keep={keep} would delete what is saved", hint="keep 1 or more")
        tensors, state = _owned(part, training.optimizer)
        if dist.get_rank() == 0:
            begun(root)
    told = part.told_first((state, generator_states(part.ranks.device)))
    with part.all_or_none():
        if told:
            write_small(unfinished, _small(part, training, told))
    failure = None
    with part.talk():
        try:
            save(tensors, storage_writer=FileSystemWriter(unfinished), process_group=part.ranks.everybody())
        except CheckpointException as error:
            failure = error
    if failure is not None:
        raise _in_words(failure) from failure
    final = Path(part.first_says(str(fresh(root, training.step))))
    with part.all_or_none():
        if dist.get_rank() == 0:
            finish(unfinished, final)
            keep_newest(root, keep, step=training.step)
    return final


def load_checkpoint(part: Ownership, folder: str | Path, training: Training) -> int:
    """Take over a checkpoint, or the newest in a folder of them, and return the step that it was made after.

    Every process calls it. PipelineError in all of them, and nothing changed, where there is no checkpoint, or one of
    another model, optimizer or seed; where one cannot be read to its end, the session is over.
    """
    with part.all_or_none():
        stored = Stored(newest(Path(folder)))
        small = read_small(stored.folder)
        model = _first_names(part, part.model.state_dict())
        _refuse_other_model(model, stored, small)
        _refuse_other_training(training, small)
        kept, made = _room(part, stored, small, training.optimizer)
    read = {key: one for key, one in model.items() if not one.is_meta}
    with part.talk():
        try:
            stored.read_into(_parts(read, kept), part.ranks.everybody())
        except CheckpointException as error:
            raise _in_words(error) from error
    with part.all_or_none():
        if training.optimizer is not None:
            training.optimizer.load_state_dict(made)
        for name, one in training.also.items():
            one.load_state_dict(small.also[name])
        set_generator_states(small.generators_for(part.ranks), part.ranks.device)
    return small.step


def _owned(part: Ownership, optimizer: torch.optim.Optimizer | None) -> tuple[dict[str, Any], OptimizerState]:
    """What this process writes, and of the optimizer's state the rest, for process 0 to write."""
    own = _first_names(part, part.own())
    names = {parameter: name for parameter, name in part.names().items() if name in own}
    state = OptimizerState({}, {}, {}) if optimizer is None else state_of(optimizer, names)
    return _parts(own, state.tensors), replace(state, tensors={})


def _parts(model: Mapping[str, Any], optimizer: Mapping[str, Any]) -> dict[str, Any]:
    """As they stand in a checkpoint; nothing stands for a part that is empty."""
    return {key: dict(one) for key, one in ((MODEL, model), (OPTIMIZER, optimizer)) if one}


def _small(part: Ownership, training: Training, told: list[tuple[OptimizerState, Any]]) -> Small:
    options = {name: one for state, _ in told for name, one in state.options.items()}
    return Small(
        model=part.class_name,
        step=training.step,
        seed=training.seed,
        options=None if training.optimizer is None else options,
        others={name: one for state, _ in told for name, one in state.others.items()},
        also={name: one.state_dict() for name, one in training.also.items()},
        generators=[states for _, states in told],
        ipus=part.ranks.ipus,
    )


def _refuse_other_model(model: Mapping[str, torch.Tensor], stored: Stored, small: Small) -> None:
    there = {key: list(size) for key, size in stored.of_model().items()}
    here = {key: list(value.shape) for key, value in model.items()}
    differing = sorted(key for key in there.keys() | here.keys() if there.get(key) != here.get(key))
    if differing:
        said = "; ".join(
            f"{key} is {there.get(key, 'not')} there, {here.get(key, 'not')} here" for key in differing[:SHOWN]
        )
        more = f", and {len(differing) - SHOWN} more" if len(differing) > SHOWN else ""
        raise PipelineError(f"{stored.folder} is a checkpoint of another model, of class {small.model}: {said}{more}")


def _refuse_other_training(training: Training, small: Small) -> None:
    if training.seed != small.seed:
        raise PipelineError(
            f"the checkpoint was trained with seed {small.seed}, and this session has {training.seed}",
            hint=f"IPUConfig(seed={small.seed}) goes on with the same random numbers",
        )
    if training.optimizer is not None and small.options is None:
        raise PipelineError("the checkpoint was made without an optimizer", hint="distribute without one")
    if missing := sorted(training.also.keys() - small.also.keys()):
        raise PipelineError(
            f"the checkpoint has no state of {missing[0]!r}", hint=f"it has {', '.join(small.also) or 'none'}"
        )


def _room(
    part: Ownership, stored: Stored, small: Small, optimizer: torch.optim.Optimizer | None
) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Tensors to read the optimizer's state into, and a state dict for it that is made of them."""
    if optimizer is None or small.options is None:
        return {}, {}
    names = part.names()
    kept = stored.of_optimizer(names.values(), part.ranks.device)
    return kept, arranged(optimizer, names, OptimizerState(kept, small.others, small.options))


def _first_names(part: Ownership, state: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    """Of tensors with several names the first one, and no buffer that is not a tensor."""
    names = part.holders.names
    return {key: one for key, one in state.items() if isinstance(one, torch.Tensor) and names.get(key, key) == key}


def _in_words(error: CheckpointException) -> PipelineError:
    rank, (raised, _) = next(iter(error.failures.items()))
    return PipelineError(f"process {rank}: {type(raised).__name__}: {raised}")
