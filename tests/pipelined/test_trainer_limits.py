"""What a pipeline has no answer to is refused by the name of the argument, with a way out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipelined import PipelineError
from pipelined.trainer_limits import refuse_unsupported
from tests.pipelined.training import arguments

WHOLE = "does not go with a pipeline over processes; "


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"auto_find_batch_size": True},
            f"auto_find_batch_size=True {WHOLE}set per_device_train_batch_size: one process",
        ),
        ({"bf16_full_eval": True}, f"bf16_full_eval=True {WHOLE}set bf16, or load the model in the type that you want"),
        ({"save_on_each_node": True}, f"save_on_each_node=True {WHOLE}leave it out: all processes write into a folder"),
        (
            {"train_sampling_strategy": "batch_rebalance"},
            f"train_sampling_strategy=batch_rebalance {WHOLE}set group_by",
        ),
        ({"optim": "adalomo"}, f"optim=adalomo {WHOLE}choose an optimizer that steps after the backward pass"),
        (
            {"accelerator_config": {"dispatch_batches": True}},
            f"dispatch_batches=True {WHOLE}leave it out: every process",
        ),
        (
            {"activation_checkpointing": True, "activation_checkpointing_kwargs": {"every_n_layers": 2}},
            f"activation_checkpointing_kwargs with every_n_layers {WHOLE}leave it out: every layer is checkpointed",
        ),
    ],
)
def test_an_argument_that_would_not_do_what_it_says_is_refused(
    tmp_path: Path, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(PipelineError) as refusal:
        refuse_unsupported(arguments(tmp_path, **given))

    assert str(refusal.value).startswith(said)


def test_reentrance_of_checkpoints_is_nothing_to_refuse(tmp_path: Path) -> None:
    given = {"activation_checkpointing": True, "activation_checkpointing_kwargs": {"use_reentrant": True}}

    refuse_unsupported(arguments(tmp_path, **given))
