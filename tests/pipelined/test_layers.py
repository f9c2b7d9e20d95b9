"""`layers_per_ipu`: wildcards, and the cut between encoder and decoder."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pipelined import IncompatibleIPUConfigError, IPUConfig, get_layer_ipu, split_encoder_decoder_ipu_config
from pipelined.layers import layer_counts


@pytest.mark.parametrize(
    ("layers_per_ipu", "ipus", "target", "counts"),
    [
        ([1, 2], 2, None, [1, 2]),
        ([-1, 2], 2, None, [-1, 2]),
        ([-1], 1, 9, [9]),
        ([3], 1, 9, [9]),
        ([-1], 4, 7, [1, 1, 1, 4]),
        ([-1, -1, -1, -1], 4, 7, [1, 1, 1, 4]),
        ([-1], 4, 3, [0, 0, 0, 3]),
        ([2, -1], 2, 6, [2, 4]),
        ([-1, 2, -1, 2], 4, 7, [1, 2, 2, 2]),
        ([0, -1, 0, -1], 4, 5, [0, 2, 0, 3]),
        ([0, 6, 0, 6], 4, 12, [0, 6, 0, 6]),
    ],
)
def test_wildcards_share_what_the_fixed_counts_leave(
    layers_per_ipu: list[int], ipus: int, target: int | None, counts: list[int]
) -> None:
    config = IPUConfig(layers_per_ipu=layers_per_ipu, ipus_per_replica=ipus)

    assert layer_counts(config, target) == counts


@pytest.mark.parametrize(
    ("layers_per_ipu", "ipus", "target", "message"),
    [
        (
            [1, -1],
            4,
            3,
            (
                "layers_per_ipu has a non-default value set, but its length does not match ipus_per_replica:"
                " layers_per_ipu=[1, -1], ipus_per_replica=4"
            ),
        ),
        (
            [1, 2],
            2,
            4,
            (
                "layers_per_ipu does not define the correct number of layers for the current model: layers_per_ipu=[1,"
                " 2] places 3 layers and the model has 4; let -1 stand for the layers that are left"
            ),
        ),
        (
            [8, -1],
            2,
            6,
            (
                "layers_per_ipu does not define the correct number of layers for the current model: layers_per_ipu=[8,"
                " -1] places 8 layers and the model has 6; let -1 stand for the layers that are left"
            ),
        ),
    ],
)
def test_counts_that_do_not_fit_the_layers_are_refused(
    layers_per_ipu: list[int], ipus: int, target: int, message: str
) -> None:
    with pytest.raises(IncompatibleIPUConfigError) as raised:
        get_layer_ipu(IPUConfig(layers_per_ipu=layers_per_ipu, ipus_per_replica=ipus), target)

    assert str(raised.value) == message


@given(st.lists(st.integers(-1, 5), min_size=1, max_size=6), st.integers(0, 40))
def test_every_layer_gets_an_ipu_in_order_or_the_counts_are_refused(counts: list[int], layers: int) -> None:
    config = IPUConfig(layers_per_ipu=counts)
    fixed = sum(count for count in counts if count != -1)
    fits = len(counts) == 1 or (fixed <= layers if -1 in counts else fixed == layers)

    if not fits:
        with pytest.raises(IncompatibleIPUConfigError):
            get_layer_ipu(config, layers)
        return
    ipu = get_layer_ipu(config, layers)
    assert (len(ipu), ipu) == (layers, sorted(ipu))
    assume(len(counts) > 1)
    assert all(ipu.count(index) == count for index, count in enumerate(counts) if count != -1)


def test_the_layers_themselves_stand_for_their_number() -> None:
    assert get_layer_ipu(IPUConfig(ipus_per_replica=2), ["a", "b", "c"]) == [0, 1, 1]


def test_the_bare_list_of_a_config_knows_its_number_of_ipus() -> None:
    config = IPUConfig(ipus_per_replica=2, inference_ipus_per_replica=4)

    assert get_layer_ipu(config.layers_per_ipu, 4) == [0, 0, 1, 1]
    assert get_layer_ipu(config.inference_layers_per_ipu, 4) == [0, 1, 2, 3]
    assert get_layer_ipu([1, -1], 4) == [0, 1, 1, 1]


def test_the_inference_counts_hold_in_inference_mode() -> None:
    config = IPUConfig(layers_per_ipu=[2, 2], inference_layers_per_ipu=[4])

    assert (get_layer_ipu(config, 4), get_layer_ipu(config.eval(), 4)) == ([0, 0, 1, 1], [0, 0, 0, 0])


@pytest.mark.parametrize(
    ("layers_per_ipu", "encoder", "decoder", "halves"),
    [
        ([1, 2], 1, 2, ([1], [2])),
        ([-1, -1], 2, 3, ([2], [3])),
        ([1, 2, 3, 0, 5, 6, 7, 8], 6, 26, ([1, 2, 3, 0], [5, 6, 7, 8])),
        ([0, 6, 0, 6], 6, 6, ([0, 6], [0, 6])),
        ([3, 0, 3, 0, 0, 7], 6, 7, ([3, 0, 3, 0], [0, 7])),
    ],
)
def test_the_encoder_gets_the_largest_power_of_two_of_ipus(
    layers_per_ipu: list[int], encoder: int, decoder: int, halves: tuple[list[int], list[int]]
) -> None:
    config = IPUConfig(layers_per_ipu=layers_per_ipu)

    ours = split_encoder_decoder_ipu_config(config, encoder, decoder)

    assert tuple(half.layers_per_ipu for half in ours) == halves
    assert tuple(half.ipus_per_replica for half in ours) == tuple(map(len, halves))


def test_a_split_cuts_the_lists_and_copies_the_rest() -> None:
    config = IPUConfig(
        layers_per_ipu=[2, 2, 2, 2],
        matmul_proportion=[0.1, 0.2, 0.3, 0.4],
        serialized_embedding_splits_per_ipu=[1, 1, 0, 0],
        seed=7,
    )

    encoder, decoder = split_encoder_decoder_ipu_config(config, 4, 4)

    assert (encoder.matmul_proportion, decoder.matmul_proportion) == ([0.1, 0.2], [0.3, 0.4])
    assert (encoder.serialized_embedding_splits_per_ipu, decoder.serialized_embedding_splits_per_ipu) == ([1, 1], None)
    assert (encoder.seed, decoder.seed, encoder.inference_layers_per_ipu) == (7, 7, [2, 2, 2, 2])


@pytest.mark.parametrize(
    ("given", "layers", "message"),
    [
        (
            {"layers_per_ipu": [4]},
            (2, 2),
            "Need ipus_per_replica to be at least 2 to split ipu_config into encoder and decoder configs",
        ),
        (
            {"layers_per_ipu": [4, 3]},
            (3, 4),
            (
                "Unable to find a valid split of ipu_config.layers_per_ipu: layers_per_ipu=[4, 3] with 3 encoder"
                " layers and 4 decoder layers; give the encoder IPUs of its own, and let their number be a power of 2"
            ),
        ),
        (
            {"layers_per_ipu": [0, 2, 2, 0], "serialized_embedding_splits_per_ipu": [0, 2, 2, 0]},
            (2, 2),
            (
                "The `SerializedEmbedding` must have all splits placed on the encoder, but [0, 2, 2, 0] results in [2,"
                " 0] being placed on the decoder"
            ),
        ),
        (
            {"layers_per_ipu": [0, 2, 2, 0], "serialized_projection_splits_per_ipu": [0, 2, 2, 0]},
            (2, 2),
            (
                "The `SplitProjection` must have all splits placed on the decoder, but [0, 2, 2, 0] results in [0, 2]"
                " being placed on the encoder"
            ),
        ),
    ],
)
def test_a_split_that_cannot_be_is_refused(given: dict[str, list[int]], layers: tuple[int, int], message: str) -> None:
    with pytest.raises(ValueError, match=r".") as raised:
        split_encoder_decoder_ipu_config(IPUConfig(**given), *layers)  # type: ignore[arg-type]

    assert str(raised.value) == message
