"""A placement found by looking at which modules repeat and in what order they are called."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import transformers
from torch import nn

from pipelined import Placement, PlacementError
from pipelined.catalog import placements
from pipelined.discover import call_order
from tests.pipelined.families import original
from tests.pipelined.structure import structure
from tests.pipelined.tiny import tiny_model


@pytest.mark.parametrize(
    ("name", "placement"),
    [
        (
            "BertForMaskedLM",
            Placement(first=("bert.embeddings",), layers=("bert.encoder.layer",), head=("cls",)),
        ),
        (
            "T5ForConditionalGeneration",
            Placement(
                first=("encoder.embed_tokens", "decoder.embed_tokens"),
                layers=("encoder.block", "decoder.block"),
                end={"encoder.block": ("encoder.final_layer_norm",)},
                head=("decoder.final_layer_norm", "lm_head"),
            ),
        ),
        (
            "WhisperForConditionalGeneration",
            Placement(
                first=("model.encoder.conv1", "model.encoder.conv2", "model.encoder.embed_positions"),
                layers=("model.encoder.layers", "model.decoder.layers"),
                start={"model.decoder.layers": ("model.decoder.embed_tokens", "model.decoder.embed_positions")},
                end={"model.encoder.layers": ("model.encoder.layer_norm",)},
                head=("model.decoder.layer_norm", "proj_out"),
            ),
        ),
        (
            "LlamaForCausalLM",
            Placement(first=("model.embed_tokens",), layers=("model.layers",), head=("model.norm", "lm_head")),
        ),
    ],
)
def test_embeddings_layers_norms_and_heads_are_found(name: str, placement: Placement) -> None:
    assert Placement.discover(tiny_model(getattr(transformers, name))) == placement


@pytest.mark.parametrize("name", sorted(placements()))
def test_the_layers_that_are_found_are_those_that_the_catalog_knows(name: str) -> None:
    known, found = placements()[name], Placement.discover(tiny_model(original(name)))

    # Where the catalog counts convolutions as layers it says so by name, and LXMERT's have fixed places.
    lists = {
        entry
        for entry in known.layers
        if "*" not in entry and entry.rpartition(".")[2].startswith(("layer", "h", "bl"))
    }
    assert lists <= set(found.layers)


class Alternating(nn.Module):
    """Two lists whose items take turns, something between them, and a part that is called before what holds it."""

    def __init__(self) -> None:
        super().__init__()
        self.embeddings = nn.ModuleDict({"words": nn.Embedding(8, 4), "norm": nn.LayerNorm(4)})
        self.left = nn.ModuleList(nn.Linear(4, 4) for _ in range(2))
        self.right = nn.ModuleList(nn.Linear(4, 4) for _ in range(2))
        self.between = nn.Linear(4, 4)
        self.never = nn.Linear(4, 4)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        hidden: torch.Tensor = self.embeddings["norm"](self.embeddings["words"](ids))
        for index, (left, right) in enumerate(zip(self.left, self.right, strict=True)):
            hidden = right(left(hidden))
            if index == 0:
                hidden = self.between(hidden)
        return hidden


def test_lists_that_take_turns_are_named_item_by_item() -> None:
    found = Placement.discover(Alternating(), {"ids": torch.tensor([[1, 2]])})

    assert found == Placement(
        first=("embeddings.words", "embeddings.norm"),
        layers=("left.0", "right.0", "left.1", "right.1"),
        end={"right.0": ("between",)},
    )


def test_looking_leaves_nothing_behind() -> None:
    class Counting(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.ModuleList(nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)) for _ in range(2))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            for layer in self.layers:
                x = layer(x) + torch.rand(())
            return x

    model = Counting().train()
    x = torch.randn(3, 4)
    before, state, rng = structure(model), [one.clone() for one in model.buffers()], torch.random.get_rng_state()

    assert call_order(model, {"x": x})[:2] == ("", "layers.0")
    assert structure(model) == before
    assert all(torch.equal(one, other) for one, other in zip(model.buffers(), state, strict=True))
    assert torch.equal(torch.random.get_rng_state(), rng)


@pytest.mark.parametrize(
    ("model", "inputs", "message"),
    [
        (
            nn.Linear(2, 2),
            {"input": torch.ones(1, 2)},
            (
                "Linear has no list of layers that its forward calls, so there is nothing to spread; state a placement"
                " for it, or keep it on one IPU"
            ),
        ),
        (
            nn.Linear(2, 2),
            {"input": torch.ones(1, 3)},
            (
                "the forward of Linear could not be run on input: mat1 and mat2 shapes cannot be multiplied (1x3 and"
                " 2x2); give Placement.discover(model, inputs) the inputs that it takes, or state a placement"
            ),
        ),
    ],
)
def test_a_model_that_shows_no_placement_is_refused(model: Any, inputs: dict[str, torch.Tensor], message: str) -> None:
    with pytest.raises(PlacementError) as raised:
        Placement.discover(model, inputs)

    assert str(raised.value) == message


@pytest.mark.parametrize("name", ["BioGptModel", "CTRLForSequenceClassification", "GraniteMoeSharedForCausalLM"])
def test_a_placement_is_found_without_weights_although_the_forward_asks_what_is_in_its_inputs(name: str) -> None:
    model = tiny_model(getattr(transformers, name))
    expected = Placement.discover(model)
    with torch.device("meta"):
        empty = type(model)(model.config)

    assert Placement.discover(empty) == expected
    assert all(type(buffer) is torch.Tensor for buffer in empty.buffers())
