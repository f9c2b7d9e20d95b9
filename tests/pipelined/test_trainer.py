"""A trainer over several processes logs, saves and ends up with what `transformers.Trainer` does in one."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

import pipelined
from pipelined import IPUConfig, PipelineError, PipelineTrainer
from pipelined.throughput import Throughput
from pipelined.trainer_progress import RateProgress
from tests.pipelined import training
from tests.pipelined.processes import run
from tests.pipelined.training import LABELS, arguments, model_of, trainer_of

CASES = ("plain", "ways", "best", "generated", "saved", "refused", "resumed")
ROUNDED = 5e-6
"""By how much a number may differ, or of its size: the norm of all gradients is summed up in another order."""

BFLOAT16 = 1e-3
"""With 8 bits of mantissa what rounds differently once is far apart some steps later."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("trained")


@pytest.fixture(scope="module")
def found(folder: Path) -> list[dict[str, Any]]:
    """What came of our trainer, in each of two processes."""
    return run(training.in_processes, processes=2, folder=str(folder), ipus=2, cases=CASES)


@pytest.mark.parametrize("name", list(LABELS))
def test_a_model_is_trained_as_in_one_process(found: Any, tmp_path: Path, name: str) -> None:
    expected = reference("plain", tmp_path, names=(name,))[name]

    for process in found:
        assert process["plain"][name].keys() == expected.keys()
        assert_same(process["plain"][name], expected)
    assert shared_out(found, lambda process: process["plain"][name]["held"]) == expected["held"].keys()


def test_every_way_to_train_comes_to_what_it_does_in_one_process(found: Any, tmp_path: Path) -> None:
    expected = reference("ways", tmp_path)

    for process in found:
        assert process["ways"].keys() == expected.keys()
        for what, one in process["ways"].items():
            assert_same(one, expected[what], within=BFLOAT16 if what == "bfloat16" else ROUNDED)


def test_the_best_model_comes_back_and_callbacks_are_called_as_ever(found: Any, tmp_path: Path) -> None:
    expected = reference("best", tmp_path)

    for process in found:
        assert_same(process["best"], expected)


def test_what_is_generated_while_evaluating_is_what_one_process_generates(found: Any, tmp_path: Path) -> None:
    expected = reference("generated", tmp_path)

    for process in found:
        assert_same(process["generated"], expected)


def test_training_goes_on_from_a_checkpoint_as_if_it_had_never_stopped(found: Any, folder: Path) -> None:
    for process in found:
        whole, again = process["resumed"]
        assert_same(again, whole, within=0.0)

    # With dropout, and in another number of processes than there were.
    with quiet():
        alone = training.resumed(
            PipelineTrainer, folder / "resumed", {"ipu_config": IPUConfig()}, checkpoints=("checkpoint-4",)
        )[0]
    assert_same(found[0]["resumed"][0], alone)


def test_what_is_saved_is_a_plain_model_and_a_folder_is_enough_to_train(found: Any, folder: Path) -> None:
    batch = training.padded([training.Rows("tokens", 4)[index] for index in range(4)])
    model = transformers.LlamaForCausalLM.from_pretrained(folder / "saved").eval()
    with torch.no_grad():
        logits = model(**batch).logits

    for process in found:
        seen = process["saved"]
        assert seen["files"] == [
            "config.json",
            "generation_config.json",
            "ipu_config.json",
            "model.safetensors.index.json",
        ]
        assert_same(
            {name: seen[name] for name in ("called", "called by position", "from the folder")},
            {"called": logits, "called by position": logits, "from the folder": seen["evaluated"]},
        )


def test_what_a_trainer_cannot_do_is_said_in_every_process(found: Any) -> None:
    assert [process["refused"] for process in found] == [
        {
            "fp16": "fp16=True does not go with a pipeline over processes; set bf16, whose gradients need no scaling",
            "a foreign optimizer": (
                "the optimizer holds a parameter of shape [160, 32] that is none of the model's; make it of the"
                " parameters of the very model that the trainer is given"
            ),
            "other inputs": (
                "training_step was given other inputs than the data loader's, which are in the pipeline together;"
                " change them in the data collator or in _prepare_inputs"
            ),
        }
    ] * 2


def test_replicas_train_on_batches_of_their_own(tmp_path: Path) -> None:
    names = ("BertForSequenceClassification", "T5ForConditionalGeneration")
    found = run(
        training.in_processes,
        processes=4,
        folder=str(tmp_path),
        ipus=2,
        replicas=2,
        cases=("plain",),
        names=names,
        rows=16,
    )
    # As many samples a step in one process: two replicas take turns.
    expected = reference("plain", tmp_path, names=names, rows=16, gradient_accumulation_steps=4)

    for process in found:
        assert_same(process["plain"], expected)


def test_one_process_needs_no_launcher(tmp_path: Path) -> None:
    with quiet():
        alone = training.in_processes(str(tmp_path), ipus=1, cases=("plain",), names=("LlamaForCausalLM",))["plain"]

    assert_same(alone, reference("plain", tmp_path, names=("LlamaForCausalLM",)), within=0.0)


def test_the_number_of_processes_is_said_where_it_does_not_fit(tmp_path: Path) -> None:
    config = IPUConfig(ipus_per_replica=2)

    with pytest.raises(PipelineError, match="2 IPUs need 2 processes, and there are 1; start the script with torchrun"):
        trainer_of(PipelineTrainer, "LlamaForCausalLM", arguments(tmp_path), ipu_config=config)


def test_config_and_arguments_complete_each_other(tmp_path: Path) -> None:
    model = model_of("LlamaForCausalLM")
    config = IPUConfig(gradient_accumulation_steps=3)
    given = arguments(
        tmp_path, pipelined.IPUTrainingArguments, gradient_accumulation_steps=1, activation_checkpointing=True
    )

    trainer = trainer_of(pipelined.IPUTrainer, "LlamaForCausalLM", given, ipu_config=config, model=model)

    completed = trainer.ipu_config
    assert (trainer.args.gradient_accumulation_steps, completed.gradient_accumulation_steps) == (3, 3)
    assert (completed.seed, completed.recompute_checkpoint_every_layer) == (5, True)
    assert (config.seed, config.recompute_checkpoint_every_layer) == (None, False)


def test_the_bar_says_how_fast_all_replicas_train_together() -> None:
    seconds = iter([0.0, 1.0])
    statistics = Throughput(clock=lambda: next(seconds))
    statistics.begin()
    statistics.end(samples=2, tokens=24)
    state = transformers.TrainerState(max_steps=3, global_step=1)
    bar = RateProgress(lambda: statistics, replicas=2)

    bar.on_train_begin(None, state, None)
    bar.on_step_end(None, state, None)
    said = bar.training_bar.postfix
    bar.on_train_end(None, state, None)

    assert said == "48 tokens/s"


def reference(case: str, folder: Path, **given: Any) -> Any:
    """What comes of `transformers.Trainer` in this process."""
    with quiet():
        return getattr(training, case)(transformers.Trainer, folder / "reference", {}, **given)


def quiet() -> warnings.catch_warnings:
    """A block in which libraries may warn of what is theirs."""
    return warnings.catch_warnings(action="ignore")


def shared_out(found: Any, held: Any) -> set[str]:
    """The names of all that the processes hold; each holds less than all."""
    parts = [set(held(process)) for process in found]
    assert all(part < set().union(*parts) for part in parts)
    return set().union(*parts)


def assert_same(ours: Any, expected: Any, *, within: float = ROUNDED) -> None:
    """Compare numbers and tensors wherever they stand; of what a mapping has, what is here."""
    if isinstance(expected, Mapping):
        for key, value in ours.items():
            assert_same(value, expected[key], within=within)
    elif isinstance(expected, list):
        for one, other in zip(ours, expected, strict=True):
            assert not isinstance(other, Mapping) or one.keys() == other.keys()
            assert_same(one, other, within=within)
    elif isinstance(expected, torch.Tensor | np.ndarray):
        torch.testing.assert_close(torch.as_tensor(ours), torch.as_tensor(expected), rtol=within, atol=within)
    elif isinstance(expected, float):
        assert ours == pytest.approx(expected, rel=within, abs=within)
    else:
        assert ours == expected
