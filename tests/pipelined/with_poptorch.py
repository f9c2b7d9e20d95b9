"""Run by `test_poptorch.py` in a process that finds the stand-in for poptorch: print what happened as JSON."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Behind what is installed, so that the package under test is the one that the test itself has.
sys.path.append(str(Path(__file__).parents[2]))

import poptorch
import torch
import transformers

import pipelined
from pipelined import IPUConfig, IPUTrainingArguments, to_pipelined
from pipelined.blocks import blocks
from tests.pipelined.outcomes import full_inputs, outcome, same
from tests.pipelined.tiny import tiny_model
from tests.pipelined.training import Rows, arguments, trainer_of


def main() -> None:
    """Do what the first argument names."""
    seen = {"blocks": see_blocks, "options": see_options, "refusals": see_refusals, "trainer": see_trainer}
    print(json.dumps(seen[sys.argv[1]]()))


def see_blocks() -> dict[str, Any]:
    """Parallelize BERT, trace it, and undo it."""
    model = tiny_model(transformers.BertForMaskedLM)
    inputs = full_inputs(model)
    expected = outcome(model, inputs)
    config = IPUConfig(
        ipus_per_replica=2,
        recompute_checkpoint_every_layer=True,
        embedding_serialization_factor=2,
        projection_serialization_factor=4,
    )
    ours = to_pipelined(model, config).parallelize()
    poptorch.Block.stages = poptorch.Stages()
    traced = outcome(ours, inputs)
    begun = poptorch.Block.stages.begun
    ours.deparallelize()
    return {
        "poptorch's own": pipelined.BeginBlock is poptorch.BeginBlock,
        "equal": same(traced, expected, within=1e-5) and same(outcome(ours, inputs), expected),
        "begun": begun,
        "kept": poptorch.kept,
        "cut": poptorch.cut,
        "left": [mark.module for mark in blocks(ours)],
    }


def see_options() -> list[dict[str, str]]:
    """The options of a config for training and for inference."""
    config = IPUConfig(
        layers_per_ipu=[2, 2],
        inference_layers_per_ipu=[4],
        gradient_accumulation_steps=16,
        replication_factor=2,
        replicated_tensor_sharding=True,
        optimizer_state_offchip=True,
        device_iterations=3,
        inference_device_iterations=5,
        matmul_proportion=[0.1, 0.3],
        auto_loss_scaling=True,
        explicit_ir_inference=True,
        executable_cache_dir="cache",
        output_mode="all",
        seed=0,
    )
    training, inference = (config.to_options(for_inference=mode, compile_only=True) for mode in (False, True))
    return [{name: _text(value) for name, value in options.said.items()} for options in (training, inference)]


def see_refusals() -> list[str]:
    """What is said without a Mk2 IPU, and about a module that is placed twice."""
    said = []
    attempts: tuple[Callable[[], Any], ...] = (
        lambda: IPUConfig().to_options(),
        lambda: IPUConfig(execute_encoder_on_cpu_for_generation=True).to_options(compile_only=True),
        lambda: pipelined.BeginBlock(pipelined.BeginBlock(torch.nn.ReLU(), "A", 0), "B", 1),
    )
    for attempt in attempts:
        try:
            attempt()
        except (RuntimeError, NotImplementedError, poptorch.Error) as error:
            said.append(f"{type(error).__name__}: {error}")
    return said


def see_trainer() -> dict[str, Any]:
    """Train on the stand-in and without it, evaluate on the way, and compare; what was said and done in between."""
    poptorch.HARDWARE_VERSION = 2
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        options = {"optim": "adamw_torch", "eval_steps": 1, "max_grad_norm": 0.0, "warmup_steps": 0}
        data = {"train_dataset": Rows("class", 19), "eval_dataset": Rows("class", 8, seed=1)}
        model = "BertForSequenceClassification"
        whole = {"per_device_train_batch_size": 8, "gradient_accumulation_steps": 1, "dataloader_drop_last": True}
        plain = trainer_of(transformers.Trainer, model, arguments(folder, **whole, **options), **data)
        plain.train()
        config = IPUConfig(ipus_per_replica=2, inference_layers_per_ipu=[2])
        parts = {"per_device_train_batch_size": 4, "gradient_accumulation_steps": 2, "fp32": True}
        given = arguments(folder, IPUTrainingArguments, **parts, **options)
        ours = trainer_of(pipelined.IPUTrainer, model, given, ipu_config=config, **data)
        ours.train()
        ours.save_model(name)
        saved = transformers.BertForSequenceClassification.from_pretrained(name).state_dict()
        wanted = plain.model.state_dict()
        evaluated = [
            [one["eval_loss"] for one in made.state.log_history if "eval_loss" in one] for made in (plain, ours)
        ]
        refused = _said(lambda: ours.evaluate(Rows("class", 6)))
    return {
        "trainer": type(ours).__name__,
        "equal": all(torch.allclose(saved[key], wanted[key], atol=1e-6) for key in wanted),
        "evaluated": all(abs(one - other) < 1e-5 for one, other in zip(*evaluated, strict=True)),
        "calls": poptorch.calls,
        "refused": refused,
    }


def _said(attempt: Callable[[], Any]) -> str:
    try:
        attempt()
    except pipelined.PipelineError as error:
        return str(error)
    return ""


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(_text, value))
    stage = getattr(value, "stage", None)
    return f"{type(value).__name__}({stage.name})" if stage else str(getattr(value, "said", value))


if __name__ == "__main__":
    main()
