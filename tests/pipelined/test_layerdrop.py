"""LayerDrop: the same layers are dropped wherever the model is cut, and its settings come back."""

from __future__ import annotations

import os
from typing import Any

import torch
import transformers
from torch import nn

from pipelined import IPUConfig
from pipelined.distributed import distribute
from pipelined.execution import Execution
from pipelined.layerdrop import dropped, layerdrop_inside
from pipelined.sample import sample_inputs
from tests.pipelined.processes import run
from tests.pipelined.tiny import tiny_model

HALF = {
    "BartForConditionalGeneration": {"encoder_layerdrop": 0.5, "decoder_layerdrop": 0.5},
    "Wav2Vec2ForCTC": {"layerdrop": 0.5},
}


def losses_with_layerdrop() -> dict[str, list[float]]:
    """Three steps of each model in training mode, dropout and masking included."""
    return {name: losses_of(name, settings) for name, settings in HALF.items()}


def losses_of(name: str, settings: dict[str, float]) -> list[float]:
    model = tiny_model(getattr(transformers, name), **settings)
    batch: dict[str, Any] = {key: torch.cat([value] * 2) for key, value in sample_inputs(model).items()}
    batch["labels"] = batch.get("decoder_input_ids", torch.tensor([[3, 4, 5]] * 4))
    halves = [{key: value[rows] for key, value in batch.items()} for rows in (slice(0, 2), slice(2, 4))]
    config = IPUConfig(ipus_per_replica=int(os.environ.get("WORLD_SIZE", "1")), seed=3, execution=Execution())
    with distribute(model.train(), config) as pipe:
        return [float(pipe.forward_backward(halves)) for _ in range(3)]


def test_losses_do_not_depend_on_where_a_model_is_cut() -> None:
    here = losses_with_layerdrop()

    assert run(losses_with_layerdrop, processes=2) == [here, here]
    assert [len(set(losses)) for losses in here.values()] == [3, 3]


def test_probabilities_are_found_wherever_the_forward_reads_them_and_come_back() -> None:
    found = {}
    for name, settings in HALF.items():
        model = tiny_model(getattr(transformers, name), **settings)
        with layerdrop_inside(model) as probabilities:
            found[name] = (probabilities, reads(model))
        assert reads(model) == [0.5] * len(settings)

    assert found == {
        "BartForConditionalGeneration": (
            {f"model.{half}.layers.{index}": 0.5 for half in ("encoder", "decoder") for index in range(2)},
            [0.0, 0.0],
        ),
        "Wav2Vec2ForCTC": ({f"wav2vec2.encoder.layers.{index}": 0.5 for index in range(4)}, [0.0]),
    }


def reads(model: Any) -> list[float]:
    """What the models' own code would go by."""
    if isinstance(model, transformers.Wav2Vec2ForCTC):
        return [model.config.layerdrop]
    return [model.model.encoder.layerdrop, model.model.decoder.layerdrop]


def test_a_dropped_layer_returns_what_it_was_given_and_only_in_training() -> None:
    layer, given = nn.Linear(2, 2), torch.ones(1, 2)
    always = dropped(layer.forward, layer, 1.0)

    assert always(given) is given
    assert always(input=given) is given
    layer.eval()
    assert torch.equal(always(given), layer(given))
