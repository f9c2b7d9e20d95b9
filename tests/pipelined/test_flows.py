"""What a dry run is given, and what is said where none can be made."""

from __future__ import annotations

import torch
import transformers
from peft import LoraConfig, get_peft_model

from pipelined import IPUConfig, to_pipelined
from pipelined.flows import flow_of, sample_flow, without_cache
from tests.pipelined.families import all_classes
from tests.pipelined.tiny import tiny_model

NO_CACHE = {
    "GPT2LMHeadModel": {"use_cache": False},
    "LlamaForSequenceClassification": {"use_cache": False},
    "BartForConditionalGeneration": {"use_cache": False},
    "BertForMaskedLM": {},
    "T5GemmaForTokenClassification": {},
    "ViTForImageClassification": {},
}


def test_a_cache_is_declined_where_the_forward_would_make_one() -> None:
    models = {name: tiny_model(all_classes()[name]) for name in NO_CACHE}

    assert {name: without_cache(model, {}) for name, model in models.items()} == NO_CACHE
    assert without_cache(models["GPT2LMHeadModel"], {"use_cache": True}) == {"use_cache": True}


def test_a_cache_is_declined_behind_an_adapter_too() -> None:
    adapted = get_peft_model(tiny_model(transformers.LlamaForCausalLM), LoraConfig(target_modules=["q_proj"]))

    assert without_cache(adapted, {}) == {"use_cache": False}


def test_a_class_that_declines_the_cache_itself_is_not_told_twice() -> None:
    model = tiny_model(all_classes()["T5GemmaForTokenClassification"])
    pipelined = to_pipelined(model, IPUConfig(ipus_per_replica=2), force=True).parallelize()

    assert len(sample_flow(pipelined, None).calls) == 13


def test_what_asks_for_a_side_output_has_it_carried_to_the_end() -> None:
    model = tiny_model(transformers.BertForMaskedLM, attn_implementation="eager")
    pipelined = to_pipelined(model, IPUConfig(ipus_per_replica=2)).parallelize()
    batch = {"input_ids": torch.ones(1, 3, dtype=torch.long)}

    plain = flow_of(pipelined, batch)
    asked = flow_of(pipelined, {**batch, "output_attentions": True})

    layers = [call.module for call in plain.calls if "layer" in call.module]
    assert {call.module: len(call.sides) for call in asked.calls if call.sides} == dict.fromkeys(layers, 1)
    carried = [leaf for call in asked.calls for side in call.sides for leaf in side.returned.leaves if leaf is not None]
    assert [asked.values[slot.value].shape for slot in carried] == [(1, 4, 3, 3)] * 4
    assert asked.outputs.issuperset(slot.value for slot in carried)
    assert not any(call.sides for call in plain.calls)
