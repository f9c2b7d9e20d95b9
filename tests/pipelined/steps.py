"""Steps of training over two processes, each beside one process that computes the same; for `test_train_step.py`."""

from __future__ import annotations

import copy
import re
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import peft
import torch
import transformers

from pipelined import PipelineError, to_pipelined
from pipelined.distributed import distribute
from tests.pipelined.batches import Batch, cut, rows_of, training_batch
from tests.pipelined.exactness import (
    MICROBATCHES,
    WITHIN,
    compared,
    config_of,
    difference,
    evaluated,
    exactness,
    forward_backward,
    of_model,
    scored,
)
from tests.pipelined.placed import placed
from tests.pipelined.tiny import tiny_model
from tests.pipelined.written import LAYERS, WIDTH, Normalised, Plain, Skipping, WrittenConfig

SIDES = (
    ("BertForMaskedLM", ("output_attentions",)),
    ("T5ForConditionalGeneration", ("output_attentions", "output_hidden_states")),
    ("MixtralForCausalLM", ("output_router_logits", "output_attentions")),
    ("SwitchTransformersForConditionalGeneration", ("output_router_logits",)),
)


def gradients_add_up() -> str:
    model, batch = scored("BertForMaskedLM", config_of(2))
    plain = copy.deepcopy(model)
    first, second = cut(batch, 2)
    with distribute(model, config_of(2), timeout=120) as pipe:
        for half in (first, second):
            pipe.forward_backward(cut(half, MICROBATCHES))
            forward_backward(plain, cut(half, MICROBATCHES))
        return str(compared(pipe, plain, equal=True))


def normalised_by_items() -> tuple[bool, bool, bool]:
    """Whether the loss and the gradients are those of the whole batch at once, and the mean of means is another."""
    model, batch = scored("LlamaForCausalLM", config_of(2))
    plain = copy.deepcopy(model)
    whole = plain(**batch, use_cache=False).loss
    whole.backward()
    items = int((batch["labels"][:, 1:] != -100).sum())
    with distribute(model, config_of(2), timeout=120) as pipe:
        loss = pipe.forward_backward(cut(batch, MICROBATCHES), num_items_in_batch=items)
        gradients = compared(pipe, plain, equal=True)
        mean = pipe.forward_backward(cut(batch, MICROBATCHES))
        close = abs(float(loss - whole.detach())) <= WITHIN
        return close, str(gradients) == "exact", abs(float(mean - whole.detach())) > 1e-4


def clipped() -> tuple[bool, str]:
    """Whether the norm is the plain model's, whose tied weights torch counts once; and the gradients afterwards."""
    model, batch = scored("BertForPreTraining", config_of(2))
    plain = copy.deepcopy(model)
    with distribute(model, config_of(2), timeout=120) as pipe:
        loss = pipe.forward_backward(cut(batch, MICROBATCHES))
        norm = pipe.clip(0.1)
        expected = forward_backward(plain, cut(batch, MICROBATCHES))
        wanted = torch.nn.utils.clip_grad_norm_(plain.parameters(), 0.1)
        return abs(float(norm - wanted)) <= WITHIN, str(compared(pipe, plain, equal=bool(loss == expected)))


FROZEN: dict[str, Callable[[str], bool]] = {
    "the first layers": lambda name: name.startswith(("bert.encoder.layer.2", "bert.encoder.layer.3", "cls.")),
    "all but the head": lambda name: name.startswith("cls."),
    "all but biases": lambda name: name.endswith("bias"),
    "the last layers": lambda name: name.startswith(("bert.embeddings", "bert.encoder.layer.0")),
}


def frozen() -> dict[str, str]:
    found = {}
    for what, trains in FROZEN.items():
        model, batch = scored("BertForMaskedLM", config_of(2))
        for name, parameter in model.named_parameters():
            parameter.requires_grad_(trains(name))
        found[what] = str(of_model(model, batch, config_of(2)))
    return found


def thawed() -> list[str]:
    """What trains changes between steps on batches alike; and what is said where it changes in one process alone."""
    model, batch = scored("BertForMaskedLM", config_of(2))
    plain = copy.deepcopy(model)
    found = []
    with distribute(model, config_of(2), timeout=120) as pipe:
        for what in ("all but the head", "the first layers", "the last layers"):
            for name, parameter in (*pipe.model.named_parameters(), *plain.named_parameters()):
                parameter.requires_grad_(FROZEN[what](name))
                parameter.grad = None
            found.append(str(exactness(pipe, plain, cut(batch, MICROBATCHES))))
        if pipe.ranks.ipu == 0:
            pipe.model.requires_grad_(True)
        found.append(refusal(lambda: pipe.forward_backward(cut(batch, MICROBATCHES))))
    return found


def optimizer_of_what_trains() -> tuple[list[int], bool]:
    """The first process has nothing that trains, and the optimizer's state goes to a checkpoint and comes back."""
    model, batch = scored("BertForMaskedLM", config_of(2))
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(name.startswith("bert.encoder.layer.3"))

    def make(own: list[torch.nn.Parameter]) -> torch.optim.Optimizer:
        return torch.optim.AdamW([one for one in own if one.requires_grad])

    with tempfile.TemporaryDirectory() as own, distribute(model, config_of(2), optimizer=make, timeout=120) as pipe:
        folder = [own]
        torch.distributed.broadcast_object_list(folder)
        pipe.train_step(batch)
        pipe.save_checkpoint(folder[0])
        first = pipe.train_step(batch).loss
        pipe.load_checkpoint(folder[0])
        again = pipe.train_step(batch).loss
        assert pipe.optimizer is not None
        sizes = [one.numel() for group in pipe.optimizer.param_groups for one in group["params"]]
        torch.distributed.barrier()
    return sizes[:1] if sizes == [0] else [len(sizes)], bool(first == again)


def configured_anew() -> list[str]:
    """What differs in an evaluation once the configuration asks for more, on a batch that was evaluated before."""
    model, batch = scored("BertForMaskedLM", config_of(2))
    plain = copy.deepcopy(model.eval())
    with distribute(model, config_of(2), timeout=120) as pipe:
        pipe.evaluate(rows_of(batch, 0, 2))
        pipe.model.config.output_hidden_states = plain.config.output_hidden_states = True
        return evaluated(pipe, plain, rows_of(batch, 0, 6), (2, 2, 2))


def unusable() -> dict[str, str]:
    """What is said of batches that no step can be made of, before anything is sent; the last one is good."""
    model, batch = scored("BertForMaskedLM", config_of(2))
    given: dict[str, Any] = {
        "nothing": None,
        "no samples": {name: value[:0] for name, value in batch.items()},
        "no labels": {name: value for name, value in batch.items() if name != "labels"},
        "too long": {name: value.repeat(1, 9) for name, value in batch.items()},
    }
    with distribute(model, config_of(2), optimizer=torch.optim.SGD, timeout=120) as pipe:
        found = {what: refusal(partial(pipe.train_step, bad)) for what, bad in given.items()}
        found["no microbatches"] = refusal(lambda: pipe.forward_backward([]))
        found["outside"] = refusal(lambda: pipe.model(**batch))
        found["good"] = refusal(lambda: pipe.train_step(batch))
    found["closed"] = refusal(lambda: pipe.train_step(batch))
    return found


def refusal(act: Callable[[], Any]) -> str:
    try:
        act()
    except Exception as error:  # noqa: BLE001 - what it is, is what is tested
        return f"{type(error).__name__}: {error}"
    return ""


def adapters() -> dict[str, str]:
    found = {}
    for cls, targets in (
        (transformers.LlamaForCausalLM, ["q_proj", "v_proj"]),
        (transformers.BertForSequenceClassification, ["query", "value"]),
    ):
        torch.manual_seed(0)
        lora = peft.LoraConfig(r=4, target_modules=targets, init_lora_weights=False)
        model = to_pipelined(peft.get_peft_model(tiny_model(cls), lora), config_of(2), force=True)
        found[cls.__name__] = str(of_model(model, training_batch(model.get_base_model()), config_of(2)))
    return found


def half_precision() -> dict[str, str]:
    """Weights of bfloat16, and operations that autocast chooses."""
    found = {}
    for name in ("BertForMaskedLM", "T5ForConditionalGeneration", "LlamaForCausalLM"):
        model, batch = scored(name, config_of(2))
        weights = of_model(model.to(torch.bfloat16), batch, config_of(2))
        # A shared parameter's gradient is rounded once more, to eight bits.
        found[f"{name}, weights"] = str(replace(weights, gradient=weights.gradient * 2**-10))
        model, batch = scored(name, config_of(2))
        with torch.autocast("cpu", torch.bfloat16):
            found[f"{name}, autocast"] = str(of_model(model, batch, config_of(2)))
    return found


def recomputed() -> tuple[str, dict[str, int]]:
    """That it is exact, and how often each layer that is here computed its feed-forward part for one microbatch."""
    config = config_of(2, recompute_checkpoint_every_layer=True)
    model, batch = scored("BertForMaskedLM", config)
    plain = copy.deepcopy(model)
    counts = {f"bert.encoder.layer.{index}": 0 for index in range(4)}

    def count(name: str) -> Callable[..., None]:
        def hook(*_: Any) -> None:
            counts[name] += 1

        return hook

    with distribute(model.train(), config, timeout=120) as pipe:
        drop_nothing(pipe.model)
        for name in counts:
            pipe.model.get_submodule(f"{name}.intermediate").register_forward_hook(count(name))
        found = str(exactness(pipe, plain, cut(batch, MICROBATCHES)))
    return found, {name: times // MICROBATCHES for name, times in counts.items() if times >= MICROBATCHES}


def recomputed_by_transformers() -> str:
    """Its own checkpointing is around the blocks."""
    model, batch = scored("BertForMaskedLM", config_of(2))
    model.gradient_checkpointing_enable()
    plain = copy.deepcopy(model)
    with distribute(model.train(), config_of(2), timeout=120) as pipe:
        drop_nothing(pipe.model, plain)
        return str(exactness(pipe, plain.train(), cut(batch, MICROBATCHES)))


def batch_normalisation() -> tuple[str, dict[str, float]]:
    """That it is exact, and how far each statistic that belongs to this process is from the plain model's."""
    torch.manual_seed(0)
    ipus = {**{f"layers.{index}": index // 2 for index in range(LAYERS)}, "head": 1}
    model = placed(Normalised(WrittenConfig()), ipus, config_of(2)).train()
    plain = copy.deepcopy(model)
    batch = {"values": torch.randn(8, 3, 6, 6)}
    with distribute(model, config_of(2), example=cut(batch, MICROBATCHES)[0], timeout=120) as pipe:
        found = str(exactness(pipe, plain, cut(batch, MICROBATCHES)))
        wanted = dict(plain.named_buffers())
        own = [name for name, ipu in ipus.items() if ipu == pipe.ranks.ipu]
        buffers = {name: one for name, one in pipe.model.named_buffers() if name.startswith(tuple(own))}
        return found, {name: difference(one, wanted[name]) for name, one in buffers.items()}


def changing_lengths() -> list[str]:
    """Longer and shorter batches in turn, and microbatches of two lengths in one step."""
    model, batch = scored("LlamaForCausalLM", config_of(2))
    plain = copy.deepcopy(model)
    found = []
    with distribute(model, config_of(2), timeout=120) as pipe:
        for lengths in ((12,) * 4, (7,) * 4, (12,) * 4, (12, 7, 7, 9)):
            parts = [shorter(one, length) for one, length in zip(cut(batch, 4), lengths, strict=True)]
            for parameter in (*pipe.parameters().values(), *plain.parameters()):
                parameter.grad = None
            found.append(str(exactness(pipe, plain, parts)))
    return found


def shorter(batch: Batch, length: int) -> Batch:
    return {name: value[:, :length] for name, value in batch.items()}


def training_and_evaluation_in_turn() -> tuple[float, list[str]]:
    """How far parameters are from the plain model's in the end, and what of the evaluations differed."""
    model, batch = scored("GPT2ForSequenceClassification", config_of(2))
    plain = copy.deepcopy(model)
    reference = torch.optim.SGD(plain.parameters(), lr=0.1)
    different = []
    with distribute(model, config_of(2), optimizer=lambda own: torch.optim.SGD(own, lr=0.1), timeout=120) as pipe:
        for _ in range(2):
            pipe.model.train()
            drop_nothing(pipe.model)
            pipe.train_step(batch)
            reference.zero_grad()
            forward_backward(plain, cut(batch, MICROBATCHES))
            reference.step()
            pipe.model.eval()
            different += evaluated(pipe, plain, rows_of(batch, 0, 6), (2, 2, 2))
        wanted = dict(plain.named_parameters())
        worst = max(difference(one.detach(), wanted[name].detach()) for name, one in pipe.parameters().items())
    return worst, different


def drop_nothing(*models: Any) -> None:
    for module in (module for model in models for module in model.modules()):
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0


def side_outputs() -> dict[str, tuple[str, list[str]]]:
    """How training with what layers hand out by their sides compares, and which places of the output differ."""
    found = {}
    for name, asked in SIDES:
        model, batch = scored(name, config_of(2))
        model.set_attn_implementation("eager")
        plain = copy.deepcopy(model)
        flags = dict.fromkeys(asked, True)
        microbatches = [{**one, **flags} for one in cut(batch, MICROBATCHES)]
        with distribute(model, config_of(2), timeout=120) as pipe:
            trained = str(exactness(pipe, plain, microbatches))
            found[name] = trained, evaluated(pipe, plain.eval(), {**batch, **flags}, [2] * MICROBATCHES)
    return found


def refused() -> set[str]:
    """What is named to whoever asks for something that cannot be carried."""
    model, batch = scored("T5ForConditionalGeneration", config_of(2))
    with distribute(model, config_of(2), timeout=120) as pipe:
        try:
            pipe.evaluate({**batch, "use_cache": True})
        except PipelineError as error:
            return set(re.findall(r"the output has (\w+(?: cache)?)", str(error)))
    return set()


def a_module_of_torch_alone() -> str:
    torch.manual_seed(0)
    model = placed(Plain(), {f"layers.{index}": index // 2 for index in range(LAYERS)}, config_of(2))
    return str(of_model(model, {"values": torch.randn(8, WIDTH)}, config_of(2)))


def decided_by_inputs() -> list[str]:
    """Batches of the same shapes, in which the inputs say what flows where."""
    torch.manual_seed(0)
    model = placed(Skipping(), {f"layers.{index}": index // 2 for index in range(LAYERS)}, config_of(2))
    plain, found = copy.deepcopy(model), []
    values, flags = torch.randn(8, WIDTH), (torch.zeros(8), torch.ones(8), torch.arange(8) // 4, torch.zeros(8))
    with distribute(model, config_of(2), example={"values": values, "flags": flags[0]}, timeout=120) as pipe:
        for one in flags:
            found.append(str(exactness(pipe, plain, cut({"values": values, "flags": one}, MICROBATCHES))))
            for parameter in (*pipe.parameters().values(), *plain.parameters()):
                parameter.grad = None
    return found


STEPS: tuple[Callable[[], Any], ...] = (
    gradients_add_up,
    normalised_by_items,
    clipped,
    frozen,
    thawed,
    optimizer_of_what_trains,
    configured_anew,
    unusable,
    adapters,
    half_precision,
    recomputed,
    recomputed_by_transformers,
    batch_normalisation,
    changing_lengths,
    training_and_evaluation_in_turn,
    side_outputs,
    refused,
    a_module_of_torch_alone,
    decided_by_inputs,
)
