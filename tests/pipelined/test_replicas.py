"""Replicas: together they are what one replica is that takes all of their microbatches."""

from __future__ import annotations

from typing import Any

import torch
import transformers

from pipelined import IPUConfig, distribute
from pipelined.sample import sample_inputs
from tests.pipelined.processes import run
from tests.pipelined.tiny import tiny_model


def losses_with_dropout(replicas: int) -> list[float]:
    """Two steps over four microbatches in training mode, shared by as many replicas of one IPU."""
    model = tiny_model(transformers.BertForMaskedLM)
    ids = sample_inputs(model)["input_ids"]
    batches: list[dict[str, Any]] = [{"input_ids": ids + number, "labels": ids} for number in range(4)]
    with distribute(model.train(), IPUConfig(replication_factor=replicas, seed=1)) as pipe:
        share = len(batches) // replicas
        own = batches[pipe.ranks.replica * share :][:share]
        return [float(pipe.forward_backward(own)) for _ in range(2)]


def test_two_replicas_drop_what_one_with_twice_the_microbatches_drops() -> None:
    one = losses_with_dropout(1)
    two = run(losses_with_dropout, processes=2, replicas=2)

    assert two[0] == two[1]
    torch.testing.assert_close(torch.tensor(two[0]), torch.tensor(one), rtol=0, atol=1e-6)
