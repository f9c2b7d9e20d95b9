"""Outputs of microbatches, put together again."""

from __future__ import annotations

import torch

from pipelined.microbatches import merge


def test_outputs_are_joined_by_samples_and_by_tokens_and_tables_are_not() -> None:
    rows = (2, 2)
    by_sample, by_token = (torch.arange(8.0 * size).reshape(-1, 2) for size in (1, 3))
    table = torch.ones(4, 2)
    halves = zip(by_sample.split(2), by_token.split(6), (1.0, 2.0), strict=True)
    outputs = [
        {"logits": logits, "router_logits": (tokens, table), "loss": torch.tensor(loss)}
        for logits, tokens, loss in halves
    ]

    merged = merge(outputs, rows)

    torch.testing.assert_close(
        merged, {"logits": by_sample, "router_logits": (by_token, table), "loss": torch.tensor(1.5)}, rtol=0, atol=0
    )
