"""Tiny models that generate, alone or over processes: the same prompts, padded unevenly, and tokens that end a text."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
import transformers

from pipelined import IPUConfig
from pipelined.distributed import distribute
from pipelined.execution import Execution
from pipelined.session import Session
from tests.pipelined.tiny import tiny_model

ROWS, TOKENS = 4, 7
PADDED = (0, 2, 3, 1)
"""How many tokens of each prompt are padding: on the left for a decoder, on the right for an encoder."""

GIVEN: Mapping[str, Mapping[str, Any]] = {
    "BertLMHeadModel": {"is_decoder": True},
    # Windows shorter than what is generated.
    "Gemma3ForCausalLM": {"sliding_window": 6},
}

SIX = {"max_new_tokens": 6}
MODES: Mapping[str, Mapping[str, Any]] = {
    "greedy": SIX,
    "sampling": {**SIX, "do_sample": True, "top_k": 20, "num_return_sequences": 2},
    "beams": {**SIX, "num_beams": 2},
    "sampled beams": {**SIX, "num_beams": 2, "do_sample": True, "num_return_sequences": 2},
}


def generating_model(name: str) -> Any:
    """A tiny model in eval mode for which several tokens end a text, so that rows end at different times.

    Its weights are larger than those that models begin with, which say the same whatever they are told.
    """
    model = tiny_model(getattr(transformers, name), **GIVEN.get(name, {}))
    for parameter in model.parameters():
        if parameter.dim() > 1:
            torch.nn.init.normal_(parameter, std=0.2)
    settings = model.generation_config
    settings.pad_token_id, settings.eos_token_id = 0, [5, 17, 60, 61, 62, 97]
    if model.config.is_encoder_decoder:
        settings.decoder_start_token_id = 1
    return model


def prompts(model: Any, rows: int = ROWS) -> dict[str, torch.Tensor]:
    """The inputs of `generate` for that many rows, the same each time."""
    generator = torch.Generator().manual_seed(1)
    if model.main_input_name == "input_features":
        return {"input_features": torch.randn(rows, 16, 64, generator=generator)}
    ids = torch.randint(3, 150, (rows, TOKENS), generator=generator)
    mask = torch.ones_like(ids)
    for row in range(rows):
        count = PADDED[row % len(PADDED)]
        padding = slice(TOKENS - count, TOKENS) if model.config.is_encoder_decoder else slice(0, count)
        ids[row, padding], mask[row, padding] = 0, 0
    return {"input_ids": ids, "attention_mask": mask}


def generated(generate: Any, model: Any, **settings: Any) -> list[list[int]]:
    """The tokens for the model's prompts, from the same random numbers each time."""
    torch.manual_seed(3)
    found: list[list[int]] = generate(**prompts(model), **settings).tolist()
    return found


def plain(name: str) -> dict[str, list[list[int]]]:
    """What the plain model generates by mode."""
    model = generating_model(name)
    return {mode: generated(model.generate, model, **settings) for mode, settings in MODES.items()}


@contextmanager
def over_processes(name: str, *, microbatches: int = 2, replicas: int = 1, **options: Any) -> Iterator[Session]:
    """The same model over all processes that there are."""
    ipus = int(os.environ.get("WORLD_SIZE", "1")) // replicas
    config = IPUConfig(
        ipus_per_replica=ipus, replication_factor=replicas, execution=Execution(microbatches=microbatches)
    )
    with distribute(generating_model(name), config, **options) as pipe:
        yield pipe


def over_stages(names: tuple[str, ...]) -> dict[str, dict[str, list[list[int]]]]:
    """By model and mode what is generated in this process."""
    found = {}
    for name in names:
        with over_processes(name) as pipe:
            found[name] = {mode: generated(pipe.generate, pipe.model, **given) for mode, given in MODES.items()}
    return found
