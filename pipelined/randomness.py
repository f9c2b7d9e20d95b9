"""Random numbers that do not depend on where a model is cut: each block call draws from a stream of its own."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b

import numpy as np
import torch


@contextmanager
def keyed(*key: int) -> Iterator[None]:
    """Draw from the stream of this key while this lasts; afterwards the generators go on where they were."""
    generators = _generators()
    before = [generator.get_state() for generator in generators]
    python, others = random.getstate(), np.random.get_state()
    try:
        draw_from(*key)
        yield
    finally:
        for generator, state in zip(generators, before, strict=True):
            generator.set_state(state)
        random.setstate(python)
        np.random.set_state(others)


def draw_from(*key: int) -> None:
    """Draw from the stream of this key from now on: torch on every device, numpy, and Python's `random`.

    Equal keys give equal numbers in every process and every placement.
    """
    seed = int.from_bytes(blake2b(repr(key).encode(), digest_size=8).digest())
    for generator in _generators():
        generator.manual_seed(seed)
    # Some models draw their masks with these.
    random.seed(seed)
    np.random.seed(seed % 2**32)


def _generators() -> list[torch.Generator]:
    """Those of the devices that are in use.

    `torch.manual_seed` would also queue a seed for each kind of device that is not, with the stack of the caller: a
    millisecond a call, and memory that is never given back.
    """
    on_gpus = torch.cuda.default_generators if torch.cuda.is_initialized() else ()
    return [torch.default_generator, *on_gpus]
