"""Caches over stages: what the one that a loop holds does to those of the stages, and which caches are refused."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from transformers import DynamicCache, StaticCache
from transformers.models.llama import LlamaConfig

from pipelined.cache import advance, check_cache, empty_copy, length_of, spread
from pipelined.errors import PipelineError
from pipelined.fills import Fill, Fills, fill

CONFIG = LlamaConfig(num_hidden_layers=2, hidden_size=8, num_attention_heads=2)


def filled(rows: int, tokens: int = 3) -> Any:
    """A cache of two layers, of which the first is here: row r holds r."""
    cache = DynamicCache()
    states = torch.arange(rows, dtype=torch.float32)[:, None, None, None].expand(rows, 2, tokens, 4)
    cache.update(states, states, 0)
    empty = torch.empty(rows, 2, tokens, 4, device="meta")
    cache.update(empty, empty, 1)
    return cache


def over_two_sub_batches() -> Any:
    cache = DynamicCache()
    spread(cache, [2, 2], 1, {"block": 0})
    cache.parts = [[filled(2), filled(2)]]
    return cache


def rows_of_first_layer(cache: Any) -> list[list[float]]:
    return [part.layers[0].keys[:, 0, 0, 0].tolist() for part in cache.parts[0]]


def test_rows_are_reordered_in_their_sub_batches() -> None:
    cache = over_two_sub_batches()

    cache.reorder_cache(torch.tensor([1, 1, 3, 2]))

    assert rows_of_first_layer(cache) == [[1.0, 1.0], [1.0, 0.0]]


def test_rows_cannot_leave_their_sub_batch() -> None:
    cache = over_two_sub_batches()

    with pytest.raises(PipelineError, match="rows of a cache cannot move from one sub-batch to another"):
        cache.reorder_cache(torch.tensor([2, 1, 3, 2]))


def test_a_cache_that_grows_and_is_cropped_takes_those_of_the_stages_along() -> None:
    cache = over_two_sub_batches()
    shape = torch.empty(2, 2, 3, 4)
    noted, watched = Fills(), DynamicCache()
    with noted.watched(torch.nn.Module(), watched):
        noted._enter()
        watched.update(shape, shape, 0)
        watched.update(shape, shape, 1)
    advance(cache, [(slice(0, 2), noted.of_call)], alone=False)
    lengths = [length_of(cache)]

    cache.crop(-1)

    assert [*lengths, length_of(cache), *(length_of(part) for part in cache.parts[0])] == [3, 2, 2, 2]


def test_a_cache_goes_on_with_the_rows_and_stages_that_it_was_begun_with() -> None:
    cache = over_two_sub_batches()

    spread(cache, [2, 2], 1, {"block": 0, "another": 0})
    for rows, filling in (([4], {"block": 0}), ([2, 2], {"block": 1})):
        with pytest.raises(PipelineError, match="the cache was begun with other rows, or by other stages"):
            spread(cache, rows, 1, filling)


def test_a_copy_for_a_dry_run_takes_no_memory() -> None:
    copied = empty_copy(filled(2), 0, torch.device("cpu"))

    tensors = [layer.keys for layer in copied.layers]
    assert [(one.shape, one.device.type, one.untyped_storage().nbytes()) for one in tensors] == [
        (torch.Size([2, 2, 3, 4]), "cpu", 4)
    ] * 2


def test_only_dynamic_caches_that_are_empty_can_be_spread() -> None:
    check_cache(DynamicCache(config=CONFIG))
    check_cache(over_two_sub_batches())
    for cache in (StaticCache(config=CONFIG, max_cache_len=4), filled(2)):
        with pytest.raises(PipelineError, match="cannot be spread over stages"):
            check_cache(cache)


def test_what_is_added_outside_blocks_is_refused() -> None:
    cache = DynamicCache()
    with (
        Fills().watched(torch.nn.Module(), cache),
        pytest.raises(PipelineError, match="code outside blocks adds to the cache"),
    ):
        cache.update(torch.empty(1, 1, 1, 1), torch.empty(1, 1, 1, 1), 0)


def test_fills_are_done_with_empty_tensors() -> None:
    cache = DynamicCache()
    noted, watched = Fills(), DynamicCache()
    with noted.watched(torch.nn.Module(), watched):
        noted._enter()
        watched.update(torch.ones(2, 1, 3, 4), torch.ones(2, 1, 3, 4), layer_idx=0)
    fill(cache, [one for fills in noted.of_call for one in fills])

    keys = cache.layers[0].keys
    assert isinstance(noted.of_call[0][0], Fill)
    assert (keys.device.type, tuple(keys.shape)) == ("meta", (2, 1, 3, 4))
