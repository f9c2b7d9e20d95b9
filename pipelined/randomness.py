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
    """Draw from the stream of this key: torch on every device, numpy, and Python's `random`.

    Equal keys give equal numbers in every process and every placement. Afterwards the generators go on where they were.
    """
    seed = int.from_bytes(blake2b(repr(key).encode(), digest_size=8).digest())
    devices = range(torch.cuda.device_count()) if torch.cuda.is_initialized() else ()
    with torch.random.fork_rng(devices=devices):
        python, others = random.getstate(), np.random.get_state()
        torch.manual_seed(seed)
        # Some models draw their masks with these.
        random.seed(seed)
        np.random.seed(seed % 2**32)
        try:
            yield
        finally:
            random.setstate(python)
            np.random.set_state(others)
