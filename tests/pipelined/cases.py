"""Cases in which other pipelines went wrong, each with the address where that is told; for `test_section6.py`."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import torch
import transformers

from pipelined import IPUConfig, to_pipelined
from pipelined.distributed import distribute
from pipelined.execution import Execution
from pipelined.flows import flow_of
from pipelined.plan import Plan
from tests.pipelined.batches import cut, training_batch
from tests.pipelined.exactness import (
    MICROBATCHES,
    WITHIN,
    config_of,
    evaluated,
    exactness,
    of_classes,
    of_model,
    scored,
    trained,
)
from tests.pipelined.placed import placed
from tests.pipelined.tiny import tiny_model
from tests.pipelined.written import LAYERS, InPlace, WrittenConfig

DROPPING = ("BartForConditionalGeneration", "BertForMaskedLM", "Wav2Vec2ForCTC")
"""With functional dropout, with modules for it, and with masks that numpy draws."""


def case_1_rotary_positions_over_four() -> dict[str, Any]:
    """See https://github.com/pytorch/pytorch/issues/184361."""
    return of_classes(("LlamaForCausalLM", "Qwen3ForCausalLM"), 4)


def case_2_payload_that_is_not_contiguous() -> dict[str, Any]:
    """See https://github.com/pytorch/pytorch/pull/114982 and https://github.com/pytorch/pytorch/issues/62283."""
    found: dict[str, Any] = {}
    for cls, layers, sizes in (
        (transformers.T5ForConditionalGeneration, [2, 2, 2, 2], {"num_layers": 4, "num_decoder_layers": 4}),
        (transformers.WhisperForConditionalGeneration, [1, 3, 2, 2], {"encoder_layers": 4, "decoder_layers": 4}),
    ):
        config = config_of(4, layers_per_ipu=layers)
        model = to_pipelined(tiny_model(cls, **sizes), config)
        found[cls.__name__] = of_model(model, training_batch(model), config)
    return found


def case_4_a_batch_that_cannot_be_cut() -> tuple[str, str]:
    """See https://github.com/pytorch/pytorch/issues/126600."""
    model, batch = scored("BertForMaskedLM", config_of(2), rows=10)
    plain = scored("BertForMaskedLM", config_of(2))[0]
    with distribute(model, config_of(2), optimizer=torch.optim.SGD, timeout=120) as pipe:
        said = ""
        try:
            pipe.train_step(batch)
        except ValueError as error:
            said = str(error)
        eight = {name: value[:8] for name, value in batch.items()}
        return said, str(exactness(pipe, plain, cut(eight, MICROBATCHES)))


def case_8_a_decoder_that_was_an_encoder() -> bool:
    """See https://github.com/pytorch/PiPPy/issues/799."""
    model = to_pipelined(tiny_model(transformers.BertLMHeadModel, is_decoder=True), config_of(2), force=True)
    return trained(model, training_batch(model), config_of(2)) <= WITHIN


def case_10_masks_in_the_middle() -> dict[str, list[str]]:
    """See https://github.com/NVIDIA/Megatron-LM/issues/752."""
    found: dict[str, Any] = {}
    for name in ("BertForMaskedLM", "LlamaForCausalLM"):
        model, batch = scored(name, config_of(4))
        plain = scored(name, config_of(4))[0]
        with distribute(model, config_of(4), timeout=120) as pipe:
            found[name] = evaluated(pipe, plain, {**batch, "output_hidden_states": True}, [2] * MICROBATCHES)
    return found


def case_11_back_to_the_first() -> tuple[Any, ...]:
    config = config_of(2, layers_per_ipu=[2, 2])
    model, batch = scored("BertForMaskedLM", config)
    flow = flow_of(model.parallelize(), cut(batch, MICROBATCHES)[0])
    stages = Plan.of(flow, 2).ipu_of_stage
    model.deparallelize()
    with distribute(model, config, timeout=120) as pipe:
        return stages, pipe.holders.ipus["bert.embeddings.word_embeddings.weight"], dict(pipe.holders.shared)


def case_13_dropout() -> dict[str, tuple[list[float], dict[str, torch.Tensor]]]:
    """By class: the losses of two steps, of a second run, of another seed, of recomputing; the first step's gradients.

    The gradients are those that this process has.
    """
    found = {}
    for name in DROPPING:
        losses, gradients = _dropping(name, seed=1, steps=2)
        for seed, again in ((1, False), (2, False), (1, True)):
            losses += _dropping(name, seed=seed, again=again)[0]
        found[name] = losses, gradients
    return found


def _dropping(
    name: str, *, seed: int, steps: int = 1, again: bool = False
) -> tuple[list[float], dict[str, torch.Tensor]]:
    model, batch = scored(name, config_of(ipus()))
    config = config_of(ipus(), seed=seed, recompute_checkpoint_every_layer=again)
    with distribute(with_dropout(model).train(), config, timeout=120) as pipe:
        losses = [float(pipe.forward_backward(cut(batch, MICROBATCHES)))]
        gradients = {key: one.grad.clone() for key, one in pipe.parameters().items() if one.grad is not None}
        losses += [float(pipe.forward_backward(cut(batch, MICROBATCHES))) for _ in range(steps - 1)]
    return losses, gradients


def ipus() -> int:
    return int(os.environ["WORLD_SIZE"])


def with_dropout(model: Any) -> Any:
    """The model with a tenth of everything dropped, inside blocks and outside them."""
    for module in model.modules():
        for name in ("dropout", "activation_dropout", "attention_dropout", "p"):
            if isinstance(vars(module).get(name), float):
                setattr(module, name, 0.1)
    return model


def case_15_writing_into_what_layers_return() -> dict[str, str]:
    """Cut before each layer, and before the head."""
    found: dict[str, Any] = {}
    for cut_at in range(LAYERS + 1):
        torch.manual_seed(0)
        parts = ["embed", *(f"layers.{index}" for index in range(LAYERS)), "head"]
        ipus = {name: int(index > cut_at) for index, name in enumerate(parts)}
        model = placed(InPlace(WrittenConfig()), ipus, config_of(2))
        generator = torch.Generator().manual_seed(0)
        batch = {
            "values": torch.randn(8, 5, 3, generator=generator),
            "mask": torch.rand(8, 5, generator=generator) < 0.5,
        }
        found[parts[cut_at]] = str(of_model(model, batch, config_of(2)))
    return found


SERIALIZED: dict[str, dict[str, Any]] = {
    "BertForMaskedLM": {"embedding_serialization_factor": 4, "projection_serialization_factor": 2},
    "MT5ForConditionalGeneration": {
        "serialized_embedding_splits_per_ipu": [2, 2],
        "serialized_projection_splits_per_ipu": [2, 2],
    },
    "WhisperForConditionalGeneration": {"projection_serialization_factor": 2},
}


def case_17_serialized_parts() -> dict[str, str]:
    """What one process does with them, `test_restore.py` says."""
    found: dict[str, Any] = {}
    for name, fields in SERIALIZED.items():
        config = config_of(2, **fields)
        found[name] = str(of_model(*scored(name, config), config))
    return found


def spare_fewer_microbatches_than_stages() -> dict[str, str]:
    """See https://github.com/pytorch/pytorch/issues/171312."""
    found: dict[str, Any] = {}
    for microbatches in (1, 2, 3):
        config = IPUConfig(ipus_per_replica=4, execution=Execution(microbatches=microbatches))
        model, batch = scored("T5ForConditionalGeneration", config, rows=2 * microbatches)
        plain = scored("T5ForConditionalGeneration", config)[0]
        with distribute(model, config, timeout=120) as pipe:
            found[str(microbatches)] = str(exactness(pipe, plain, cut(batch, microbatches)))
    return found


def spare_a_shared_weight_and_zero_bubble() -> str:
    """See https://github.com/pytorch/pytorch/issues/180952."""
    ipus = {"bert.embeddings": 0, **{f"bert.encoder.layer.{index}": index % 2 for index in range(4)}, "cls": 1}
    config = config_of(2, schedule="interleaved-zero-bubble")
    model = placed(tiny_model(transformers.BertForMaskedLM), ipus, config)
    return str(of_model(model, training_batch(model), config))


OVER_TWO: tuple[Callable[[], Any], ...] = (
    case_4_a_batch_that_cannot_be_cut,
    case_8_a_decoder_that_was_an_encoder,
    case_11_back_to_the_first,
    case_13_dropout,
    case_15_writing_into_what_layers_return,
    case_17_serialized_parts,
    spare_a_shared_weight_and_zero_bubble,
)
OVER_FOUR: tuple[Callable[[], Any], ...] = (
    case_1_rotary_positions_over_four,
    case_2_payload_that_is_not_contiguous,
    case_10_masks_in_the_middle,
    case_13_dropout,
    spare_fewer_microbatches_than_stages,
)
