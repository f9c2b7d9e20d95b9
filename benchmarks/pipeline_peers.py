"""What each way to cut a model can do: every cell is a run beside the plain model, in processes of its own."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

import torch
import transformers
from cutters import CUTTERS, MICROBATCHES
from processes import Outcome, run

CLOSE = 1e-5
ROWS, LENGTH, WORDS = 4, 8, 64

_SIZES = {"vocab_size": WORDS, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
_LAYERS = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 4, "num_attention_heads": 4}
_LOUD = {"initializer_range": 0.2}
"""Weights so large that whoever computes something else gets something else."""

MODELS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "BERT": ("BertForMaskedLM", {**_SIZES, **_LAYERS, **_LOUD}),
    "BERT, untied": ("BertForMaskedLM", {**_SIZES, **_LAYERS, **_LOUD, "tie_word_embeddings": False}),
    "GPT-2": ("GPT2LMHeadModel", {**_SIZES, **_LOUD, "n_embd": 32, "n_layer": 4, "n_head": 4}),
    "Llama": ("LlamaForCausalLM", {**_SIZES, **_LAYERS, **_LOUD, "num_key_value_heads": 2}),
    "Llama, tied": (
        "LlamaForCausalLM",
        {**_SIZES, **_LAYERS, **_LOUD, "num_key_value_heads": 2, "tie_word_embeddings": True},
    ),
    "T5": (
        "T5ForConditionalGeneration",
        {
            **_SIZES,
            "eos_token_id": 1,
            "decoder_start_token_id": 0,
            "d_model": 32,
            "d_ff": 64,
            "d_kv": 8,
            "num_layers": 4,
            "num_heads": 4,
            "initializer_factor": 1.0,
            "tie_word_embeddings": False,
        },
    ),
}


class Seen(NamedTuple):
    """What a process found: how far each thing here is from the plain model's, and the names of all that there are."""

    differences: dict[str, float]
    expected: tuple[str, ...]


class Feature(NamedTuple):
    """A row of the table: what is tried, on which model, in how many processes."""

    name: str
    model: str
    processes: int
    try_it: Callable[[Any, Any], Seen]


def run_all() -> dict[tuple[Feature, str], str]:
    """By row and cutter what came of it: `right`, or what was wrong, or the error."""
    found = {}
    for feature in FEATURES:
        with tempfile.TemporaryDirectory() as folder:
            make(feature.model).save_pretrained(folder)
            for cutter in CUTTERS:
                outcomes = run(_cell, feature.processes, feature, cutter, folder, timeout=300)
                found[feature, cutter] = _verdict(outcomes)
                print(f"{feature.name}, {feature.model}, {feature.processes}, {cutter}: {found[feature, cutter]}")
    return found


def table(found: Mapping[tuple[Feature, str], str]) -> str:
    """The page for the docs."""
    lines = [
        "# Ways to cut a transformers model",
        "",
        "Written by `nox -s bench -- pipeline --only peers --write docs/pipelined-peers.md` on",
        f"{date.today().isoformat()}, with torch {torch.__version__.partition('+')[0]}, transformers",
        f"{transformers.__version__}, CPUs and gloo.",
        "",
        "Every cell was run: small models with random weights, four samples, the same batch for everybody, and the",
        f"result compared with the plain model's in one process (within {CLOSE:g}). `pipelined` and torch's tracer",
        f"take {MICROBATCHES} microbatches, transformers' relay has none. The tracer gets a wrapper that returns the",
        "logits alone and, where it cannot trace a padded batch, one without padding. A cut is made once: for a batch",
        "of another shape nobody may make a new one.",
        "",
        f"| what | model | processes | {' | '.join(CUTTERS)} |",
        f"|---|---|---|{'---|' * len(CUTTERS)}",
    ]
    for feature in FEATURES:
        cells = (found[feature, cutter].replace("|", "\\|") for cutter in CUTTERS)
        lines.append(f"| {feature.name} | {feature.model} | {feature.processes} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def wrong(found: Mapping[tuple[Feature, str], str]) -> Iterator[str]:
    """Our own cells that are not right."""
    for (feature, cutter), verdict in found.items():
        if cutter == "pipelined" and verdict != "right":
            yield f"{feature.name}, {feature.model}, {feature.processes} processes: {verdict}"


def make(name: str) -> Any:
    """A small model with random weights, always the same."""
    class_name, fields = MODELS[name]
    cls = getattr(transformers, class_name)
    torch.manual_seed(0)
    return cls(cls.config_class(**fields)).eval()


def _cell(feature: Feature, cutter: str, folder: str) -> Seen:
    plain, model = make(feature.model), make(feature.model)
    return feature.try_it(plain, CUTTERS[cutter](model, folder))


def _batch(model: Any, *, length: int = LENGTH, left: bool = False) -> dict[str, torch.Tensor]:
    """Each row one token shorter than the one before."""
    generator = torch.Generator().manual_seed(length)
    ids = torch.randint(3, WORDS, (ROWS, length), generator=generator)
    mask = (torch.arange(length)[None] < length - torch.arange(ROWS)[:, None]).long()
    mask = mask.flip(1) if left else mask
    more = {"decoder_input_ids": ids.flip(1)} if model.config.is_encoder_decoder else {}
    return {"input_ids": ids * mask, "attention_mask": mask, **more}


def _forward(plain: Any, cut: Any) -> Seen:
    return _logits(plain, cut, _batch(plain))


def _other_shape(plain: Any, cut: Any) -> Seen:
    cut.logits(_batch(plain))
    return _logits(plain, cut, _batch(plain, length=LENGTH + 3))


def _logits(plain: Any, cut: Any, batch: Mapping[str, torch.Tensor]) -> Seen:
    with torch.no_grad():
        expected = plain(**batch).logits
    seen = cut.logits(batch)
    if seen is None:
        return Seen({}, ("logits",))
    real = batch["attention_mask"].bool()
    if "decoder_input_ids" in batch:
        real = torch.ones_like(real)
    return Seen({"logits": _difference(expected[real], seen[real])}, ("logits",))


def _backward(plain: Any, cut: Any) -> Seen:
    batch, labels = _batch(plain), _labels(plain)
    expected = _plain_gradients(plain, batch, labels)
    seen = cut.gradients(batch, labels)
    return Seen(
        {name: _difference(expected[name], one) for name, one in seen.items() if name in expected}, tuple(expected)
    )


def _tied(plain: Any, cut: Any) -> Seen:
    """Two steps: what is tied must be the same in both places after the first."""
    batch, labels = _batch(plain), _labels(plain)
    optimizer = torch.optim.SGD(plain.parameters(), 0.1)
    for _ in range(2):
        _plain_gradients(plain, batch, labels)
        optimizer.step()
        optimizer.zero_grad()
        cut.gradients(batch, labels)
    expected = dict(plain.named_parameters(remove_duplicate=False))
    first = {one: name for name, one in reversed(expected.items())}
    seen = [(name, one) for name, one in cut.weights().items() if name in expected]
    worst: dict[str, float] = {}
    for name, one in seen:
        known = first[expected[name]]
        worst[known] = max(worst.get(known, 0.0), _difference(expected[name].detach(), one))
    return Seen(worst, tuple(first.values()))


def _generation(plain: Any, cut: Any) -> Seen:
    batch = _batch(plain, left=True)
    batch.pop("decoder_input_ids", None)
    options = {"max_new_tokens": 12, "do_sample": False}
    expected = plain.generate(**batch, **options)
    seen = cut.tokens(batch, **options)
    if seen is None:
        return Seen({}, ("tokens",))
    same = expected.shape == seen.shape
    return Seen({"tokens": float((expected != seen).sum()) if same else float("inf")}, ("tokens",))


FEATURES: Sequence[Feature] = (
    *(Feature("padded batch", model, 2, _forward) for model in ("BERT", "GPT-2", "Llama", "T5")),
    *(Feature("a batch of another shape", model, 2, _other_shape) for model in ("BERT", "Llama", "T5")),
    *(Feature("padded batch", model, 4, _forward) for model in ("BERT", "Llama", "T5")),
    *(Feature("gradients", model, 2, _backward) for model in ("BERT, untied", "Llama", "T5")),
    *(Feature("gradients", model, 4, _backward) for model in ("BERT, untied", "Llama", "T5")),
    *(Feature("two steps with tied weights", model, 2, _tied) for model in ("BERT", "GPT-2", "Llama, tied")),
    *(Feature("generation from padded prompts", model, 2, _generation) for model in ("GPT-2", "Llama", "T5")),
    *(Feature("generation from padded prompts", model, 4, _generation) for model in ("Llama", "T5")),
)


def _labels(model: Any) -> torch.Tensor:
    batch = _batch(model)
    return batch.get("decoder_input_ids", batch["input_ids"]).masked_fill(batch["attention_mask"] == 0, -100)


def _plain_gradients(plain: Any, batch: Mapping[str, torch.Tensor], labels: torch.Tensor) -> dict[str, torch.Tensor]:
    """Of the mean of the microbatches' losses."""
    rows = ROWS // MICROBATCHES
    for start in range(0, ROWS, rows):
        part = {name: one[start : start + rows] for name, one in batch.items()}
        (plain(**part, labels=labels[start : start + rows]).loss / MICROBATCHES).backward()
    return {name: one.grad.clone() for name, one in plain.named_parameters() if one.grad is not None}


def _difference(expected: torch.Tensor, seen: torch.Tensor) -> float:
    """The largest one, as a part of the largest of the numbers where these are above 1."""
    if expected.shape != seen.shape:
        return float("inf")
    return float((expected - seen).abs().max() / expected.abs().max().clamp(min=1))


def _verdict(outcomes: Sequence[Outcome]) -> str:
    errors = [outcome.error for outcome in outcomes if outcome.error is not None]
    if errors:
        # Whoever lost the process that failed has less to say.
        told = [error for error in errors if "onnection" not in error and "gloo" not in error]
        return f"error: {(told or errors)[0]}"
    if any(outcome.alive for outcome in outcomes):
        return "no end in five minutes"
    seen = [difference for outcome in outcomes for difference in outcome.value.differences.items()]
    missing = set(outcomes[0].value.expected) - {name for name, _ in seen}
    if missing:
        return f"wrong: {len(missing)} of {len(outcomes[0].value.expected)} are missing"
    worst = max(difference for _, difference in seen)
    return "right" if worst <= CLOSE else f"wrong: off by {worst:.2g}"
