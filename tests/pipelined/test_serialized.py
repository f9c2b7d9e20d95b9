"""Embeddings and projections in parts: the same numbers, the same parameter, and a place for each part."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import transformers
from torch import nn

from pipelined import (
    IncompatibleIPUConfigError,
    IPUConfig,
    MatMulSerializationMode,
    SerializedEmbedding,
    SerializedLinear,
    SharedEmbedding,
    SplitProjection,
    to_pipelined,
)
from pipelined.blocks import blocks
from tests.pipelined.outcomes import full_inputs, outcome, same
from tests.pipelined.structure import structure
from tests.pipelined.tiny import tiny_model

IDS = torch.tensor([[0, 1, 2, 3], [4, 5, 6, 7]])


@pytest.mark.parametrize("padding_idx", [None, 0, 5])
@pytest.mark.parametrize("factor", [1, 2, 4, 8])
def test_a_serialized_embedding_looks_up_the_same_and_has_the_same_gradient(
    factor: int, padding_idx: int | None
) -> None:
    torch.manual_seed(0)
    plain = nn.Embedding(8, 3, padding_idx=padding_idx)
    weights = torch.arange(24.0).reshape(2, 4, 3)
    found = []
    for embedding in (plain, SerializedEmbedding.from_model(plain, factor)):
        plain.weight.grad = None
        looked_up = embedding(IDS)
        (looked_up * weights).sum().backward()
        found.append({"values": looked_up.detach(), "gradient": plain.weight.grad})

    assert same(found[1], found[0])
    if padding_idx is not None:
        assert not found[1]["gradient"][padding_idx].any()


def test_a_serialized_embedding_is_the_same_parameter_and_comes_back() -> None:
    plain = nn.Embedding(8, 3, padding_idx=0).requires_grad_(requires_grad=False)

    serialized = SerializedEmbedding(plain, 4)
    back = serialized.to_model()

    assert (list(serialized.state_dict()), serialized.weight is plain.weight) == (["weight"], True)
    assert (type(back), back.weight is plain.weight, back.padding_idx) == (nn.Embedding, True, 0)
    assert not serialized.weight.requires_grad


def test_an_embedding_that_scales_goes_on_scaling() -> None:
    class Scaled(nn.Embedding):
        def forward(self, ids: torch.Tensor) -> torch.Tensor:
            return super().forward(ids) * 2

    plain = Scaled(8, 3)
    serialized = SerializedEmbedding.from_model(plain, 2)

    assert torch.equal(serialized(IDS), plain(IDS))
    assert type(serialized.to_model()) is Scaled


@pytest.mark.parametrize("mode", [MatMulSerializationMode.OutputChannels, MatMulSerializationMode.ReducingDim])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("kind", [SerializedLinear, SplitProjection])
def test_a_projection_in_parts_computes_the_same_on_the_same_parameter(kind: Any, mode: Any, *, bias: bool) -> None:
    torch.manual_seed(0)
    plain = nn.Linear(6, 12, bias=bias)
    x = torch.randn(2, 5, 6)
    found = []
    for linear in (plain, kind.from_model(plain, 3, mode)):
        plain.zero_grad()
        product = linear(x)
        product.square().sum().backward()
        found.append({"product": product.detach(), **{name: one.grad for name, one in plain.named_parameters()}})

    assert same(found[1], found[0], within=1e-5)
    back = kind.from_model(plain, 3, mode).to_model()
    assert (type(back), back.weight is plain.weight, back.bias is plain.bias) == (nn.Linear, True, True)
    assert list(kind.from_model(plain, 3, mode).state_dict()) == list(plain.state_dict())


def test_a_serialized_linear_can_be_made_from_sizes() -> None:
    linear = SerializedLinear(4, 6, 2, bias=True)

    assert (tuple(linear.weight.shape), tuple(linear.bias.shape), linear.factor) == ((6, 4), (6,), 2)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: SerializedEmbedding(nn.Embedding(10, 2), 3),
            "num_embeddings=10 must be divisible by the serialization factor 3; 1, 2, 5, 10 divide it",
        ),
        (
            lambda: SerializedLinear.from_model(nn.Linear(2, 10), 4),
            "out_features=10 must be divisible by the serialization factor 4; 1, 2, 5, 10 divide it",
        ),
        (
            lambda: SplitProjection(nn.Linear(10, 2), 4, MatMulSerializationMode.ReducingDim),
            "in_features=10 must be divisible by the serialization factor 4; 1, 2, 5, 10 divide it",
        ),
        (
            lambda: SplitProjection(nn.Linear(10, 2), 2, MatMulSerializationMode.InputChannels),
            "serialization_mode can be OutputChannels or ReducingDim, not MatMulSerializationMode.InputChannels",
        ),
        (
            lambda: SerializedEmbedding(nn.Embedding(8, 2), 4).parallelize([1, 2]),
            "splits_per_ipu=[1, 2] places 3 splits and Embedding has 4",
        ),
    ],
)
def test_parts_that_do_not_come_out_even_are_refused(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=r".") as raised:
        make()

    assert str(raised.value) == message


@pytest.mark.parametrize("given", [("both", 2, 3), ("encoder", 2, None), ("decoder", None, 3)])
def test_a_shared_embedding_serves_both_stacks(given: tuple[str, int | None, int | None]) -> None:
    _, encoder, decoder = given
    shared = SharedEmbedding(nn.Embedding(8, 3))
    ids = [None if length is None else IDS[:, :length] for length in (encoder, decoder)]

    found = shared(ids[0], ids[1], encoder_embed_scale=2.0)

    expected = [None if one is None else shared.shared(one) * scale for one, scale in zip(ids, (2, 1), strict=True)]
    assert [one is None for one in found] == [one is None for one in expected]
    assert all(torch.equal(one, other) for one, other in zip(found, expected, strict=True) if one is not None)


SPREAD: dict[str, Any] = {
    "ipus_per_replica": 4,
    "serialized_embedding_splits_per_ipu": [2, 2, 0, 0],
    "serialized_projection_splits_per_ipu": [0, 0, 2, 3],
}


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("name", ["MT5ForConditionalGeneration", "BartForConditionalGeneration", "GPT2LMHeadModel"])
def test_parts_are_placed_over_several_ipus_and_ties_stay(name: str, *, tied: bool) -> None:
    model = tiny_model(getattr(transformers, name), vocab_size=160)
    if not tied:
        model.lm_head.weight = nn.Parameter(model.lm_head.weight.detach().clone())
    inputs = full_inputs(model)
    expected = outcome(model, inputs)
    pipelined = to_pipelined(model, IPUConfig(**SPREAD))
    before = structure(pipelined)

    pipelined.parallelize()
    parts = [(mark.user_id, mark.ipu_id) for mark in blocks(pipelined) if "split" in mark.module]

    assert parts[-2:] == [("lm_head-0-1", 2), ("lm_head-2-4", 3)]
    assert [ipu for _, ipu in parts[:-2]] == [0, 1] * (len(parts[:-2]) // 2)
    assert same(outcome(pipelined, inputs), expected, within=1e-5)
    assert structure(pipelined)["tensors"] == before["tensors"]
    assert structure(pipelined.deparallelize()) == before


@pytest.mark.parametrize(
    ("name", "fields", "message"),
    [
        (
            "BertForTokenClassification",
            {"projection_serialization_factor": 2},
            "PipelinedBertForTokenClassification has no projection to serialise",
        ),
        (
            "ViTForImageClassification",
            {"embedding_serialization_factor": 2},
            "PipelinedViTForImageClassification has no embedding to serialise",
        ),
        (
            "BertForMaskedLM",
            {"serialized_embedding_splits_per_ipu": [2]},
            (
                "serialized_embedding_splits_per_ipu spreads bert.embeddings.word_embeddings, which is not a block of"
                " its own in this placement; use embedding_serialization_factor, or a placement that names"
                " bert.embeddings.word_embeddings"
            ),
        ),
    ],
)
def test_what_cannot_be_serialized_is_refused_and_nothing_is_changed(
    name: str, fields: dict[str, Any], message: str
) -> None:
    pipelined = to_pipelined(tiny_model(getattr(transformers, name)), IPUConfig(**fields))
    before = structure(pipelined)

    with pytest.raises(IncompatibleIPUConfigError) as raised:
        pipelined.parallelize()

    assert (str(raised.value), structure(pipelined)) == (message, before)
