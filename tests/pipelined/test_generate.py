"""What a session generates is what the plain model generates, in every process."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from transformers import DynamicCache, GenerationConfig, LogitsProcessorList
from transformers.generation.streamers import BaseStreamer

from pipelined.calls import outermost
from pipelined.errors import PipelineError
from tests.pipelined.generating import (
    MODES,
    SIX,
    TOKENS,
    generated,
    generating_model,
    over_processes,
    over_stages,
    plain,
    prompts,
)
from tests.pipelined.processes import run, run_each

EVERY_DAY = ("GPT2LMHeadModel", "Gemma3ForCausalLM", "T5ForConditionalGeneration", "WhisperForConditionalGeneration")
FURTHER = (
    *("LlamaForCausalLM", "Qwen3ForCausalLM", "MixtralForCausalLM", "BertLMHeadModel", "BloomForCausalLM"),
    *("BartForConditionalGeneration", "MT5ForConditionalGeneration"),
)
GREEDY = MODES["greedy"]
SOON = {**GREEDY, "eos_token_id": [94, 150]}
"""Ends the texts of GPT-2 at different tokens."""


def test_tokens_are_those_of_the_plain_model_whatever_the_strategy() -> None:
    expected = {name: plain(name) for name in EVERY_DAY}

    assert run(over_stages, processes=2, names=EVERY_DAY) == [expected] * 2


@pytest.mark.slow
def test_tokens_of_further_models_are_those_of_the_plain_model() -> None:
    expected = {name: plain(name) for name in FURTHER}

    assert run(over_stages, processes=2, names=FURTHER) == [expected] * 2


@pytest.mark.slow
def test_tokens_are_those_of_the_plain_model_over_four_stages() -> None:
    names = ("LlamaForCausalLM", "T5ForConditionalGeneration", "WhisperForConditionalGeneration")
    expected = {name: plain(name) for name in names}

    assert run(over_stages, processes=4, names=names) == [expected] * 4


def sub_batches() -> list[list[list[int]]]:
    found = []
    for count in (1, 3, 4):
        with over_processes("GPT2LMHeadModel", microbatches=count) as pipe:
            found.append(generated(pipe.generate, pipe.model, **SOON))
    return found


def scores_of_a_whole_batch() -> list[Any]:
    with over_processes("GPT2LMHeadModel", microbatches=1) as pipe:
        return scores(pipe.generate, pipe.model)


def scores(generate: Any, model: Any) -> list[Any]:
    """Logits and scores of each token, hidden states and attentions, as lists."""
    model.set_attn_implementation("eager")
    asked = {f"output_{name}": True for name in ("logits", "scores", "hidden_states", "attentions")}
    found = generate(**prompts(model), **SIX, repetition_penalty=1.3, return_dict_in_generate=True, **asked)
    by_layer = [one.tolist() for steps in (found.hidden_states, found.attentions) for step in steps for one in step]
    return [[one.tolist() for one in found.logits], [one.tolist() for one in found.scores], by_layer]


def calls_of_layers() -> dict[str, int]:
    """How often each layer computes in this process for 5 tokens of 4 rows in 2 sub-batches."""
    counts: dict[str, int] = {}
    with over_processes("GPT2LMHeadModel") as pipe:
        given = {**prompts(pipe.model), "max_new_tokens": 5, "eos_token_id": 159}
        pipe.generate(**given)
        # Dry runs are over.
        for module, name in outermost(pipe.model):
            _count(module, name, counts)
        pipe.generate(**given)
    return counts


def _count(module: Any, name: str, counts: dict[str, int]) -> None:
    # Something in it: a block that is another process's is called as well, and computes nothing.
    first = next(module.children(), None)
    if first is not None:
        counts[name] = 0
        first.register_forward_hook(lambda *_: counts.update({name: counts[name] + 1}))


def otherwise() -> dict[str, list[list[int]]]:
    with over_processes("LlamaForCausalLM") as pipe:
        return asked_otherwise(pipe.generate, pipe.model)


def asked_otherwise(generate: Any, model: Any) -> dict[str, list[list[int]]]:
    """What comes of less usual ways to ask; those that guess ahead take one prompt."""
    given, helper = prompts(model), generating_model("LlamaForCausalLM")
    helper.get_output_embeddings().weight.data *= 0.5
    one = {name: value[:1] for name, value in given.items()}
    asked: dict[str, dict[str, Any]] = {
        "prefill in chunks": {**given, "prefill_chunk_size": 3},
        "ahead by the prompt": {**one, "prompt_lookup_num_tokens": 3},
        "ahead by a model": {**one, "assistant_model": helper},
        "guided": {**given, "guidance_scale": 1.5},
        "no cache": {**given, "use_cache": False},
        "from a configuration": {
            **given,
            "generation_config": GenerationConfig(num_beams=2, max_new_tokens=3, pad_token_id=0, eos_token_id=5),
        },
    }
    return {
        name: generate(**{**({} if "generation_config" in more else {"max_new_tokens": 3}), **more}).tolist()
        for name, more in asked.items()
    }


def continued() -> list[Any]:
    """A text in two parts with one cache, a step of training before a third, and all with eval mode put back."""
    found: list[Any] = []
    with over_processes("LlamaForCausalLM", optimizer=lambda parameters: torch.optim.SGD(parameters, lr=0.1)) as pipe:
        given = prompts(pipe.model)
        first = pipe.generate(**given, max_new_tokens=3, min_new_tokens=3, return_dict_in_generate=True)
        mask = torch.cat([given["attention_mask"], torch.ones(4, 3, dtype=torch.long)], dim=1)
        rest = {"input_ids": first.sequences, "attention_mask": mask, "past_key_values": first.cache}
        found.append(pipe.generate(**rest, max_new_tokens=3, min_new_tokens=3).tolist())
        pipe.model.train()
        pipe.train_step({**given, "labels": given["input_ids"]})
        found.append(pipe.generate(**given, **GREEDY).tolist())
        found.append(pipe.model.training)
    return found


class Heard(BaseStreamer):
    """Keeps what it is given."""

    def __init__(self) -> None:
        self.tokens: list[list[int]] = []

    def put(self, value: torch.Tensor) -> None:
        self.tokens.append(value.tolist())

    def end(self) -> None:
        self.tokens.append([])


def streamed() -> list[list[int]]:
    heard = Heard()
    with over_processes("GPT2LMHeadModel") as pipe:
        first = {name: value[:1] for name, value in prompts(pipe.model).items()}
        pipe.generate(**first, max_new_tokens=3, streamer=heard if pipe.ranks.ipu == 1 else None)
    return heard.tokens


def seeded_differently() -> list[list[int]]:
    with over_processes("GPT2LMHeadModel") as pipe:
        torch.manual_seed(3 + pipe.ranks.ipu)
        found: list[list[int]] = pipe.generate(**prompts(pipe.model), **MODES["sampling"]).tolist()
        return found


def refused() -> list[str]:
    """What is said of requests that cannot be met; the session goes on each time."""
    with over_processes("GPT2LMHeadModel") as pipe:
        given = prompts(pipe.model)
        filled = DynamicCache()
        filled.update(torch.zeros(4, 4, 2, 8), torch.zeros(4, 4, 2, 8), 0)
        own = pipe.ranks.ipu
        found = [
            _said(pipe, **given, cache_implementation="static"),
            _said(pipe, **given, past_key_values=filled),
            _said(pipe, **given, max_new_tokens=0),
            _said(pipe, input_ids=given["input_ids"] + own, attention_mask=given["attention_mask"]),
            _said(pipe, **given, logits_processor=LogitsProcessorList([_fails] if own else [])),
        ]
        assert generated(pipe.generate, pipe.model, **GREEDY) == plain("GPT2LMHeadModel")["greedy"]
        return found


REFUSALS = [
    "PipelineError: a StaticCache cannot be spread over stages",
    "PipelineError: a cache that was filled outside this pipeline cannot be spread over stages",
    "ValueError: `max_new_tokens` must be greater than 0, but is 0.",
    "PipelineError: the processes were given different inputs: process 0 the model on [[4, 7]]",
    "PipelineError: process 1: ValueError: this one fails",
]


def _said(pipe: Any, **arguments: Any) -> str:
    try:
        pipe.generate(**{**SIX, **arguments})
    except (PipelineError, ValueError) as error:
        return f"{type(error).__name__}: {error}".partition("; ")[0].partition(", arguments")[0]
    return "nothing"


def _fails(input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
    raise ValueError("this one fails")


@pytest.fixture(scope="module")
def in_two_processes() -> dict[str, list[Any]]:
    decoding = (sub_batches, scores_of_a_whole_batch, calls_of_layers, seeded_differently)
    return run_each((*decoding, otherwise, continued, streamed, refused), processes=2)


def test_tokens_do_not_depend_on_sub_batches(in_two_processes: dict[str, list[Any]]) -> None:
    model = generating_model("GPT2LMHeadModel")
    expected = generated(model.generate, model, **SOON)

    assert in_two_processes["sub_batches"] == [[expected] * 3] * 2
    assert [row[TOKENS:].index(0) if 0 in row[TOKENS:] else None for row in expected] == [3, 2, None, None]


def test_scores_logits_hidden_states_and_attentions_are_equal_bit_for_bit(
    in_two_processes: dict[str, list[Any]],
) -> None:
    model = generating_model("GPT2LMHeadModel")

    assert in_two_processes["scores_of_a_whole_batch"] == [scores(model.generate, model)] * 2


def test_each_layer_computes_once_for_each_token_and_sub_batch(in_two_processes: dict[str, list[Any]]) -> None:
    names = [f"transformer.h.{index}" for index in range(4)]

    assert in_two_processes["calls_of_layers"] == [
        dict(zip(names, counts, strict=True)) for counts in ([10, 10, 0, 0], [0, 0, 10, 10])
    ]


def test_other_ways_to_ask_give_the_tokens_of_the_plain_model(in_two_processes: dict[str, list[Any]]) -> None:
    model = generating_model("LlamaForCausalLM")

    assert in_two_processes["otherwise"] == [asked_otherwise(model.generate, model)] * 2


def test_a_text_goes_on_with_its_cache_and_after_a_step_of_training(in_two_processes: dict[str, list[Any]]) -> None:
    model = generating_model("LlamaForCausalLM")
    given = prompts(model)
    whole = generated(model.generate, model, max_new_tokens=6, min_new_tokens=6)
    for half in (slice(0, 2), slice(2, 4)):
        rows = {name: value[half] for name, value in given.items()}
        (model.train()(**rows, labels=rows["input_ids"]).loss / 2).backward()
    torch.optim.SGD(model.parameters(), lr=0.1).step()
    trained = generated(model.eval().generate, model, **GREEDY)

    assert in_two_processes["continued"] == [[whole, trained, True]] * 2


def test_a_streamer_hears_in_the_process_where_it_is(in_two_processes: dict[str, list[Any]]) -> None:
    model = generating_model("GPT2LMHeadModel")
    heard = Heard()
    model.generate(**{name: value[:1] for name, value in prompts(model).items()}, max_new_tokens=3, streamer=heard)

    assert in_two_processes["streamed"] == [[], heard.tokens]


def test_random_numbers_are_those_of_the_first_process(in_two_processes: dict[str, list[Any]]) -> None:
    assert in_two_processes["seeded_differently"] == [plain("GPT2LMHeadModel")["sampling"]] * 2


def test_what_cannot_be_met_is_refused_in_every_process_and_the_session_goes_on(
    in_two_processes: dict[str, list[Any]],
) -> None:
    assert in_two_processes["refused"] == [REFUSALS] * 2


@pytest.mark.slow
def test_each_replica_generates_for_its_own_prompts() -> None:
    model = generating_model("GPT2LMHeadModel")
    given = prompts(model)
    alone = [
        model.generate(**{name: value[:count] for name, value in given.items()}, max_new_tokens=count).tolist()
        for count in (2, 4)
    ]

    assert run(in_replicas, processes=4) == [alone[0]] * 2 + [alone[1]] * 2


def in_replicas() -> list[list[int]]:
    with over_processes("GPT2LMHeadModel", replicas=2) as pipe:
        count = 2 + 2 * pipe.ranks.replica
        rows = {name: value[:count] for name, value in prompts(pipe.model).items()}
        found: list[list[int]] = pipe.generate(**rows, max_new_tokens=count).tolist()
        return found
