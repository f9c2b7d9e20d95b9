"""Save a model as transformers does, each process what belongs to it, so that the plain class loads it."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch.distributed as dist
from safetensors.torch import save_file

from pipelined.errors import PipelineError
from pipelined.folders import UNFINISHED, begun, flush
from pipelined.guards import as_original
from pipelined.hub import quietly
from pipelined.layerdrop import layerdrop_as_set
from pipelined.ownership import Ownership
from pipelined.registry import without_peft
from pipelined.weights import INDEX, SINGLE


@dataclass(frozen=True)
class Shard:
    """A file that a process has written: its name in the unfinished folder, its tensors, and their size in bytes."""

    file: str
    names: tuple[str, ...]
    size: int


def save_pretrained(part: Ownership, folder: str | Path, *, max_shard_size: int | str = "50GB") -> None:
    """Write weights and configurations into a folder, which is made if it is not there; every process calls it.

    Each process writes what belongs to it, in files of at most `max_shard_size`; of a PEFT model process 0 writes the
    adapters, as PEFT does. Other files of the folder stay. Until the last file is there the folder loads as before;
    what a process that dies leaves behind, the next save deletes. PipelineError where the model cannot be written so.
    """
    root = Path(folder)
    with part.all_or_none():
        if dist.get_rank() == 0:
            root.mkdir(parents=True, exist_ok=True)
            begun(root)
    unfinished = root / UNFINISHED
    state = _adapters(part) if hasattr(part.model, "peft_config") else {}
    with part.all_or_none():
        shards = [] if hasattr(part.model, "peft_config") else _write(part, unfinished, max_shard_size)
        if dist.get_rank() == 0:
            base: Any = without_peft(part.model)
            with quietly(), as_original(base), layerdrop_as_set(part.model):
                # Without tensors transformers writes the configurations alone.
                part.model.save_pretrained(unfinished, state_dict=state)
            base.ipu_config.save_pretrained(unfinished)
    told = part.told_first(shards)
    with part.all_or_none():
        if dist.get_rank() == 0:
            _publish(unfinished, root, [shard for one in told for shard in one], part.model)


def _adapters(part: Ownership) -> dict[str, Any]:
    """The tensors that PEFT saves, gathered in process 0."""
    from peft import get_peft_model_state_dict

    wanted: list[str] = []
    with part.all_or_none():
        if dist.get_rank() == 0:
            # Which they are, PEFT says by what it takes from a state dict.
            marks = {key: value.detach() for key, value in part.model.state_dict().items()}
            taken = [
                get_peft_model_state_dict(part.model, state_dict=dict(marks), adapter_name=name)
                for name in part.model.peft_config
            ]
            chosen = {id(value) for one in taken for value in one.values()}
            wanted = [key for key, mark in marks.items() if id(mark) in chosen]
    return part.gathered(part.first_says(wanted))


def _write(part: Ownership, folder: Path, max_shard_size: int | str) -> list[Shard]:
    """Write what belongs to this process, under the names that the original class has in its files."""
    from huggingface_hub import split_torch_state_dict_into_shards
    from transformers.core_model_loading import revert_weight_conversion
    from transformers.modeling_utils import remove_tied_weights_from_state_dict

    model = part.model
    ignored = set(model._keys_to_ignore_on_save or ())
    state = {key: value for key, value in part.own().items() if key not in ignored}
    with as_original(model):
        state = revert_weight_conversion(model, remove_tied_weights_from_state_dict(state, model))
    pattern = f"{part.ranks.ipu}{{suffix}}.safetensors"
    split = split_torch_state_dict_into_shards(state, filename_pattern=pattern, max_shard_size=max_shard_size)
    shards = []
    for file, names in split.filename_to_tensors.items():
        tensors = {name: state[name].detach().cpu().contiguous() for name in names}
        save_file(tensors, folder / file, metadata={"format": "pt"})
        flush(folder / file)
        shards.append(Shard(file, tuple(names), sum(one.numel() * one.element_size() for one in tensors.values())))
    return shards


def _publish(unfinished: Path, root: Path, shards: Sequence[Shard], model: Any) -> None:
    """Bring files to their places, in an order in which the folder loads at any time."""
    stale = [path for path in root.iterdir() if path.name in (SINGLE, INDEX) or _is_shard(path.name)]
    kept = {SINGLE} if len(shards) == 1 else {INDEX}
    if len(shards) == 1:
        _move(unfinished / shards[0].file, root / SINGLE)
    elif shards:
        names = _names(len(shards), stale)
        kept |= set(names)
        for shard, name in zip(shards, names, strict=True):
            _move(unfinished / shard.file, root / name)
        flush(root)
        (unfinished / INDEX).write_text(_index(shards, names, model), encoding="utf-8")
        _move(unfinished / INDEX, root / INDEX)
    flush(root)
    if shards:
        for path in stale:
            if path.name not in kept:
                path.unlink()
    for path in sorted(unfinished.rglob("*"), key=lambda one: (one.suffix != ".safetensors", one)):
        final = root / path.relative_to(unfinished)
        # PEFT makes a page about the adapter, which must not take the place of one that somebody wrote.
        if path.is_file() and not (path.name == "README.md" and final.exists()):
            final.parent.mkdir(exist_ok=True)
            _move(path, final)
    flush(root)
    shutil.rmtree(unfinished)


def _names(count: int, stale: Sequence[Path]) -> list[str]:
    """The usual names, but never that of a file which an index still speaks of."""
    there = {path.name for path in stale}
    usual = [f"model-{number:05d}-of-{count:05d}.safetensors" for number in range(1, count + 1)]
    if there.isdisjoint(usual):
        return usual
    mark = secrets.token_hex(4)
    return [name.replace("model-", f"model-{mark}-") for name in usual]


def _is_shard(name: str) -> bool:
    return name.startswith("model-") and name.endswith(".safetensors") and "-of-" in name


def _index(shards: Sequence[Shard], files: Sequence[str], model: Any) -> str:
    weight_map: dict[str, str] = {}
    for shard, file in zip(shards, files, strict=True):
        if twice := weight_map.keys() & set(shard.names):
            raise PipelineError(
                f"{min(twice)} is made of parameters that lie on several IPUs",
                hint="place on one IPU what the files of the original class hold as one tensor",
            )
        weight_map.update(dict.fromkeys(shard.names, file))
    metadata: Mapping[str, int] = {
        "total_parameters": model.num_parameters(),
        "total_size": sum(shard.size for shard in shards),
    }
    return json.dumps({"metadata": metadata, "weight_map": weight_map}, indent=2, sort_keys=True) + "\n"


def _move(source: Path, final: Path) -> None:
    flush(source)
    os.replace(source, final)
