"""Train tiny models in a session, save and load checkpoints, and say what came of it; called in several processes."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from pipelined import IPUConfig, PipelineError
from pipelined.distributed import distribute
from pipelined.execution import Execution
from pipelined.session import Session
from tests.pipelined.batches import cut, training_batch
from tests.pipelined.tiny import tiny_model

MICROBATCHES = 4


def made(case: str) -> Any:
    """A model that trains: with dropout, with tied weights, with running statistics, or with an adapter."""
    if case == "lora":
        from peft import LoraConfig, get_peft_model

        base = tiny_model(transformers.LlamaForCausalLM)
        return get_peft_model(base, LoraConfig(r=4, lora_dropout=0.1, target_modules=["q_proj", "v_proj"])).train()
    classes: dict[str, tuple[Any, dict[str, Any]]] = {
        "bert": (transformers.BertForMaskedLM, {"hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1}),
        "llama": (transformers.LlamaForCausalLM, {"attention_dropout": 0.1}),
        "t5": (transformers.T5ForConditionalGeneration, {"dropout_rate": 0.1}),
        "resnet": (
            transformers.ResNetForImageClassification,
            {"embedding_size": 8, "hidden_sizes": [8, 16, 24, 32], "depths": [1, 1, 1, 1], "layer_type": "basic"},
        ),
    }
    return tiny_model(classes[case][0], **classes[case][1]).train()


def batch_for(case: str) -> Any:
    return training_batch(made("llama" if case == "lora" else case))


def session(case: str, *, ipus: int, replicas: int = 1, shifted: bool = False, seed: int = 7) -> Session:
    """A session that trains such a model with AdamW; with `shifted` from other weights than usual.

    However many replicas there are, a step has the same microbatches.
    """
    model = made(case)
    if shifted:
        with torch.no_grad():
            for tensor in model.state_dict().values():
                if tensor.is_floating_point():
                    tensor.add_(0.5)
    execution = Execution(microbatches=MICROBATCHES // replicas)
    config = IPUConfig(ipus_per_replica=ipus, replication_factor=replicas, execution=execution, seed=seed)
    return distribute(model, config, optimizer=adamw, max_grad_norm=1.0, example=batch_for(case))


def adamw(parameters: list[Any]) -> torch.optim.Optimizer:
    """Without decay for what has one dimension, so that there are two groups."""
    trained = [one for one in parameters if one.requires_grad]
    groups = [
        {"params": [one for one in trained if one.dim() > 1], "weight_decay": 0.1},
        {"params": [one for one in trained if one.dim() < 2], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW([group for group in groups if group["params"]], lr=0.01)


def halving(pipe: Session) -> torch.optim.lr_scheduler.LRScheduler:
    return torch.optim.lr_scheduler.StepLR(pipe.optimizer, step_size=1, gamma=0.5)


def train(pipe: Session, scheduler: Any, batch: Any, steps: int) -> list[float]:
    losses = []
    for _ in range(steps):
        losses.append(float(pipe.train_step(batch).loss))
        scheduler.step()
    return losses


def drawn() -> tuple[float, float, float]:
    """A number from each of the generators that a script may draw from."""
    return float(torch.rand(())), random.random(), float(np.random.random())  # noqa: S311 - no secret


def in_two(cases: list[str], *, folder: str) -> tuple[dict[str, Any], list[str]]:
    """All that two processes are asked for: a group of them takes seconds to start."""
    return interrupted(cases, folder=folder, ipus=2), without_space(Path(folder) / "full")


def without_space(folder: Path) -> list[str]:
    """What is raised where process 1 cannot write; training goes on, and can be saved once there is space."""
    raised = []
    with session("bert", ipus=2) as pipe:
        for save in (pipe.save_checkpoint, pipe.save_pretrained):
            with pytest.MonkeyPatch.context() as patch:
                if pipe.ranks.ipu == 1:
                    patch.setattr(os, "fsync", _no_space)
                with pytest.raises(PipelineError) as caught:
                    save(folder)
            raised.append(str(caught.value))
        pipe.train_step(batch_for("bert"))
        pipe.save_checkpoint(folder)
    return raised


def _no_space(descriptor: int) -> None:
    raise OSError(28, "No space left on device")


def interrupted(cases: list[str], *, folder: str, ipus: int) -> dict[str, Any]:
    """Train two steps, save, and two more; then again in a session of other weights that begins with the checkpoint."""
    return {case: _interrupted(case, Path(folder) / case, ipus) for case in cases}


def _interrupted(case: str, folder: Path, ipus: int) -> Any:
    batch = batch_for(case)
    with session(case, ipus=ipus) as pipe:
        scheduler = halving(pipe)
        train(pipe, scheduler, batch, 2)
        pipe.save_checkpoint(folder / "checkpoints", also={"scheduler": scheduler})
        numbers = drawn()
        losses = train(pipe, scheduler, batch, 2)
        state, own = pipe.state_dict(everywhere=True), list(pipe.own_state_dict())
        pipe.save_pretrained(folder / "saved", max_shard_size="40KB")
    again = resumed(case, folder / "checkpoints", batch, ipus=ipus)
    same = state.keys() == again[3].keys() and all(torch.equal(one, again[3][key]) for key, one in state.items())
    return {"before": (losses, numbers, 4), "after": again[:3], "same": same, "own": own, "state": state}


def resumed(case: str, folder: Path, batch: Any, *, ipus: int, replicas: int = 1) -> tuple[Any, ...]:
    """Begin with the checkpoint, and train two steps: losses, random numbers, steps, and the state dict."""
    with session(case, ipus=ipus, replicas=replicas, shifted=True) as pipe:
        scheduler = halving(pipe)
        pipe.load_checkpoint(folder, also={"scheduler": scheduler})
        numbers = drawn()
        losses = train(pipe, scheduler, cut(batch, replicas)[pipe.ranks.replica], 2)
        return losses, numbers, pipe.step, pipe.state_dict(everywhere=True)


def elsewhere(placements: dict[str, tuple[int, int]], *, folder: str) -> dict[str, list[float]]:
    """By case the losses of two more steps in another placement, of so many IPUs and replicas."""
    return {
        case: resumed(case, Path(folder) / case / "checkpoints", batch_for(case), ipus=ipus, replicas=replicas)[0]
        for case, (ipus, replicas) in placements.items()
    }
