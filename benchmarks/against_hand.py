"""Steps of training through a session and through a split written by hand, in turn in one group of two processes."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
import transformers
from hand_split import HandSplit
from torch.distributed.pipelining import schedules

from pipelined import Execution, IPUConfig, PipelineMixin, Placement
from pipelined.distributed import distribute
from pipelined.microbatches import split
from pipelined.profiling import Profiler
from pipelined.spans import Spans

LIMIT_RATIO, LIMIT_GLUE = 1.05, 0.05
ROWS, LENGTH, WARM_UP = 16, 128, 3

SIZES: Mapping[str, int] = {
    "hidden_size": 256,
    "intermediate_size": 1024,
    "num_attention_heads": 4,
    "num_hidden_layers": 8,
    "vocab_size": 1000,
}
MODELS: Mapping[str, tuple[str, Mapping[str, int]]] = {
    "BERT": ("BertForMaskedLM", SIZES),
    "Llama": ("LlamaForCausalLM", {**SIZES, "num_key_value_heads": 4}),
    "Llama, 32000 words": ("LlamaForCausalLM", {**SIZES, "num_key_value_heads": 4, "vocab_size": 32000}),
}


class BertWithHeadLast(PipelineMixin, transformers.BertForMaskedLM):
    """As it is cut by hand: the head on the last process, not back on the first beside its tied weight."""

    placement = Placement(first=("bert.embeddings",), layers=("bert.encoder.layer",), last=("cls",))


class Compared(NamedTuple):
    """By who ran a step: its seconds, this process's seconds of processor time, and the bytes that it sent.

    `difference` is that of the losses without dropout; None where the loss is in the other process.
    """

    wall: dict[str, list[float]]
    processor: dict[str, list[float]]
    sent: dict[str, int]
    difference: float | None


def compare(name: str, schedule: str, microbatches: int, repeats: int) -> Compared:
    """The same model, weights and batch, padded and with dropout where it has any; who begins is drawn by lot."""
    batch = make_batch(MODELS[name][1]["vocab_size"])
    model, config = _model(name, schedule, microbatches)
    hand = HandSplit(model, schedule=schedule, microbatches=microbatches)
    with distribute(_ours(model), config) as pipe:
        sides: dict[str, Callable[[], Any]] = {
            "hand": lambda: hand.step(batch),
            "ours": lambda: pipe.forward_backward(split(batch, microbatches)),
        }
        parameters = [*pipe.parameters().values(), *hand.module.parameters()]
        difference = _difference(sides, [pipe.model, hand.module])
        wall: dict[str, list[float]] = {who: [] for who in sides}
        processor: dict[str, list[float]] = {who: [] for who in sides}
        sent: Counter[str] = Counter()
        lot = random.Random(0)
        for repeat in range(WARM_UP + repeats):
            for who in lot.sample(sorted(sides), 2):
                for parameter in parameters:
                    parameter.grad = None
                with _counting(sent, who):
                    taken = _timed(sides[who])
                if repeat >= WARM_UP:
                    wall[who].append(taken[0])
                    processor[who].append(taken[1])
    return Compared(wall, processor, {who: sent[who] // (WARM_UP + repeats) for who in sides}, difference)


def glue_shares(name: str, microbatches: int, steps: int) -> dict[str, float]:
    """Of this process, processor seconds a step by kind: its own blocks, the code around them, and all the rest."""
    model, config = _model(name, "1f1b", microbatches)
    batch = make_batch(MODELS[name][1]["vocab_size"])
    with distribute(_ours(model), config) as pipe:
        # Processor time of this thread, which computes all: the others on this machine then do not count.
        spans = Spans(time.thread_time)
        with Profiler(spans).recording():
            for _ in range(WARM_UP):
                pipe.forward_backward(split(batch, microbatches))
            spans.seconds.clear()
            for _ in range(steps):
                pipe.forward_backward(split(batch, microbatches))
        return {kind: seconds / steps for kind, seconds in spans.seconds.items()}


def make_batch(words: int) -> dict[str, torch.Tensor]:
    """Rows of unequal length."""
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(5, words, (ROWS, LENGTH), generator=generator)
    mask = (torch.arange(LENGTH)[None] < LENGTH - torch.arange(ROWS)[:, None]).long()
    return {"input_ids": ids * mask, "attention_mask": mask, "labels": ids.masked_fill(mask == 0, -100)}


def _model(name: str, schedule: str, microbatches: int) -> tuple[Any, IPUConfig]:
    class_name, fields = MODELS[name]
    cls = getattr(transformers, class_name)
    torch.manual_seed(0)
    execution = Execution(schedule=schedule, microbatches=microbatches)
    layers = fields["num_hidden_layers"]
    config = IPUConfig(layers_per_ipu=[layers // 2, layers - layers // 2], ipus_per_replica=2, execution=execution)
    return cls(cls.config_class(**fields)).train(), config


def _ours(model: Any) -> Any:
    """On weights of its own: the hand-written split has a copy too."""
    if not isinstance(model, transformers.BertForMaskedLM):
        return model
    made = BertWithHeadLast(model.config)
    made.load_state_dict(model.state_dict())
    return made.train()


def _difference(sides: Mapping[str, Callable[[], Any]], models: list[Any]) -> float | None:
    for model in models:
        model.eval()
    losses = {who: step() for who, step in sides.items()}
    for model in models:
        model.train()
    return None if losses["hand"] is None else abs(float(losses["hand"].detach()) - float(losses["ours"].detach()))


def _timed(step: Callable[[], Any]) -> tuple[float, float]:
    dist.barrier()
    begun, spent = time.perf_counter(), time.process_time()
    step()
    spent = time.process_time() - spent
    dist.barrier()
    return time.perf_counter() - begun, spent


@contextmanager
def _counting(sent: Counter[str], who: str) -> Iterator[None]:
    """Add up what the schedule sends, as it hands it to torch."""
    post = schedules._batch_p2p

    def counting(operations: Any, *args: Any, **kwargs: Any) -> Any:
        for one in operations:
            if one.op is dist.isend:
                sent[who] += one.tensor.numel() * one.tensor.element_size()
        return post(operations, *args, **kwargs)

    schedules._batch_p2p = counting
    try:
        yield
    finally:
        schedules._batch_p2p = post
