"""What the microbatches of one step draw."""

from __future__ import annotations

import torch
import transformers

from pipelined import IPUConfig, distribute
from tests.pipelined.tiny import tiny_model


def test_equal_microbatches_of_one_step_draw_different_numbers_with_one_of_another_length_between_them() -> None:
    model = tiny_model(transformers.BertForMaskedLM, num_hidden_layers=1).train()
    long, short = ({"input_ids": torch.full((2, size), 5), "labels": torch.full((2, size), 7)} for size in (8, 6))

    with distribute(model, IPUConfig()) as pipe:
        first, _, last = pipe.accumulate([long, short, long]).tolist()

    assert first != last
