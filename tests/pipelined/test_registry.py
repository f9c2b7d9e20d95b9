"""Which pipelined class a model gets, and how the two share what they share."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from pipelined import (
    IPUConfig,
    PipelineError,
    PipelineMixin,
    Placement,
    PlacementError,
    UnregisteredModelError,
    register,
    registered,
    registry,
    to_pipelined,
)
from pipelined.blocks import blocks
from tests.pipelined.outcomes import full_inputs, outcome, same
from tests.pipelined.structure import structure
from tests.pipelined.tiny import tiny_config, tiny_model

BERT: Any = transformers.BertForMaskedLM


@pytest.fixture(autouse=True)
def empty_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers is gone after it."""
    monkeypatch.setattr(registry, "_PIPELINED", {})


def test_without_an_argument_the_original_is_found_past_a_familys_mixin() -> None:
    class FamilyMixin(PipelineMixin):
        pass

    class PlainMixin:
        pass

    @register()
    class Ours(FamilyMixin, PlainMixin, BERT):
        pass

    assert registered(BERT) is Ours


def test_a_class_without_an_original_is_refused() -> None:
    class Lonely(PipelineMixin):
        pass

    with pytest.raises(PipelineError) as raised:
        register()(Lonely)

    assert str(raised.value) == (
        "Was not able to find original transformers class for Lonely; inherit from the original class and"
        " PipelineMixin, or name it in @register(...)"
    )


def test_a_second_registration_needs_to_say_that_it_overrides() -> None:
    class First(BERT, PipelineMixin):
        pass

    class Second(BERT, PipelineMixin):
        pass

    register(BERT)(First)
    with pytest.raises(PipelineError, match=r"BertForMaskedLM has a pipelined class already, .*First; write @register"):
        register(BERT)(Second)
    register(BERT, override=True)(Second)

    assert registered(BERT) is Second


def test_an_unknown_class_is_a_key_error_that_names_near_misses() -> None:
    with pytest.raises(KeyError) as raised:
        to_pipelined(tiny_model(transformers.DebertaV2ForTokenClassification), IPUConfig())

    assert raised.type is UnregisteredModelError
    assert str(raised.value) == (
        "DebertaV2ForTokenClassification pipelined version not found in registry.; similar names are there:"
        " DebertaForTokenClassification, RobertaForTokenClassification, BertForTokenClassification; register a class of"
        " your own, or let to_pipelined(..., force=True) find a placement"
    )


def test_a_class_of_the_same_name_by_somebody_else_is_another_class() -> None:
    theirs = type("BertForMaskedLM", (BERT,), {"__module__": "somebody.else"})

    with pytest.raises(UnregisteredModelError):
        registered(theirs)


def test_force_finds_a_placement_and_keeps_the_given_config() -> None:
    model = tiny_model(transformers.DebertaV2ForTokenClassification)

    pipelined = to_pipelined(model, IPUConfig(layers_per_ipu=[1, 3]), force=True).parallelize()

    assert type(pipelined).__name__ == "PipelinedDebertaV2ForTokenClassification"
    assert [mark.ipu_id for mark in blocks(pipelined) if ".layer." in mark.module] == [0, 1, 1, 1]


def test_a_class_may_only_state_its_placement() -> None:
    @register(BERT)
    class Ours(BERT, PipelineMixin):
        placement = Placement(first=("bert.embeddings",), layers=("bert.encoder.layer",), last=("cls",))

    pipelined = to_pipelined(tiny_model(BERT), IPUConfig(ipus_per_replica=2)).parallelize()

    assert [(mark.module, mark.ipu_id) for mark in blocks(pipelined)][-1] == ("cls", 1)


def test_a_pipelined_model_shares_its_weights_and_nothing_else() -> None:
    model = tiny_model(BERT)
    pipelined = to_pipelined(model, IPUConfig())

    assert list(map(id, pipelined.parameters())) == list(map(id, model.parameters()))
    assert list(map(id, pipelined.buffers())) == list(map(id, model.buffers()))
    assert {id(module) for module in pipelined.modules()}.isdisjoint(id(module) for module in model.modules())
    assert pipelined.config is not model.config
    assert (pipelined.config.to_dict(), pipelined.training) == (model.config.to_dict(), False)
    assert isinstance(pipelined, BERT)


def test_a_class_with_a_constructor_of_its_own_is_built_by_it_on_the_same_weights() -> None:
    @register(BERT)
    class Ours(BERT, PipelineMixin):
        def __init__(self, config: Any) -> None:
            super().__init__(config)
            self.note = "made by its own constructor"

    model = tiny_model(BERT)
    pipelined = to_pipelined(model, IPUConfig())

    assert pipelined.note == "made by its own constructor"
    assert structure(pipelined)["tensors"] == structure(model)["tensors"]
    assert not any(module.training for module in pipelined.modules())


def test_a_model_that_is_pipelined_already_keeps_its_class() -> None:
    pipelined = to_pipelined(tiny_model(BERT), IPUConfig())

    again = to_pipelined(pipelined, IPUConfig(ipus_per_replica=2))

    assert (type(again), again.ipu_config.ipus_per_replica) == (type(pipelined), 2)
    assert again is not pipelined


def test_from_pretrained_loads_what_the_original_saved(tmp_path: Path) -> None:
    model = tiny_model(BERT)
    model.save_pretrained(tmp_path)

    pipelined = registered(BERT).from_pretrained_transformers(str(tmp_path), IPUConfig(seed=3))

    assert pipelined.ipu_config == IPUConfig(seed=3)
    assert same(dict(pipelined.state_dict()), dict(model.state_dict()))


def test_a_model_of_another_class_is_refused() -> None:
    with pytest.raises(PipelineError) as raised:
        registered(BERT).from_transformers(tiny_model(transformers.GPT2LMHeadModel), IPUConfig())

    assert str(raised.value) == (
        "PipelinedBertForMaskedLM is the pipelined version of BertForMaskedLM, and this is a GPT2LMHeadModel;"
        " to_pipelined(model, ipu_config) finds the class that fits"
    )


def test_a_model_without_a_config_says_so() -> None:
    pipelined = registered(BERT)(tiny_config(transformers.BertConfig))  # type: ignore[call-arg]

    with pytest.raises(AttributeError) as raised:
        pipelined.parallelize()

    assert str(raised.value) == "No IPUConfig was found. Please set the ipu_config attribute"


def test_a_config_of_another_type_is_refused() -> None:
    pipelined = to_pipelined(tiny_model(BERT), IPUConfig())

    with pytest.raises(TypeError) as raised:
        pipelined.ipu_config = {"ipus_per_replica": 2}

    message = "ipu_config must be an instance of IPUConfig, but <class 'dict'> was provided"
    assert str(raised.value) == message


def test_parallelizing_twice_and_undoing_nothing_are_refused() -> None:
    pipelined = to_pipelined(tiny_model(BERT), IPUConfig())

    with pytest.raises(PipelineError) as nothing:
        pipelined.deparallelize()
    pipelined.parallelize()
    with pytest.raises(PipelineError) as twice:
        pipelined.parallelize()
    with pytest.raises(PipelineError) as shared:
        to_pipelined(pipelined, IPUConfig())

    assert [str(one.value) for one in (nothing, twice, shared)] == [
        "PipelinedBertForMaskedLM is not parallelized, there is nothing to undo; call parallelize() first",
        "PipelinedBertForMaskedLM is parallelized already; call deparallelize() before doing it anew",
        "PipelinedBertForMaskedLM is parallelized; call deparallelize() first",
    ]


def test_a_model_that_is_spread_over_devices_is_refused() -> None:
    pipelined = to_pipelined(tiny_model(BERT), IPUConfig())
    pipelined.bert.encoder.layer[1].to("meta")

    with pytest.raises(PlacementError) as raised:
        pipelined.parallelize()

    assert str(raised.value) == (
        "PipelinedBertForMaskedLM is spread over cpu, meta already; load it without device_map, or move it to one"
        " device with .to(...), before parallelize()"
    )


def test_parameters_are_counted_once() -> None:
    pipelined = to_pipelined(tiny_model(BERT), IPUConfig())
    pipelined.bert.embeddings.requires_grad_(requires_grad=False)
    sizes = {name: one.numel() for name, one in pipelined.named_parameters()}
    frozen = sum(size for name, size in sizes.items() if name.startswith("bert.embeddings."))
    embeddings = sum(size for name, size in sizes.items() if name.endswith("_embeddings.weight"))

    assert pipelined.num_parameters() == sum(sizes.values())
    assert pipelined.num_parameters(only_trainable=True) == sum(sizes.values()) - frozen
    assert pipelined.num_parameters(exclude_embeddings=True) == sum(sizes.values()) - embeddings


def test_a_peft_model_stays_one_on_the_same_weights() -> None:
    from peft import LoraConfig, get_peft_model

    torch.manual_seed(0)
    model = get_peft_model(
        tiny_model(transformers.BertForSequenceClassification),
        LoraConfig(target_modules=["query", "value"], modules_to_save=["classifier"]),
    ).eval()
    inputs = full_inputs(model.get_base_model())
    expected = outcome(model, inputs)

    pipelined = to_pipelined(model, IPUConfig(ipus_per_replica=2))
    before = structure(pipelined)
    pipelined.parallelize()
    marks = [(mark.module, mark.ipu_id) for mark in blocks(pipelined.get_base_model())]
    parallelized = outcome(pipelined, inputs)
    pipelined.deparallelize()

    assert type(pipelined) is type(model)
    assert marks[0] == ("bert.embeddings", 0)
    assert marks[-1] == ("classifier", 1)
    assert same(parallelized, expected)
    assert same(outcome(pipelined, inputs), expected)
    assert (structure(pipelined), before["tensors"]) == (before, structure(model)["tensors"])


def test_a_copy_of_a_parallelized_model_can_be_undone() -> None:
    pipelined = to_pipelined(tiny_model(BERT), IPUConfig(ipus_per_replica=2)).parallelize()

    copied = copy.deepcopy(pipelined)

    assert len(blocks(copied)) == len(blocks(pipelined))
    assert blocks(copied.deparallelize()) == ()
    assert len(blocks(pipelined)) == 6


@pytest.mark.parametrize(
    ("marks", "message"),
    [
        (
            [("bert.embeddings", "Embedding", 0), ("cls", "Embedding", 1)],
            (
                "the block name 'Embedding' is given twice: on IPU 0, and on IPU 1 for cls; modules of one name are one"
                " block: give this one a name of its own"
            ),
        ),
        (
            [("bert.embeddings", "Embedding", 0), ("cls", "Head", 2)],
            (
                "block 'Head' (cls) is placed on IPU 2, and the config has 2: IPU 0 to IPU 1; raise ipus_per_replica,"
                " or place it on one of these"
            ),
        ),
        (
            [("bert.embeddings", "Embedding", 0), ("bert.embeddings", "Head", 1)],
            (
                "module has already been assigned to a block: BertEmbeddings has BeginBlock(user_id=Embedding,"
                " ipu_id=0) and cannot begin 'Head' on IPU 1; mark each module once; call deparallelize() before"
                " placing it anew"
            ),
        ),
    ],
)
def test_a_parallelize_by_hand_that_fails_leaves_the_model_as_it_was(
    marks: list[tuple[str, str, int]], message: str
) -> None:
    from pipelined import BeginBlock

    class Ours(BERT, PipelineMixin):
        def parallelize(self) -> Any:
            super().parallelize()
            for path, name, ipu in marks:
                BeginBlock(self.get_submodule(path), name, ipu_id=ipu)
            return self

    pipelined = Ours.from_transformers(tiny_model(BERT), IPUConfig(ipus_per_replica=2))
    before = structure(pipelined)

    with pytest.raises(PipelineError) as raised:
        pipelined.parallelize()

    assert str(raised.value) == message
    assert structure(pipelined) == before
