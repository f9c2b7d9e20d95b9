"""The tensors in the safetensors files of a folder, or of a repository of the Hugging Face hub: named, not yet read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open

from pipelined.errors import PipelineError
from pipelined.hub import located

SINGLE, INDEX = "model.safetensors", "model.safetensors.index.json"
CHUNK = 2**22
"""How many numbers of each of two tensors are compared at once."""


@dataclass(frozen=True)
class Unread:
    """A tensor of a file that is read once it is moved to a device, and never on the way to the meta device.

    It does as much of a tensor as transformers asks of one while it loads. With `empty` it goes nowhere but there.
    """

    stored: Any
    empty: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.stored.get_shape())

    def __getitem__(self, index: Any) -> Unread:
        return self

    def to(self, device: Any = None, dtype: torch.dtype | None = None) -> torch.Tensor:
        """The tensor on the device, or one of its shape on the meta device."""
        if self.empty or str(device) == "meta":
            return torch.empty(self.shape, dtype=dtype, device="meta")
        read: torch.Tensor = self.stored[...]
        return read.to(device=device, dtype=dtype)

    def equals(self, other: Unread) -> bool:
        """Whether both hold the same, found out a part at a time."""
        if self.shape != other.shape:
            return False
        rows = max(1, CHUNK // max(1, torch.Size(self.shape[1:]).numel())) if self.shape else 1
        starts = range(0, self.shape[0], rows) if self.shape else (...,)
        parts = (slice(one, min(one + rows, self.shape[0])) if isinstance(one, int) else one for one in starts)
        return all(torch.equal(self.stored[part], other.stored[part]) for part in parts)


def unread(source: str | Path, *, revision: str | None = None) -> dict[str, Unread]:
    """By name the tensors of a folder or repository; PipelineError where it has no safetensors, or damaged ones."""
    found: dict[str, Unread] = {}
    for file, names in _files(source, revision):
        try:
            # Not mapped into memory: pages of the file would stand beside what is read from them, and keep it open.
            opened = safe_open(file, framework="pt", backend="pread")
            there = set(opened.keys())
            missing = sorted(set(names if names is not None else there) - there)
            if missing:
                raise PipelineError(f"{file} lacks {missing[0]}, which the index of {source} says is in it")
            found |= {name: Unread(opened.get_slice(name)) for name in (there if names is None else names)}
        except PipelineError:
            raise
        except Exception as error:  # safetensors raises errors of its own, and those of the system
            raise PipelineError(f"{file} is damaged: {error}", hint="save or download it again") from error
    return found


def _files(source: str | Path, revision: str | None) -> Iterator[tuple[Path, list[str] | None]]:
    """The files, and the names that each is to hold; None where there is one, which holds what it holds."""
    single = located(source, SINGLE, revision=revision)
    if single is not None:
        yield single, None
        return
    index = located(source, INDEX, revision=revision)
    if index is None:
        raise PipelineError(
            f"{source} holds no {SINGLE} and no {INDEX}",
            hint="load the model with transformers, and save it with save_pretrained",
        )
    by_file: dict[str, list[str]] = {}
    for name, file in _weight_map(index).items():
        by_file.setdefault(file, []).append(name)
    for file, names in sorted(by_file.items()):
        path = located(source, file, revision=revision)
        if path is None:
            raise PipelineError(f"{source} lacks {file}, which its index names", hint="save or download it again")
        yield path, names


def _weight_map(index: Path) -> Mapping[str, str]:
    """By name of a tensor the file that it is in, which stands beside the index."""
    try:
        found = json.loads(index.read_text(encoding="utf-8"))["weight_map"]
        if all(isinstance(file, str) and Path(file).name == file for file in found.values()):
            return dict(found)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise PipelineError(f"{index} is damaged: {error!r}", hint="save or download it again") from error
    raise PipelineError(f"{index} names files that are not beside it")
