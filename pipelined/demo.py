"""Train a small language model over several processes, and see that it is what one process would have trained.

    torchrun --nproc-per-node 2 -m pipelined.demo

The text is made up here, the model is a GPT-2 of a few layers, and everything fits in a minute on a laptop.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from transformers import AutoModelForCausalLM, GPT2Config, GPT2LMHeadModel
from transformers.utils import logging

from pipelined.config import IPUConfig
from pipelined.distributed import distribute
from pipelined.errors import PipelineError
from pipelined.execution import Execution
from pipelined.microbatches import Batch, split
from pipelined.schedule import schedule_names

MICROBATCHES, ROWS, LENGTH = 4, 16, 48
LETTERS = "_ .abcdefghijklmnopqrstuvwxyz"
WORDS = {
    "adjective": ("red", "small", "old", "happy", "quiet"),
    "noun": ("cat", "dog", "bird", "fish", "horse"),
    "verb": ("sees", "likes", "follows", "hears", "meets"),
}


def main(arguments: list[str] | None = None) -> int:
    """Train here alone, then together, compare, save, and load what was saved with plain transformers."""
    options = _options(arguments)
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    processes = int(os.environ.get("WORLD_SIZE", "1"))
    first = os.environ.get("RANK", "0") == "0"
    say = print if first else _say_nothing
    batches = list(_batches(options.steps))
    say(
        f"a GPT-2 of {options.layers} layers, {options.steps} steps of {ROWS} x {LENGTH} letters, {processes} processes"
    )

    plain = _model(options.layers)
    alone = [_plain_step(plain, step, batch) for step, batch in _with_optimizer(plain, batches)]
    config = IPUConfig(
        ipus_per_replica=processes, execution=Execution(schedule=options.schedule, microbatches=MICROBATCHES)
    )
    with distribute(_model(options.layers), config, optimizer=_optimizer) as pipe:
        together = _train(pipe, batches, say)
        prompt = _encoded("the red cat ")[None]
        written = pipe.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=40, do_sample=False)
        folder = Path(options.output or _new_folder())
        pipe.save_pretrained(folder)

    say(f"loss of the last step: {together[-1]:.7f} over {processes} processes, {alone[-1]:.7f} in one")
    worst = max(abs(one - other) for one, other in zip(alone, together, strict=True))
    say(f"largest difference in any of {len(alone)} steps: {worst:.1e}")
    say(f"it writes: {_decoded(written[0])!r}")
    same = not first or _loads_the_same(folder, plain)
    say(f"saved to {folder}; plain transformers loads it, and it computes the same: {same}")
    return 0 if worst < 1e-4 and same else 1


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m pipelined.demo", description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--steps", type=_positive, default=60, metavar="N", help="steps of training (60)")
    parser.add_argument("--layers", type=_positive, default=4, metavar="N", help="layers of the model (4)")
    parser.add_argument("--schedule", choices=schedule_names(), default="1f1b", help="what runs when (1f1b)")
    parser.add_argument("--output", metavar="DIR", help="where to save the model; else a new temporary folder")
    return parser.parse_args(arguments)


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number >= 1")
    return int(text)


def _model(layers: int) -> Any:
    torch.manual_seed(0)
    sizes = {"n_layer": layers, "n_embd": 64, "n_head": 4, "n_positions": 128, "vocab_size": len(LETTERS)}
    tokens = {"bos_token_id": None, "eos_token_id": None, "pad_token_id": 0}
    return GPT2LMHeadModel(GPT2Config(**sizes, **tokens, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0))


def _batches(steps: int) -> Iterator[Batch]:
    """Batches of sentences such as "the red cat sees the old dog.", the same in every process."""
    choose = random.Random(0)  # noqa: S311 - nobody is to be kept from guessing
    for _ in range(steps):
        rows = [_encoded("".join(_sentence(choose) for _ in range(4))[:LENGTH]) for _ in range(ROWS)]
        ids = torch.stack(rows)
        yield {"input_ids": ids, "labels": ids}


def _sentence(choose: random.Random) -> str:
    subject, thing = (f"the {choose.choice(WORDS['adjective'])} {choose.choice(WORDS['noun'])}" for _ in range(2))
    return f"{subject} {choose.choice(WORDS['verb'])} {thing}. "


def _encoded(text: str) -> torch.Tensor:
    return torch.tensor([LETTERS.index(letter) for letter in text])


def _decoded(ids: torch.Tensor) -> str:
    return "".join(LETTERS[index] for index in ids.tolist())


def _optimizer(parameters: Any) -> torch.optim.Optimizer:
    return torch.optim.AdamW(parameters, lr=3e-3)


def _with_optimizer(model: nn.Module, batches: list[Batch]) -> Iterator[tuple[torch.optim.Optimizer, Batch]]:
    optimizer = _optimizer(model.parameters())
    yield from ((optimizer, batch) for batch in batches)


def _plain_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch: Batch) -> float:
    """One step of one process: the same microbatches one after the other."""
    optimizer.zero_grad()
    losses = [model(**part).loss / MICROBATCHES for part in split(batch, MICROBATCHES)]
    for loss in losses:
        loss.backward()
    optimizer.step()
    return float(torch.stack(losses).sum().detach())


def _train(pipe: Any, batches: list[Batch], say: Any) -> list[float]:
    losses = []
    began = time.perf_counter()
    for number, batch in enumerate(batches, start=1):
        losses.append(float(pipe.train_step(batch).loss))
        speed = number * ROWS * LENGTH / (time.perf_counter() - began)
        end = "\r" if sys.stdout.isatty() and number < len(batches) else "\n"
        if end == "\r" or number % 20 == 0 or number == len(batches):
            say(f"step {number}/{len(batches)}  loss {losses[-1]:.4f}  {speed:,.0f} tokens/s", end=end, flush=True)
    return losses


def _new_folder() -> str:
    """A temporary folder, the same one in every process."""
    named = [tempfile.mkdtemp(prefix="pipelined-demo-") if dist.get_rank() == 0 else ""]
    dist.broadcast_object_list(named)
    return named[0]


def _loads_the_same(folder: Path, plain: Any) -> bool:
    loaded = AutoModelForCausalLM.from_pretrained(folder)
    ids = _encoded("the old dog ")[None]
    with torch.no_grad():
        return bool(torch.allclose(loaded(ids).logits, plain(ids).logits, atol=1e-3))


def _say_nothing(*_: Any, **__: Any) -> None:
    """Only the first process speaks."""


def _in_words() -> int:
    try:
        return main()
    except (PipelineError, OSError) as error:
        sys.stderr.write(f"python -m pipelined.demo: {error}\n")
        return 1


if __name__ == "__main__":
    sys.exit(_in_words())
