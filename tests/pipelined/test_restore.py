"""What `deparallelize` promises: after any number of cycles, in both modes, the model is what it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from pipelined import IPUConfig, PipelineMixin, to_pipelined
from tests.pipelined.families import original, registered_classes
from tests.pipelined.outcomes import full_inputs, outcome, same
from tests.pipelined.structure import structure
from tests.pipelined.tiny import tiny_model

BERT: Any = transformers.BertForMaskedLM

EVERYTHING: dict[str, Any] = {
    "layers_per_ipu": [-1, -1],
    "inference_layers_per_ipu": [-1],
    "recompute_checkpoint_every_layer": True,
}
SERIALIZED: dict[str, Any] = {
    "embedding_serialization_factor": 4,
    "projection_serialization_factor": 2,
    "inference_projection_serialization_factor": 5,
}
WITHOUT_PROJECTION = "Classification", "MultipleChoice", "QuestionAnswering", "EncoderModel", "BertModel", "MPNetModel"
WITHOUT_VOCABULARY = "ViT", "ConvNext", "Wav2Vec2", "Hubert"


def config_for(name: str) -> IPUConfig:
    """As much as the class can have."""
    fields = {
        field: value
        for field, value in SERIALIZED.items()
        if not name.startswith(WITHOUT_VOCABULARY)
        and ("embedding" in field or not any(part in name for part in WITHOUT_PROJECTION))
    }
    return IPUConfig(**EVERYTHING, **fields)


@pytest.mark.parametrize("name", registered_classes())
def test_three_cycles_in_both_modes_leave_the_model_as_it_was(name: str, tmp_path: Path) -> None:
    model = tiny_model(original(name))
    inputs = full_inputs(model)
    expected = outcome(model, inputs)
    pipelined = to_pipelined(model, config_for(name))
    before = structure(pipelined)

    for cycle in range(3):
        for mode in ("training", "inference"):
            pipelined.ipu_config.mode = mode
            pipelined.parallelize()
            assert structure(pipelined)["tensors"] == before["tensors"], (cycle, mode)
            assert same(outcome(pipelined, inputs), expected, within=1e-5), (cycle, mode)
            pipelined.deparallelize()
            assert structure(pipelined) == before, (cycle, mode)

    pipelined.save_pretrained(tmp_path)
    reloaded = original(name).from_pretrained(tmp_path).eval()
    assert (type(reloaded), same(outcome(reloaded, inputs), expected)) == (original(name), True)


def test_saving_while_parallelized_writes_what_the_original_loads(tmp_path: Path) -> None:
    model = tiny_model(BERT)
    inputs = full_inputs(model)
    pipelined = to_pipelined(model, config_for("BertForMaskedLM")).parallelize()

    pipelined.save_pretrained(tmp_path)

    reloaded = BERT.from_pretrained(tmp_path).eval()
    assert reloaded.config.architectures == ["BertForMaskedLM"]
    assert same(outcome(reloaded, inputs), outcome(model, inputs))


@pytest.mark.parametrize("serialized", [False, True])
def test_an_optimizer_made_before_trains_the_model_as_if_nothing_had_happened(*, serialized: bool) -> None:
    states = []
    for parallel in (False, True):
        model = tiny_model(BERT, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0).train()
        if parallel:
            model = to_pipelined(model, config_for("BertForMaskedLM") if serialized else IPUConfig(ipus_per_replica=2))
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
        inputs = full_inputs(model)
        for _ in range(3):
            if parallel:
                model.parallelize()
            optimizer.zero_grad()
            model(**inputs).loss.backward()
            optimizer.step()
            if parallel:
                model.deparallelize()
        states.append(dict(model.state_dict()))

    assert same(states[1], states[0], within=1e-5 if serialized else 0.0)


def test_only_what_parallelize_changed_is_undone() -> None:
    class Ours(BERT, PipelineMixin):
        def parallelize(self) -> Any:
            super().parallelize()
            self.bert.encoder.layer[0].requires_grad_(requires_grad=False)
            self.bert.encoder.layer[1].register_forward_hook(ours)
            self.cls.predictions.transform = torch.nn.Identity()
            self.cls.predictions.note = "ours"
            self.cls._notes = {"ours": 1}
            return None

    def ours(*_: Any) -> None:
        return None

    def theirs(*_: Any) -> None:
        return None

    pipelined = Ours.from_transformers(tiny_model(BERT), IPUConfig())
    before = structure(pipelined)
    pipelined.parallelize()
    pipelined.bert.encoder.layer[2].requires_grad_(requires_grad=False)
    pipelined.bert.encoder.layer[3].register_forward_hook(theirs)
    pipelined.bert.note = "theirs"
    pipelined.deparallelize()
    after = structure(pipelined)

    assert all(one.requires_grad for one in pipelined.bert.encoder.layer[0].parameters())
    assert not any(one.requires_grad for one in pipelined.bert.encoder.layer[2].parameters())
    assert list(pipelined.bert.encoder.layer[1]._forward_hooks.values()) == []
    assert list(pipelined.bert.encoder.layer[3]._forward_hooks.values()) == [theirs]
    assert after["modules"] == before["modules"]
    assert (pipelined.bert.note, hasattr(pipelined.cls.predictions, "note")) == ("theirs", False)
    assert not hasattr(pipelined.cls, "_notes")


def test_a_handwritten_deparallelize_runs_first() -> None:
    class Ours(BERT, PipelineMixin):
        def deparallelize(self) -> Any:
            super().deparallelize()
            self.undone = True
            return self

    pipelined = Ours.from_transformers(tiny_model(BERT), IPUConfig(ipus_per_replica=2))

    assert pipelined.parallelize().deparallelize().undone
