"""Weights that were saved before, taken over by a model that is spread already: each process reads what it holds."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import torch

from pipelined.guards import original_class
from pipelined.loading import Pretrained
from pipelined.ownership import Ownership
from pipelined.registry import without_peft


def load_weights(part: Ownership, folder: str | Path) -> None:
    """Take over what `save_pretrained` wrote, of a PEFT model the adapters; every process calls it.

    PipelineError in all of them, and nothing changed, where the files do not fit the model.
    """
    with part.all_or_none():
        if hasattr(part.model, "peft_config"):
            _load_adapters(part.model, Path(folder))
            return
        fresh = _read(part, folder)
        with torch.no_grad():
            for name, value in part.model.state_dict().items():
                if not value.is_meta:
                    value.copy_(fresh[name])


def _read(part: Ownership, folder: str | Path) -> dict[str, Any]:
    """The state dict of the folder's model, on the meta device where this process does not hold what it says."""
    source = Pretrained(folder, model_class=original_class(type(without_peft(part.model))))
    model = source.skeleton(seed=0)
    source.fill(model, part.holders, part.ranks.ipu, part.ranks.device)
    state: dict[str, Any] = model.state_dict()
    return state


def _load_adapters(model: Any, folder: Path) -> None:
    from peft import load_peft_weights, set_peft_model_state_dict

    for name in model.peft_config:
        source = folder / name if (folder / name).is_dir() else folder
        adapter = load_peft_weights(str(source), device="cpu")
        with warnings.catch_warnings():
            # Those that another process holds.
            warnings.filterwarnings("ignore", message=".*copying from a non-meta parameter.*")
            set_peft_model_state_dict(model, adapter, adapter_name=name)
