"""The generators of random numbers that a script itself draws from, to shuffle data for example: kept and put back.

What blocks draw does not come from them: see `pipelined.randomness`.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch


def generator_states(device: torch.device) -> dict[str, Any]:
    """The states of torch's, of Python's and of numpy's generators, in types that are safe to load."""
    kind, numbers, position, has_gauss, gauss = np.random.get_state()
    return {
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state(device) if device.type == "cuda" else None,
        "python": random.getstate(),
        "numpy": (str(kind), numbers.tolist(), int(position), int(has_gauss), float(gauss)),
    }


def set_generator_states(states: Mapping[str, Any], device: torch.device) -> None:
    """Put them back; that of a GPU only where one was in use, and is."""
    torch.set_rng_state(states["torch"])
    if device.type == "cuda" and states["cuda"] is not None:
        torch.cuda.set_rng_state(states["cuda"], device)
    random.setstate(states["python"])
    kind, numbers, *rest = states["numpy"]
    np.random.set_state((kind, np.asarray(numbers, dtype=np.uint32), *rest))
