"""`IPUConfig`: every field, default, twin, check and message."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pipelined import Execution, IncompatibleIPUConfigError, IPUConfig

DEFAULTS: dict[str, Any] = {
    "replication_factor": 1,
    "inference_replication_factor": 1,
    "gradient_accumulation_steps": 1,
    "layers_per_ipu": [-1],
    "inference_layers_per_ipu": [-1],
    "ipus_per_replica": 1,
    "inference_ipus_per_replica": 1,
    "optimizer_state_offchip": False,
    "replicated_tensor_sharding": False,
    "matmul_proportion": 0.2,
    "inference_matmul_proportion": 0.2,
    "enable_half_partials": True,
    "embedding_serialization_factor": 1,
    "inference_embedding_serialization_factor": 1,
    "serialized_embedding_splits_per_ipu": None,
    "inference_serialized_embedding_splits_per_ipu": None,
    "projection_serialization_factor": 1,
    "inference_projection_serialization_factor": 1,
    "serialized_projection_splits_per_ipu": None,
    "inference_serialized_projection_splits_per_ipu": None,
    "recompute_checkpoint_every_layer": False,
    "device_iterations": 1,
    "inference_device_iterations": 1,
    "output_mode": "final",
    "seed": None,
    "auto_loss_scaling": False,
    "executable_cache_dir": "",
    "explicit_ir_inference": False,
    "parallelize_kwargs": {},
    "inference_parallelize_kwargs": {},
    "execute_encoder_on_cpu_for_generation": False,
    "execution": {"schedule": "1f1b", "microbatches": None},
}

PUBLISHED: tuple[dict[str, Any], ...] = (
    {
        "embedding_serialization_factor": 2,
        "inference_device_iterations": 5,
        "optimizer_state_offchip": True,
        "ipus_per_replica": 4,
        "layers_per_ipu": [3, 3, 3, 3],
        "matmul_proportion": 0.22,
        "replicated_tensor_sharding": True,
        "replication_factor": 4,
        "executable_cache_dir": "./exe_cache",
        "output_mode": "final",
        "seed": 42,
        "optimum_version": "1.0.0",
        "transformers_version": "4.20.0",
    },
    {
        "gradient_accumulation_steps": 64,
        "layers_per_ipu": [0, 4, 4, 4],
        "ipus_per_replica": 4,
        "matmul_proportion": [0.15, 0.3, 0.3, 0.3],
        "recompute_checkpoint_every_layer": True,
        "inference_layers_per_ipu": [6, 6],
        "inference_parallelize_kwargs": {"for_generation": True},
    },
    {
        "layers_per_ipu": [-1],
        "ipus_per_replica": 8,
        "serialized_embedding_splits_per_ipu": [2, 2, 0, 0, 0, 0, 0, 0],
        "serialized_projection_splits_per_ipu": [0, 0, 0, 0, 0, 0, 2, 2],
        "projection_serialization_factor": None,
    },
)


def test_a_config_without_arguments_has_the_published_defaults() -> None:
    assert IPUConfig().to_dict() == DEFAULTS


@pytest.mark.parametrize(
    ("given", "worked_out"),
    [
        ({"layers_per_ipu": [1, 2, 3]}, {"ipus_per_replica": 3, "inference_ipus_per_replica": 3}),
        ({"ipus_per_replica": 10}, {"inference_ipus_per_replica": 10}),
        ({"ipus_per_replica": 10, "inference_layers_per_ipu": [1, 2, 3]}, {"inference_ipus_per_replica": 3}),
        ({"layers_per_ipu": [1, 2], "inference_ipus_per_replica": 2}, {"inference_layers_per_ipu": [1, 2]}),
        ({"layers_per_ipu": [1, 2], "matmul_proportion": [0.1, 0.3]}, {"inference_matmul_proportion": [0.1, 0.3]}),
        (
            {"layers_per_ipu": [1, 2], "matmul_proportion": [0.1, 0.3], "inference_layers_per_ipu": [3]},
            {"inference_matmul_proportion": 0.2, "inference_ipus_per_replica": 1},
        ),
        (
            {"ipus_per_replica": 2, "serialized_embedding_splits_per_ipu": [1, 1]},
            {"embedding_serialization_factor": None, "inference_embedding_serialization_factor": 1},
        ),
    ],
)
def test_what_is_not_given_follows_from_what_is(given: dict[str, Any], worked_out: dict[str, Any]) -> None:
    config = IPUConfig(**given)

    assert {name: getattr(config, name) for name in worked_out} == worked_out


@pytest.mark.parametrize(
    ("name", "value", "error", "message"),
    [
        (
            "seed",
            "x",
            TypeError,
            "`IPUConfig` attribute `seed` must be of type int | None. You provided value='x', <class 'str'>",
        ),
        (
            "layers_per_ipu",
            [1, "2"],
            TypeError,
            (
                "`IPUConfig` attribute `layers_per_ipu` must be of type list[int]. You provided value=[1, '2'],"
                " <class 'list'>"
            ),
        ),
        (
            "ipus_per_replica",
            None,
            TypeError,
            (
                "`IPUConfig` attribute `ipus_per_replica` must be of type int. You provided value=None,"
                " <class 'NoneType'>"
            ),
        ),
        (
            "layers_per_ipu",
            [-2],
            ValueError,
            "`IPUConfig` attribute `layers_per_ipu` must have all elements >= -1. You provided value=[-2]",
        ),
        (
            "inference_matmul_proportion",
            -0.1,
            ValueError,
            "`IPUConfig` attribute `inference_matmul_proportion` must be >= 0. You provided value=-0.1",
        ),
        (
            "device_iterations",
            0,
            ValueError,
            "`IPUConfig` attribute `device_iterations` must be >= 1. You provided value=0",
        ),
        (
            "output_mode",
            "last",
            ValueError,
            (
                "`IPUConfig` attribute `output_mode` can only be one of ('all', 'sum', 'final', 'default')."
                " You provided value='last'"
            ),
        ),
        (
            "serialized_embedding_splits_per_ipu",
            [0, 0],
            ValueError,
            "`IPUConfig` attribute `serialized_embedding_splits_per_ipu=[0, 0]` must have atleast 1 split on 1 IPU.",
        ),
        (
            "serialized_projection_splits_per_ipu",
            [3, 0, 2, 0],
            ValueError,
            (
                "`IPUConfig` attribute `serialized_projection_splits_per_ipu=[3, 0, 2, 0]` must have its splits on"
                " consecutive IPUs."
            ),
        ),
        (
            "mode",
            "test",
            ValueError,
            (
                "`IPUConfig` mode can only take values in ('training', 'inference'). You provided: value='test'. Use"
                " the `train` and `eval` methods instead."
            ),
        ),
    ],
)
def test_each_assignment_is_checked(name: str, value: Any, error: type[Exception], message: str) -> None:
    config = IPUConfig()

    with pytest.raises(error) as raised:
        setattr(config, name, value)

    assert (str(raised.value), config) == (message, IPUConfig())


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (
            {"layers_per_ipu": [1, 2], "ipus_per_replica": 4},
            IncompatibleIPUConfigError,
            "layers_per_ipu=[1, 2] should use the same number of IPUs as ipus_per_replica=4.",
        ),
        (
            {"ipus_per_replica": 2, "matmul_proportion": [0.1, 0.2, 0.3]},
            IncompatibleIPUConfigError,
            "matmul_proportion=[0.1, 0.2, 0.3] should use the same number of IPUs as ipus_per_replica=2.",
        ),
        (
            {"ipus_per_replica": 2, "inference_layers_per_ipu": [1, 2], "inference_ipus_per_replica": 3},
            IncompatibleIPUConfigError,
            "inference_layers_per_ipu=[1, 2] should use the same number of IPUs as inference_ipus_per_replica=3.",
        ),
        (
            {"ipus_per_replica": 2, "serialized_embedding_splits_per_ipu": [1]},
            ValueError,
            "serialized_embedding_splits_per_ipu=[1] should use the same number of IPUs as ipus_per_replica=2.",
        ),
        (
            {"serialized_projection_splits_per_ipu": [2], "projection_serialization_factor": 2},
            ValueError,
            (
                "Only one of `projection_serialization_factor` and `serialized_projection_splits_per_ipu` should be"
                " used at once: the first serialises the projection on one IPU, the second spreads its parts over the"
                " IPUs that you choose"
            ),
        ),
        (
            {"layers": [1], "replicas": 2},
            IncompatibleIPUConfigError,
            "IPUConfig received unknown arguments:\n  layers=[1]\n  replicas=2",
        ),
        (
            {"replication_factor": {"pod4": 1}},
            TypeError,
            (
                "`IPUConfig` attribute `replication_factor` must be of type int. You provided value={'pod4': 1},"
                " <class 'dict'>"
            ),
        ),
    ],
)
def test_fields_that_contradict_each_other_are_refused(
    given: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as raised:
        IPUConfig(**given)

    assert str(raised.value) == message


def test_a_deprecated_keyword_warns_and_changes_nothing() -> None:
    with pytest.warns(FutureWarning, match='The "enable_half_first_order_momentum" parameter is deprecated'):
        config = IPUConfig(enable_half_first_order_momentum=True)

    assert config == IPUConfig()


def test_the_mode_decides_which_twin_is_read_and_written() -> None:
    config = IPUConfig(layers_per_ipu=[2, 2], inference_layers_per_ipu=[4], matmul_proportion=[0.1, 0.2])

    training = (config.mode, config._layers_per_ipu, config._ipus_per_replica, config._matmul_proportion)
    config.eval()
    inference = (config.mode, config._layers_per_ipu, config._ipus_per_replica, config._matmul_proportion)
    config._layers_per_ipu = [3]

    assert [training, inference] == [("training", [2, 2], 2, [0.1, 0.2]), ("inference", [4], 1, 0.2)]
    assert (config.layers_per_ipu, config.inference_layers_per_ipu) == ([2, 2], [3])
    assert "mode" not in json.dumps(config.to_dict()).replace("output_mode", "")


def test_replicated_sharding_with_one_replica_warns(caplog: pytest.LogCaptureFixture) -> None:
    IPUConfig(replicated_tensor_sharding=True)

    assert caplog.messages == ["`replicated_tensor_sharding` is not used when `replication_factor=1`"]


def test_text_updates_keep_the_type_of_each_field() -> None:
    config = IPUConfig(layers_per_ipu=[1, 1])

    config.update_from_string(
        "device_iterations=4,layers_per_ipu=[2 2],optimizer_state_offchip=true,matmul_proportion=0.3,output_mode=all"
    )

    assert config == IPUConfig(
        device_iterations=4,
        layers_per_ipu=[2, 2],
        inference_layers_per_ipu=[1, 1],
        optimizer_state_offchip=True,
        matmul_proportion=0.3,
        inference_matmul_proportion=0.2,
        output_mode="all",
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("layer=1", "Key layer isn't in the original config dict"),
        ("enable_half_partials=maybe", "Can't derive true or false from maybe (key enable_half_partials)"),
        ("seed=1", "You can only update int, float, bool, list or string values, got 1 for key seed"),
        ("seed", "'seed' is not of the form key=value"),
    ],
)
def test_a_text_update_that_means_nothing_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=r".") as raised:
        IPUConfig().update_from_string(text)

    assert str(raised.value) == message


def test_the_batch_size_factor_counts_replicas_accumulation_and_iterations() -> None:
    config = IPUConfig(
        replication_factor=2,
        gradient_accumulation_steps=3,
        device_iterations=5,
        inference_replication_factor=7,
        inference_device_iterations=11,
    )

    assert (config.batch_size_factor(), config.batch_size_factor(for_inference=True)) == (30, 77)


@pytest.mark.parametrize("published", PUBLISHED)
def test_a_published_file_survives_a_round_trip(published: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "ipu_config.json").write_text(json.dumps(published), encoding="utf-8")

    config = IPUConfig.from_pretrained(tmp_path)
    config.save_pretrained(tmp_path / "saved")
    saved = json.loads((tmp_path / "saved" / "ipu_config.json").read_text(encoding="utf-8"))

    assert IPUConfig.from_pretrained(tmp_path / "saved") == config
    kept = {name: value for name, value in published.items() if name in DEFAULTS}
    assert {name: saved[name] for name in kept} == kept


def test_keywords_win_over_what_a_file_says(tmp_path: Path) -> None:
    IPUConfig(seed=1, layers_per_ipu=[2, 2]).save_pretrained(tmp_path)

    assert IPUConfig.from_pretrained(tmp_path / "ipu_config.json", seed=2) == IPUConfig(seed=2, layers_per_ipu=[2, 2])


@pytest.mark.parametrize("name", ["no/where", "not a name at all", "no-folder"])
def test_a_config_that_is_nowhere_is_named(name: str) -> None:
    with pytest.raises(IncompatibleIPUConfigError, match=f"{name} holds no IPU config: "):
        IPUConfig.from_pretrained(name)


@pytest.mark.parametrize("text", ["{", "[1]", '{"layers": 3}'])
def test_a_file_that_holds_no_config_is_named(text: str, tmp_path: Path) -> None:
    (tmp_path / "ipu_config.json").write_text(text, encoding="utf-8")

    with pytest.raises(IncompatibleIPUConfigError):
        IPUConfig.from_pretrained(tmp_path)


def test_the_execution_says_how_torch_runs_the_pipeline() -> None:
    config = IPUConfig(execution=Execution(schedule="gpipe", microbatches=4))

    assert IPUConfig.from_dict(config.to_dict()) == config


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"schedule": "fastest"},
            (
                "there is no schedule 'fastest'; choose one of gpipe, 1f1b, interleaved-1f1b, looped-bfs,"
                " interleaved-zero-bubble, zbv-zero-bubble, dual-pipe-v"
            ),
        ),
        ({"microbatches": 0}, "microbatches=0 must be >= 1, or be left out"),
        ({"batches": 2}, "execution received unknown keys: batches; known are schedule, microbatches"),
    ],
)
def test_an_execution_that_cannot_be_is_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=r".") as raised:
        IPUConfig(execution=Execution.from_dict(values))

    assert str(raised.value) == message
