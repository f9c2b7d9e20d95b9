"""Peak memory of the processes of a pipeline, from loading to trained, beside one process with the whole model.

Two steps are trained: the first one writes to all parameters, which till then may still be pages of the file.
Each has done the same with a small model before, so that what the libraries take for themselves is in neither; and the
allocator gives back at once what is freed, so that what it would keep for later is in neither.
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
import transformers

from pipelined import Execution, IPUConfig
from pipelined.distributed import distribute
from pipelined.microbatches import split

LIMIT = 1.05
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # malloc.h of glibc
MICROBATCHES, STEPS = 4, 2
MODEL = transformers.BertForSequenceClassification
_SMALL = {"hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 4, "num_hidden_layers": 4}
_LARGE = {"hidden_size": 768, "intermediate_size": 3072, "num_attention_heads": 12, "num_hidden_layers": 12}


class Peak(NamedTuple):
    """Bytes: how far the resident set grew, and what the parameters here take, and those that others hold too."""

    grown: int
    parameters: int
    shared: int

    def allowed(self, whole: Peak) -> int:
        """The parameters here and their gradients, and as much beside them as the process with the whole model has."""
        return 2 * self.parameters + whole.grown - 2 * whole.parameters


def save(folder: str) -> None:
    """Write two BERTs with random weights, as a hub would have them."""
    for name, fields in (("small", _SMALL), ("large", _LARGE)):
        torch.manual_seed(0)
        config = transformers.BertConfig(**fields)
        MODEL(config).save_pretrained(Path(folder, name))


def peak_of_all(folder: str) -> Peak:
    """One process trains the whole model, microbatch by microbatch."""

    def train(name: str) -> tuple[int, int]:
        model = MODEL.from_pretrained(Path(folder, name)).train()
        optimizer = torch.optim.SGD(model.parameters(), 0.01)
        for _ in range(STEPS):
            optimizer.zero_grad()
            for batch in split(_batch(), MICROBATCHES):
                (model(**batch).loss / MICROBATCHES).backward()
            optimizer.step()
        return _size(model.parameters()), 0

    return _peak(train)


def peak_of_rank(folder: str) -> Peak:
    """This process's part of the same, loaded from the same folder."""
    ipus = dist.get_world_size()

    def train(name: str) -> tuple[int, int]:
        execution = Execution(microbatches=MICROBATCHES)
        config = IPUConfig(layers_per_ipu=[-1] * ipus, ipus_per_replica=ipus, execution=execution)
        given = Path(folder, name)
        with distribute(given, config, model_class=MODEL, optimizer=torch.optim.SGD) as pipe:
            pipe.model.train()
            for _ in range(STEPS):
                pipe.train_step(_batch())
            held = pipe.parameters()
            shared = {name for names in pipe.holders.shared.values() for name in names}
            return _size(held.values()), _size(one for name, one in held.items() if name in shared)

    return _peak(train)


def _peak(train: Callable[[str], tuple[int, int]]) -> Peak:
    libc = ctypes.CDLL(None)
    for option in (_M_MMAP_THRESHOLD, _M_TRIM_THRESHOLD):
        if not libc.mallopt(option, 65536):
            raise RuntimeError("this needs the allocator of glibc")
    train("small")
    gc.collect()
    # From here on the highest mark is a new one.
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before = _resident("VmRSS")
    parameters, shared = train("large")
    return Peak(_resident("VmHWM") - before, parameters, shared)


def _batch() -> dict[str, torch.Tensor]:
    return {
        "input_ids": torch.full((MICROBATCHES, 16), 7),
        "labels": torch.zeros(MICROBATCHES, dtype=torch.long),
    }


def _size(parameters: Any) -> int:
    return sum(parameter.numel() * parameter.element_size() for parameter in parameters)


def _resident(field: str) -> int:
    """A line of this process's status, in bytes."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))
